"""Which repetition of a record a stored line is, read without the rest of the record.

Its own module because comparisons and reports both look at every record, and at little of each.
"""

import msgspec

__all__ = ["ToldProvenance"]


class _ToldRun(msgspec.Struct, gc=False):
    trial: int = 0


class ToldProvenance(msgspec.Struct, gc=False):
    """The part of a record's provenance that tells its trial."""

    run: _ToldRun | None = None

    @property
    def trial(self) -> int | None:
        """Counted from 0; None where nothing is told."""
        return self.run.trial if self.run is not None else None
