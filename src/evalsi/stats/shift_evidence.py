"""Evidence that a mean has moved beyond a threshold, which may be looked at after every value for ever.

Its own module because an alarm is a test that never ends: a test of fixed size, asked again and again, rings sooner or
later whatever is true, and one that looks at everything since the beginning takes longest when it matters most. What
always holds: as long as every value's expectation, given those before it, is on the good side of the threshold, the
evidence ever reaches 1 / alpha with chance at most alpha; and a move is found in a time that grows with the logarithm of
how long all was well.
"""

from math import inf, log

import msgspec
import numpy as np
import numpy.typing as npt

from evalsi.stats.sample import FloatArray, checked_values

STRIDE = 50
"""Values between the starts of two gamblers."""
_MOST = 24
"""Gamblers that are kept. Dropping one can only lower the evidence."""
_BOLDEST = 0.75
"""Largest share of a gambler's capital that one value may take. Source: as `confidence_sequence`."""


class ShiftEvidence(msgspec.Struct, frozen=True, array_like=True):
    """A value: `update` returns the evidence with more values; it can be stored. Start with `ShiftEvidence()`.

    Gamblers start one after the other, every `STRIDE` values, the k-th with a share 1 / ((k + 1)(k + 2)) of one unit of
    capital; the shares add up to 1. Each bets on the gain of a value, which is how far it lies beyond the threshold on the
    bad side, with the share of its capital that would have grown fastest on the values since its own start. When all
    was well no game is in anybody's favour, so the capital of all together exceeds 1 / alpha with chance at most alpha.

    Source: Shin, Ramdas & Rinaldo (2023), New England Journal of Statistics in Data Science 2:229-260 (gamblers that
    start at every time); Ville (1939); bets as in Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society
    B 86:1-27, appendix B.3 (aGRAPA).
    """

    n: int = 0
    starts: tuple[int, ...] = ()
    """Number of each gambler that is left, from 0."""
    log_capital: tuple[float, ...] = ()
    """Without its share."""
    gains: tuple[float, ...] = ()
    """Sum of the gains since its start."""
    squares: tuple[float, ...] = ()
    """Sum of the squared gains since its start."""
    log_largest: float = -inf
    """The largest evidence so far, as a natural logarithm."""

    def update(self, gains: npt.ArrayLike, room: float) -> "ShiftEvidence":
        """The evidence after more values, in the order they came.

        Args:
            gains: shape (batch,): for "the mean is below b" `b - value`, for "above a" `value - a`.
            room: The largest loss, `-gain`, that a value can bring; above 0, and the same at every call.
        Raises: ValueError: NaN, infinity, or a gain below `-room`.
        """
        array = checked_values(gains)
        if not room > 0.0 or (array.size and float(array.min()) < -room * (1 + 1e-9)):
            raise ValueError(f"a gain is at least -{room!r}, not {float(array.min()) if array.size else room!r}")
        now = _Table(self)
        largest = self.log_largest
        for place, gain in enumerate(array.tolist()):
            if (self.n + place) % STRIDE == 0:
                now.start((self.n + place) // STRIDE)
            now.bet(gain, room)
            largest = max(largest, now.log_evidence())
        return ShiftEvidence(
            n=self.n + array.size,
            starts=tuple(int(start) for start in now.starts),
            log_capital=tuple(now.log_capital.tolist()),
            gains=tuple(now.gains.tolist()),
            squares=tuple(now.squares.tolist()),
            log_largest=largest,
        )

    def reaches(self, alpha: float) -> bool:
        """Whether the evidence has ever reached 1 / alpha."""
        return self.log_largest >= -log(alpha)


class _Table:
    """The gamblers, while values are gone through."""

    def __init__(self, evidence: ShiftEvidence) -> None:
        self.starts: npt.NDArray[np.int64] = np.asarray(evidence.starts, dtype=np.int64)
        self.log_capital: FloatArray = np.asarray(evidence.log_capital, dtype=np.float64)
        self.gains: FloatArray = np.asarray(evidence.gains, dtype=np.float64)
        self.squares: FloatArray = np.asarray(evidence.squares, dtype=np.float64)
        self._seen = np.maximum(0.0, evidence.n - self.starts * STRIDE).astype(np.float64)
        self._shares = self._log_shares()

    def start(self, number: int) -> None:
        if self.starts.size >= _MOST:
            poorest = int(np.argmin(self.log_capital + self._shares))
            self._keep(np.arange(self.starts.size) != poorest)
        self.starts = np.append(self.starts, number)
        self.log_capital, self.gains, self.squares, self._seen = (
            np.append(each, 0.0) for each in (self.log_capital, self.gains, self.squares, self._seen)
        )
        self._shares = self._log_shares()

    def bet(self, gain: float, room: float) -> None:
        # One imagined value without gain, of half the room's spread, keeps the first bets small.
        seen = self._seen + 1.0
        mean = self.gains / seen
        second = (self.squares + room * room / 4.0) / seen
        bets = np.clip(mean / second, 0.0, _BOLDEST / room)
        self.log_capital = self.log_capital + np.log1p(bets * max(gain, -room))
        self.gains = self.gains + gain
        self.squares = self.squares + gain * gain
        self._seen = seen

    def log_evidence(self) -> float:
        terms = self.log_capital + self._shares
        top = float(terms.max())
        return top + log(float(np.exp(terms - top).sum()))

    def _keep(self, chosen: npt.NDArray[np.bool_]) -> None:
        self.starts = self.starts[chosen]
        self.log_capital, self.gains, self.squares, self._seen = (
            each[chosen] for each in (self.log_capital, self.gains, self.squares, self._seen)
        )

    def _log_shares(self) -> FloatArray:
        return -np.log((self.starts + 1.0) * (self.starts + 2.0))
