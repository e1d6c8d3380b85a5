"""The runs that a specification names to be compared with: found before anybody is asked, read once the run has ended.

What always holds: a run is never its own baseline, and money is not spent on a comparison with a run that is not there.
"""

from pathlib import Path

from evalsi.core.errors import EvalsiError, InvalidSpecError, NotFoundError
from evalsi.core.run_reference import RunIdentity, none_labelled, resolve_run
from evalsi.ports.run_store import RunStore
from evalsi.results.graded_run import GradedRun, stored_run
from evalsi.results.read_document import read_document
from evalsi.run.gates.baseline import BaselineReference, baseline_reference
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.schema import RunSpec


def names_a_baseline(spec: RunSpec) -> bool:
    return bool(spec.baseline) or any(gate.baseline for gate in spec.gates)


class RunBaselines:
    """The runs that gates name. The latest is the latest that had finished before this run began: a run is never its own
    baseline.
    """

    def __init__(self, store: RunStore, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._finished = [row for row in store.runs() if row.status == "succeeded"]
        self._identities = [RunIdentity(row.id, row.name, row.created_at) for row in self._finished]

    def open(self, reference: str) -> GradedRun:
        """Raises: EvalsiError: there is none, or it cannot be read."""
        named = baseline_reference(reference)
        return read_document(self._folder / named.path) if named.path else stored_run(self._store, self._id_of(named))

    def refuse_missing(self, document: RunDocument) -> None:
        """Raises: InvalidSpecError: a file or a run that is named is not there. What is to be the latest may come to be, with
        this very run as the first.
        """
        places = {"spec.baseline": document.spec.baseline}
        places |= {f"spec.gates[{number}].baseline": gate.baseline for number, gate in enumerate(document.spec.gates)}
        for place, reference in places.items():
            named = baseline_reference(reference) if reference else None
            if named is None or named.run.startswith("latest"):
                continue
            try:
                if not named.path:
                    self._id_of(named)
                elif not (self._folder / named.path).is_file():
                    raise NotFoundError(f"there is no file {str(self._folder / named.path)!r}")
            except EvalsiError as error:
                raise InvalidSpecError(
                    f"{place}: the baseline {reference!r} cannot be read: {error.message}",
                    where=document.where(place),
                    hint=error.hint or "name a run, a results file, latest or latest(label=value)",
                ) from error

    def _id_of(self, named: BaselineReference) -> str:
        if not named.labels:
            return resolve_run(named.run, self._identities)
        found = next((row.id for row in self._finished if named.labels.items() <= row.labels.items()), None)
        if found is None:
            raise none_labelled(named.labels, "finished run")
        return found
