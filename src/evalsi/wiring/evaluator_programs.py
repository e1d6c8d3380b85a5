"""The programs that grade, made known to the catalog of this process.

Its own module because every process that finds evaluators begins with it: the command line, a server, its workers; and
every call from Python does, which may be one of many. What always holds: while the file of plugins says the same, its
programs are the same and go on running.
"""

import atexit
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from evalsi.evaluators.catalog import know_programs
from evalsi.settings import Settings

if TYPE_CHECKING:
    from evalsi.infra.evaluator_program import ProgramPlan

_GIVEN = ("PATH", "HOME", "LANG", "TMPDIR")
_KNOWN: "list[ProgramPlan]" = []
"""What was made known last. Like the catalog's programs a fact about the process."""
_ONE_AT_A_TIME = Lock()


def know_evaluator_programs(settings: Settings) -> None:
    """Reads the file of plugins, where the settings name one; no program is started before an evaluator of it is named.

    Raises: NotFoundError, InvalidSpecError: as `read_evaluator_programs`.
    """
    if settings.plugins is None:
        return
    from evalsi.infra.evaluator_program import ProgramPlan, ProgramProcess
    from evalsi.settings.evaluator_programs import read_evaluator_programs

    plans = [
        ProgramPlan(
            name=name,
            command=program.command,
            environment={
                each: settings.environment[each]
                for each in (*_GIVEN, *program.environment)
                if each in settings.environment
            },
            folder=Path(program.folder),
            start_timeout_s=program.start_timeout_s,
            batch=program.batch,
        )
        for name, program in read_evaluator_programs(settings.plugins).items()
    ]
    with _ONE_AT_A_TIME:
        if plans == _KNOWN:
            return
        programs = [ProgramProcess(plan) for plan in plans]
        know_programs(programs)
        _KNOWN[:] = plans
    for program in programs:
        # Those known before go on until then too: another thread may have them grade.
        atexit.register(program.close)
