"""`python -m evalsi.worker <kind> …`: one module for each kind of worker, imported only when it is wanted."""

import signal
import sys
from importlib import import_module

KINDS = {
    "grading": "evalsi.worker.grading",
    "rewards": "evalsi.worker.rewards",
    "runs": "evalsi.worker.runs",
    "watch": "evalsi.worker.watch",
    "tied": "evalsi.worker.tied",
}
"""Kind -> the module whose `main(arguments)` serves it."""


def main() -> int:
    kind, *arguments = sys.argv[1:]
    if kind != "tied":
        # Ctrl-C on a terminal reaches everybody, also while modules are loaded; who started this one ends it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    if settings.plugins is not None and kind != "tied":
        from evalsi.wiring.evaluator_programs import know_evaluator_programs

        know_evaluator_programs(settings)
    if settings.trace_endpoint and kind != "tied":
        from evalsi.wiring.own_traces import trace_own_work

        trace_own_work(settings, kind)
    status: int = import_module(KINDS[kind]).main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
