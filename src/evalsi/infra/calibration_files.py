"""Calibrations of judges as files beside the store: one per evaluator, the newest."""

from pathlib import Path

import msgspec

from evalsi.core.errors import StoreError
from evalsi.judges.calibration import CalibrationRecord


class CalibrationFiles:
    """The calibrations in a folder. Writing replaces the evaluator's older one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, record: CalibrationRecord) -> None:
        """Raises: StoreError: the folder cannot be written."""
        path = self._path(record.evaluator)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1))
            unfinished.replace(path)
        except OSError as error:
            raise StoreError(f"the calibration cannot be written: {error.strerror}", where=str(path)) from error

    def find(self, evaluator: str) -> CalibrationRecord | None:
        """The newest calibration of the evaluator that reports as `evaluator`; None without one that can be read."""
        try:
            return msgspec.json.decode(self._path(evaluator).read_bytes(), type=CalibrationRecord)
        except (OSError, msgspec.MsgspecError):
            return None

    def _path(self, evaluator: str) -> Path:
        safe = "".join(mark if mark.isalnum() or mark in "-." else "_" for mark in evaluator)
        return self._folder / f"{safe}.json"
