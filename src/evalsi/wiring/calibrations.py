"""Calibrations of judges, kept beside the store: one per evaluator, the newest. Runs whose gates rest on a judge ask for it.

Its own module because one command writes them and another reads them, and both must agree on the name and the form.
"""

from collections.abc import Sequence

import msgspec

from evalsi.core.errors import StoreError
from evalsi.engine.panel import Panel
from evalsi.infra.named_files import NamedFiles
from evalsi.judges.calibration_record import CalibrationRecord, evaluator_identity, gate_warnings
from evalsi.schema import Gate, RunManifest
from evalsi.settings import Settings


def keep_calibration(record: CalibrationRecord, settings: Settings) -> None:
    """Keeps the newest calibration of an evaluator."""
    content = msgspec.json.format(msgspec.json.encode(record), indent=1)
    NamedFiles(settings.directory / "calibrations").write(record.evaluator, content)


def kept_calibration(evaluator: str, settings: Settings) -> CalibrationRecord | None:
    """The newest calibration of the evaluator of that name; None where there is none.

    Raises: StoreError: the file cannot be read.
    """
    content = NamedFiles(settings.directory / "calibrations").read(evaluator)
    try:
        return None if content is None else msgspec.json.decode(content, type=CalibrationRecord)
    except msgspec.DecodeError as error:
        raise StoreError(f"the calibration of {evaluator} cannot be read: {error}") from error


def calibration_warnings(gates: Sequence[Gate], panel: Panel, manifest: RunManifest, settings: Settings) -> list[str]:
    """What speaks against the gates that rest on a judge, for the run's warnings. Gates written in CEL are not looked into."""
    gated = {gate.metric.partition(".")[0] for gate in gates if gate.metric}
    judged = {each.name for each in panel.evaluators if "judge" in each.definition.requires}
    judges = [judge.settings_sha256 for judge in manifest.judges]
    found: list[str] = []
    for evaluator in manifest.evaluators:
        if evaluator.name not in gated & judged:
            continue
        record = kept_calibration(evaluator.name, settings)
        used = record.judge_fingerprint if record is not None and record.judge_fingerprint in judges else judges[0]
        found += gate_warnings(
            record,
            evaluator=evaluator.name,
            evaluator_fingerprint=evaluator_identity(evaluator),
            judge_fingerprint=used,
        )
    return found
