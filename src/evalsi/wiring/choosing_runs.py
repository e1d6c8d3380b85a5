"""The runs that an analysis is about, of a store or server and of files, opened one after the other."""

from collections.abc import Iterator

from evalsi.analyze.choose_runs import ChosenRun, RunChoice, choose_runs, results_files
from evalsi.client.server_address import ServerAddress
from evalsi.results.read_document import read_document
from evalsi.settings import Settings
from evalsi.wiring.run_libraries import run_library


def chosen_runs(choice: RunChoice, settings: Settings, server: ServerAddress | None = None) -> Iterator[ChosenRun]:
    """The runs of a choice, opened one after the other: those of the store or server oldest first, then the files.

    Raises: NotFoundError: a run or file is not there, as soon as it is its turn.
    """
    files = results_files(choice.results)
    if choice.asks_store:
        with run_library(settings, server) as library:
            for row in choose_runs(library, choice):
                yield ChosenRun(row, library.open(row.id))
    for path in files:
        yield ChosenRun(None, read_document(path))
