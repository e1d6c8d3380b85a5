"""The judge that a specification means where it does not spell it out: one by provider and model, or its only one.

Its own module because it is done where a specification is read and where one is sent to a server, and must come to the
same. A judge that is named otherwise stays a name, which the command or the server may know.
"""

import msgspec

from evalsi.run.spec.check_judges import PROVIDERS
from evalsi.schema import JudgeSpec, RunSpec

HOW_TO_NAME = (
    "write judge: PROVIDER/MODEL, e.g. judge: anthropic/NAME; or, with an address and limits, "
    "judges: {house: {provider: openai-compatible, base_url: http://127.0.0.1:8000/v1, model: NAME}}"
)
"""What to write under `spec`."""


def with_own_judge(spec: RunSpec) -> RunSpec:
    """`judge: provider/model` becomes one of `judges`, and a single one of those is `judge`."""
    if not spec.judge:
        return msgspec.structs.replace(spec, judge=next(iter(spec.judges))) if len(spec.judges) == 1 else spec
    provider, _, model = spec.judge.partition("/")
    if spec.judge in spec.judges or not model or provider not in PROVIDERS:
        return spec
    made = JudgeSpec(provider=provider, model=model)
    return msgspec.structs.replace(spec, judges={**spec.judges, spec.judge: made})
