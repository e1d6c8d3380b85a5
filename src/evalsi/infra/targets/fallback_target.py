"""Several targets in turn: when the first keeps failing, the next is asked, and every answer says who gave it.

Only failures of the infrastructure count; a bad answer is what is to be measured. A target that was left is not asked
again within a run: answers that change hands back and forth could not be told apart in a summary.
"""

from typing import Any

import msgspec

from evalsi.core.errors import ProviderError
from evalsi.ports.target import Answer, Target, TargetTask

DEFAULT_FAILURES = 5


class FallbackTarget:
    """Implements `ports.target.Target` on a list of targets.

    Args:
        targets: At least one; in the order in which they are asked.
        failures: How many failures in a row, at the current one, make it be left.
    """

    def __init__(self, targets: list[Target], *, failures: int = DEFAULT_FAILURES) -> None:
        self._targets = targets
        self._failures = failures
        self._current = 0
        self._in_a_row = 0

    @property
    def identity(self) -> dict[str, Any]:
        """The first one's, with the others under `fallbacks`."""
        first, *others = self._targets
        return {**first.identity, "fallbacks": [target.identity for target in others], "fallback_after": self._failures}

    @property
    def capabilities(self) -> frozenset[str]:
        """What all of them can do."""
        first, *others = (target.capabilities for target in self._targets)
        return first.intersection(*others)

    @property
    def needs(self) -> frozenset[str]:
        """The first one's: the others are asked when it fails, not when a record lacks something."""
        return self._targets[0].needs

    async def check(self) -> str:
        """Whether anybody can be asked. Raises: ProviderError: nobody; what the first one said."""
        notes: list[str] = []
        first: ProviderError | None = None
        for target in self._targets:
            try:
                said = await target.check()
            except ProviderError as error:
                first = first or error
                notes.append(str(error))
                continue
            return "; ".join(filter(None, [*notes, said]))
        assert first is not None
        raise first

    async def answer(self, task: TargetTask) -> Answer:
        """See `ports.target.Target.answer`. A task that makes its target be left is asked of the next one."""
        while True:
            asked = self._current
            try:
                answer = await self._targets[asked].answer(task)
            except ProviderError:
                if asked == self._current:
                    self._in_a_row += 1
                    if self._in_a_row >= self._failures and asked + 1 < len(self._targets):
                        self._current, self._in_a_row = asked + 1, 0
                if asked == self._current:
                    raise
                continue
            if asked == self._current:
                self._in_a_row = 0
            if asked == 0:
                return answer
            note = f"answered by fallback {asked}, because the target kept failing"
            return msgspec.structs.replace(answer, notes=(*answer.notes, note))

    async def close(self) -> None:
        """Closes all of them."""
        for target in self._targets:
            await target.close()
