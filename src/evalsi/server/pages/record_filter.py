"""The filters of a run's record table, as the address of a page says them.

Its own module because the table, the observation opened from it and its neighbours must mean the same records.
"""

import msgspec

from evalsi.schema import ListRunResultsRequest, Outcome
from evalsi.server.pages.visit import Query

ROWS = 30
OUTCOMES = {str(outcome): outcome for outcome in Outcome if outcome is not Outcome.UNSPECIFIED}
FIELDS = ("evaluator", "outcome", "min", "max", "search", "order", "flipped", "trial", "page_token")


def records_request(run_id: str, query: Query, evaluators: list[str]) -> ListRunResultsRequest:
    """What the address asks for. Raises: UsageError: a bound is no number.

    Args:
        evaluators: Of the run; the first is meant where an order or a bound names none.
    """
    evaluator = query.get("evaluator")
    order = query.get("order")
    lowest, highest = query.number("min"), query.number("max")
    needs_one = order in ("score", "-score") or lowest is not None or highest is not None
    if needs_one and not evaluator and evaluators:
        evaluator = evaluators[0]
    return ListRunResultsRequest(
        run_id=run_id,
        page_size=ROWS,
        page_token=query.get("page_token"),
        evaluator=evaluator,
        outcome=OUTCOMES.get(query.get("outcome"), Outcome.UNSPECIFIED),
        min_score=lowest,
        max_score=highest,
        search=query.get("search"),
        order_by=order,
        flipped_against=query.get("flipped"),
        trial=query.whole("trial") if query.get("trial") else None,
    )


def without_records(request: ListRunResultsRequest) -> ListRunResultsRequest:
    return msgspec.structs.replace(request, without_records=True)
