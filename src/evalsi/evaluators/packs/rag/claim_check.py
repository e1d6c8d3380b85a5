"""Splitting a text into claims and judging each against the passages, in one question or in two.

Its own module because faithfulness (claims of the output) and context recall (claims of the reference) are the same
check of different texts. What always holds: the score is supported claims over claims, and no claims is no score.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import EvalContext, Record, Score
from evalsi.evaluators.judging.interview import Interview
from evalsi.evaluators.judging.question import Question, QuestionForms, require_text
from evalsi.judges.replies.claims import CLAIMS_FORM, claim_verdicts_form, read_claim_verdicts, read_claims
from evalsi.judges.replies.json_form import FlagField, JsonForm, ListField, TextField
from evalsi.judges.replies.own_words import unreadable
from evalsi.ports.chat_model import ChatReply

Subject: TypeAlias = Literal["output", "reference"]

NOTHING_TO_CHECK = "nothing to check: the {subject} makes no claim"
_MOST_CLAIMS = 200
_LABELS = ("supported", "unsupported")
JUDGED_CLAIMS_FORM = JsonForm(
    (ListField("claims", (TextField("claim", about="one self-contained statement"), FlagField("supported"))),)
)
VERDICTS_FORM = claim_verdicts_form(_LABELS)
_NAMES: dict[Subject, str] = {"output": "output", "reference": "reference answer"}

_WHAT_IS_A_CLAIM = """\
A claim is one statement of fact that stands by itself: names in place of pronouns, and what the input supplies where the \
{subject} only says yes or no. Questions, greetings, offers, opinions and statements about what is not known are no claims. \
Leave none out, add none, and keep them in the language of the {subject}. A {subject} that states nothing has no claims."""
_WHAT_IS_SUPPORTED = """\
A claim is supported when the passages state it or it follows from what they state. It is not supported when they contradict \
it, say nothing about it, or say it of something else; whether it is true in the world does not count."""
ONE_STEP = f"""\
You check the statements of {{article}} {{subject}} against numbered passages. First list its claims, then say of each whether the \
passages support it.

{_WHAT_IS_A_CLAIM}

{_WHAT_IS_SUPPORTED}"""
EXTRACTION = f"""\
You list the claims that {{article}} {{subject}} makes, so that they can be checked one by one.

{_WHAT_IS_A_CLAIM}"""
VERIFICATION = f"""\
You check numbered claims against numbered passages.

{_WHAT_IS_SUPPORTED}

Judge each claim by itself."""


class CheckedClaim(NamedTuple):
    """A claim in the judge's words. `reason` is "" when both were asked for in one question."""

    claim: str
    supported: bool
    reason: str = ""


class ClaimCheckParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How claims are checked."""

    two_step: bool = False
    """Lists the claims in one question and judges them in a second, with a reason for each: slower and dearer, and the
    claims cannot be cut to fit the passages because they are listed without them."""


class ClaimCheck:
    """The questions of one evaluator about the claims of a record's output or reference."""

    def __init__(self, name: str, subject: Subject, params: ClaimCheckParams, context: EvalContext) -> None:
        self._name = name
        self._subject: Subject = subject
        self._two_step = params.two_step
        self._context = context
        words = {"subject": _NAMES[subject], "article": "an" if subject == "output" else "a"}
        self._one_step = QuestionForms(
            Question(
                name=name,
                version="1",
                system=ONE_STEP.format(**words),
                shows=("context", subject),
                may_show=("input",),
                closing=JUDGED_CLAIMS_FORM.instructions,
                response_schema=JUDGED_CLAIMS_FORM.schema,
            )
        )
        self._extraction = QuestionForms(
            Question(
                name=f"{name}-claims",
                version="1",
                system=EXTRACTION.format(**words),
                shows=(subject,),
                may_show=("input",),
                closing=CLAIMS_FORM.instructions,
                response_schema=CLAIMS_FORM.schema,
            )
        )
        self._verification = QuestionForms(
            Question(
                name=f"{name}-verdicts",
                version="1",
                system=VERIFICATION,
                shows=("context",),
                closing="The claims, numbered:\n{{ claims }}\n\n" + VERDICTS_FORM.instructions,
                response_schema=VERDICTS_FORM.schema,
            )
        )
        self.prompt_digests = (
            self._extraction.digests | self._verification.digests if params.two_step else self._one_step.digests
        )

    async def score(self, record: Record) -> Score:
        """Supported claims over claims.

        Raises: SkipRecord: there is nothing to check.
        """
        nothing = NOTHING_TO_CHECK.format(subject=self._subject)
        require_text(record, "context")
        interview = Interview(self._context)
        try:
            require_text(record, self._subject)
        except SkipRecord as skip:
            raise SkipRecord(f"nothing to check: {skip}") from skip
        claims = await (self._check_in_two(record, interview) if self._two_step else self._check(record, interview))
        if not claims:
            raise SkipRecord(nothing)
        supported = sum(each.supported for each in claims)
        return interview.score(
            self._name,
            supported / len(claims),
            explain_claims(claims),
            metadata={"claims": [{"claim": each.claim, "supported": each.supported} for each in claims]},
        )

    async def _check(self, record: Record, interview: Interview) -> list[CheckedClaim]:
        asked = self._one_step.render(record)
        return (await interview.ask(asked.prompt, lambda reply: read_judged_claims(reply, asked.material))).value

    async def _check_in_two(self, record: Record, interview: Interview) -> list[CheckedClaim]:
        listed = await interview.ask(self._extraction.render(record).prompt, read_claims)
        claims = [" ".join(claim.split()) for claim in listed.value]
        if not claims:
            return []
        numbered = "\n".join(f"{number}. {claim}" for number, claim in enumerate(claims, 1))
        asked = self._verification.render(record, {"claims": numbered})
        verdicts = await interview.ask(
            asked.prompt, lambda reply: read_claim_verdicts(reply, len(claims), _LABELS, material=asked.material)
        )
        return [
            CheckedClaim(claim, verdict.label == "supported", verdict.reason)
            for claim, verdict in zip(claims, verdicts.value, strict=True)
        ]


def read_judged_claims(reply: ChatReply, material: list[str]) -> list[CheckedClaim]:
    """The claims with their verdicts, blank ones and repetitions left out.

    Raises: ReplyError: no such list, one claim both supported and not, or more than 200 (a runaway reply).
    """
    found: dict[str, CheckedClaim] = {}
    for row in JUDGED_CLAIMS_FORM.read(reply, material=material)["claims"]:
        claim = " ".join(row["claim"].split())
        if claim and found.setdefault(claim, CheckedClaim(claim, row["supported"])).supported != row["supported"]:
            raise unreadable(reply, "one verdict on each claim", why=f"the judge gave two verdicts on {claim[:80]!r}")
    if len(found) > _MOST_CLAIMS:
        raise unreadable(reply, f"at most {_MOST_CLAIMS} claims", why=f"the judge listed {len(found)} claims")
    return list(found.values())


def explain_claims(claims: list[CheckedClaim]) -> str:
    """How many are supported, and which are not."""
    missing = [each for each in claims if not each.supported]
    count = f"{len(claims) - len(missing)} of {len(claims)} claims supported"
    if not missing:
        return f"{count}."
    lines = [f"- {each.claim}" + (f" ({each.reason})" if each.reason else "") for each in missing]
    return "\n".join([f"{count}. Not supported:", *lines])
