"""The policies of all projects, ready to be used, kept up to date with the store.

Its own module because every step of the work needs them, and loading evaluators is dear. What always holds: a policy that
cannot be used just now (its judge has no key) is used by nobody, and loses nothing: what it should evaluate waits in line.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evalsi.core.errors import EvalsiError
from evalsi.ports.policy_store import DaySpent, PolicyStore
from evalsi.ports.spent import Spent
from evalsi.schema import OnlineEvalPolicy
from evalsi.watch.cascade import ReadyPolicy
from evalsi.watch.fold import DURATION, WatchFolding, tally_of
from evalsi.watch.policy import ANY_NAMES, CheckedPolicy, KnownNames, checked_policy
from evalsi.watch.sampling import FEWEST_FOR_SLOW, SLOW, SLOW_QUANTILE, Surroundings
from evalsi.watch.tally import Tally

logger = logging.getLogger(__name__)

SLOW_LOOKS_BACK_MS = 3_600_000
_REFRESH_S = 5.0


@dataclass(frozen=True, kw_only=True)
class ArmedPolicy:
    """A policy with what it works with."""

    ready: ReadyPolicy
    spent: Callable[[], DaySpent] = lambda: DaySpent(0.0, 0, 0)
    """What its judges have used since they were made; it only grows."""
    news: Callable[[], Spent] = lambda: Spent(project="", role="judge")
    """What they have used since this was last asked."""

    @property
    def checked(self) -> CheckedPolicy:
        return self.ready.checked


@dataclass
class _Entry:
    checked: CheckedPolicy
    armed: ArmedPolicy | None
    slow_ms: float | None = None
    versions: dict[str, int] = field(default_factory=dict[str, int])
    looked_s: float = -1e9


class PolicyBook:
    """Args:
    arm: Loads a policy's evaluators. Raises EvalsiError: it cannot be used.
    known: What there is on this machine that policies may name.
    """

    def __init__(
        self, store: PolicyStore, arm: Callable[[CheckedPolicy], ArmedPolicy], known: KnownNames = ANY_NAMES
    ) -> None:
        self._store = store
        self._arm = arm
        self._known = known
        self._generation = -1
        self._entries: dict[str, dict[str, _Entry]] = {}
        self._names: frozenset[tuple[str, str]] = frozenset()
        """Project and name of each policy, usable or not."""

    def refresh(self) -> None:
        """Takes up what was applied or deleted since. Raises: StoreError."""
        generation = self._store.generation()
        if generation == self._generation:
            return
        entries: dict[str, dict[str, _Entry]] = {}
        policies = self._store.policies()
        for policy in policies:
            known = self._entries.get(policy.project, {}).get(policy.name)
            unchanged = known is not None and known.checked.policy == policy
            entry = known if unchanged else self._entry(policy)
            if entry is not None:
                entries.setdefault(policy.project, {})[policy.name] = entry
        self._names = frozenset((policy.project, policy.name) for policy in policies)
        self._entries, self._generation = entries, generation

    def policies(self, project: str) -> Sequence[CheckedPolicy]:
        """Those of a project that are not disabled, by name."""
        return [
            entry.checked
            for _, entry in sorted(self._entries.get(project, {}).items())
            if not entry.checked.policy.disabled
        ]

    def armed(self, project: str, name: str) -> ArmedPolicy | None:
        """A policy that can be used; None when it is gone, disabled or cannot be used just now."""
        entry = self._entries.get(project, {}).get(name)
        return None if entry is None or entry.checked.policy.disabled else entry.armed

    def has(self, project: str, name: str) -> bool:
        """Whether there is such a policy, usable or not."""
        return (project, name) in self._names

    def folding(self, project: str) -> WatchFolding:
        checked = {name: entry.checked for name, entry in self._entries.get(project, {}).items()}
        return WatchFolding(project, checked)

    def surroundings(self, project: str, name: str, version: str, *, now_s: float, now_ms: int) -> Surroundings:
        """What a draw of the policy needs to know of other traces, as of a few seconds ago; counts this one."""
        entry = self._entries[project][name]
        rules = entry.checked.draw.rules
        if not rules:
            return Surroundings()
        if now_s - entry.looked_s > _REFRESH_S:
            entry.looked_s = now_s
            entry.versions = dict(self._store.groups(project, name, "version"))
            entry.slow_ms = self._slow_ms(project, name, now_ms) if SLOW in rules else None
        seen = entry.versions.get(version, 0)
        entry.versions[version] = seen + 1
        return Surroundings(slow_ms=entry.slow_ms, seen_of_version=seen)

    def _slow_ms(self, project: str, name: str, now_ms: int) -> float | None:
        durations = Tally()
        for bucket in self._store.buckets(project, name, since_ms=now_ms - SLOW_LOOKS_BACK_MS, until_ms=now_ms + 1):
            if bucket.key.metric == DURATION:
                durations.plus(tally_of(bucket.body))
        return durations.quantile(SLOW_QUANTILE) if durations.n >= FEWEST_FOR_SLOW else None

    def _entry(self, policy: OnlineEvalPolicy) -> _Entry | None:
        try:
            checked = checked_policy(policy, self._known)
        except EvalsiError as error:
            # It was right when it was applied: an evaluator that it names is no longer installed.
            logger.warning("policy %s of project %s cannot be used: %s", policy.name, policy.project, error)
            return None
        armed = None
        if not policy.disabled:
            try:
                armed = self._arm(checked)
            except EvalsiError as error:
                logger.warning("policy %s of project %s waits: %s", policy.name, policy.project, error)
        return _Entry(checked, armed)
