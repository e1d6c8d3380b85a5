"""The scores of a run that has ended are handed to the outbox of sinks, by the worker that carried it out.

Its own module because it stands between two stores: a run is told as ended only once its scores wait for their sinks, and
whoever goes on for a worker that was killed in between hands over what is left.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice

from evalsi.infra.store.open_stores import open_policy_store
from evalsi.infra.store.score_outbox import SqlScoreOutbox
from evalsi.ports.run_store import RunStore
from evalsi.ports.score_outbox import ScoreOutbox
from evalsi.ports.score_sink import OutgoingScores
from evalsi.results.graded_run import stored_run
from evalsi.run.scores_for_sinks import scores_of_run

logger = logging.getLogger(__name__)

AT_ONCE = 500


def hand_over_scores(address: str, store: RunStore, project: str, run_id: str, sinks: Sequence[str]) -> None:
    """Puts the scores of a run in line for these sinks. Raises: StoreError: what is missing is put next time.

    Args:
        address: Of the database of runs, beside which the outbox is.
    """
    if not sinks:
        return
    with closing(open_policy_store(address).database) as database:
        put = put_all(SqlScoreOutbox(database), scores_of_run(stored_run(store, run_id), project), sinks)
    logger.info("%d deliveries of run %s wait for %s", put, run_id, ", ".join(sinks))


def put_all(outbox: ScoreOutbox, scores: Iterable[OutgoingScores], sinks: Sequence[str]) -> int:
    """Puts all of them, some at a time; how many there are."""
    place = 0
    rest = iter(scores)
    while some := list(islice(rest, AT_ONCE)):
        outbox.put_scores(some, sinks, place=place, now_ms=int(time.time() * 1000))
        place += len(some)
    return place
