"""The command line's root: commands are named here and imported only when one is called.

Every error of the tree becomes one sentence on standard error and its exit status; a traceback is a bug of ours, and
says so.
"""

import importlib
import os
import re
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import click

from evalsi.cli.terminal import open_standard_streams, say, write_plainly
from evalsi.core.version import __version__

if TYPE_CHECKING:
    from evalsi.core.errors import EvalsiError

COMMANDS: dict[str, tuple[str, str]] = {
    "eval": ("evalsi.cli.eval:evaluate", "Grade outputs that exist."),
    "run": ("evalsi.cli.run:run", "Ask a target, grade its answers, decide the gates."),
    "rescore": ("evalsi.cli.rescore:rescore", "Grade a run's answers with other evaluators."),
    "compare": ("evalsi.cli.compare:compare", "Compare two runs, record by record."),
    "matrix": ("evalsi.cli.matrix:matrix", "Compare several runs on the records they share."),
    "analyze": ("evalsi.cli.analyze:analyze", "Ask many runs in SQL, or slice a metric by metadata."),
    "report": ("evalsi.cli.report:report", "Write an HTML or Markdown report of a run."),
    "runs": ("evalsi.cli.runs:runs", "List, show, follow, stop, continue and repeat runs."),
    "delete-run": ("evalsi.cli.run_by_id:delete_run", "Remove a run from a server."),
    "archive-run": ("evalsi.cli.run_by_id:archive_run", "Put a run of a server away."),
    "promote": ("evalsi.cli.promote:promote", "Turn records of a server's run into cases there."),
    "dataset": ("evalsi.cli.dataset:dataset", "Keep datasets on a server."),
    "traces": ("evalsi.cli.traces:traces", "Find, show, follow, export, import and remove traces of live traffic."),
    "failures": ("evalsi.cli.failures:failures", "Turn traces that went wrong into cases of a dataset."),
    "inbox": ("evalsi.cli.inbox:inbox", "The same as failures, under other names."),
    "policy": ("evalsi.cli.policy:policy", "Evaluate live traffic by policies."),
    "mappings": ("evalsi.cli.mappings:mappings", "Check a mapping of spans and see what it reads."),
    "catalog": ("evalsi.cli.catalog:catalog", "List evaluators, or show one."),
    "judge": ("evalsi.cli.judge:judge", "Check a judge against people's labels."),
    "login": ("evalsi.cli.login:login", "Keep an API key for a server."),
    "logout": ("evalsi.cli.login:logout", "Forget the API key that is kept for a server."),
    "whoami": ("evalsi.cli.login:whoami", "Show who a server takes you for."),
    "auth": ("evalsi.cli.auth:auth", "Manage keys, roles, projects and the audit log of a server."),
    "credentials": ("evalsi.cli.credentials:credentials", "Show which keys of a server runs may use."),
    "sandbox": ("evalsi.cli.sandbox:sandbox", "Run programs nobody trusts, behind the strongest fence there is here."),
    "rewards": (
        "evalsi.cli.rewards:rewards",
        "Score rollouts with a reward spec, serve that to trainers, and diagnose rewards.",
    ),
    "init": ("evalsi.cli.init:init", "Write a small working example."),
    "view": ("evalsi.server.view_command:view", "Look at the runs of this machine in a browser."),
    "serve": ("evalsi.server.command:serve", "Serve evaluations and take in live traffic, on one port."),
    "admin": ("evalsi.server.admin:admin", "Back up and restore what a server keeps."),
    "doctor": ("evalsi.cli.doctor:doctor", "Check what works on this machine."),
    "completion": ("evalsi.cli.completion:completion", "Print the shell completion script."),
    "version": ("evalsi.cli.version:version", "Print the version."),
}
"""Name, where its code is, and the line of help that the list of commands shows without importing it."""


ALSO = {"rerun": "evalsi.cli.run_again:rerun"}
"""Other names of commands below a group, which the list of commands does not show."""


class _ReaderGoneError(Exception):
    """Whoever read our output reads no more. Not the system's error, which click takes for its own and exits."""


@contextmanager
def _telling_that_nobody_reads() -> Generator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGoneError from error
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # so rich ends a program
            raise _ReaderGoneError from stop
        raise


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that `--help` and `version` stay quick."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _telling_that_nobody_reads():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _telling_that_nobody_reads():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        place = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else ALSO.get(cmd_name)
        if place is None:
            return None
        module_name, _, attribute = place.partition(":")
        command = getattr(importlib.import_module(module_name), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = not args or args[0] in COMMANDS or args[0] in ALSO
        if not known and not args[0].startswith("-") and not ctx.resilient_parsing:
            from evalsi.cli.runs import runs
            from evalsi.core.errors import UnknownNameError, UsageError

            if args[0] in runs.commands:
                raise UsageError(f"unknown command {args[0]!r}", hint=f"it is: evalsi runs {args[0]}")
            raise UnknownNameError("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(version)s", help="Print the version.")
def app() -> None:
    """Evaluate LLM apps and agents: is it good enough, and did this change make it better or worse?

    Start with:  evalsi init demo && cd demo && evalsi eval --data data.jsonl --evaluators exact-match
    """
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    if settings.plugins is not None:
        from evalsi.wiring.evaluator_programs import know_evaluator_programs

        know_evaluator_programs(settings)
    if settings.trace_endpoint:
        from evalsi.wiring.own_traces import trace_own_work

        trace_own_work(settings, click.get_current_context().invoked_subcommand or "command")


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit status: 0 done, 1 error, 2 usage, 3 a gate failed, 4 inconclusive."""
    open_standard_streams()
    write_plainly()
    try:
        status = app.main(args=list(arguments), prog_name="evalsi", standalone_mode=False, obj=tuple(arguments))
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        say(f"error: {_usage_in_words(error)}")
        return 2
    except click.ClickException as error:
        say(f"error: {error.format_message()}")
        return 2
    except click.Abort:
        return 130
    except (BrokenPipeError, _ReaderGoneError):
        # Whoever read our output has what was wanted; what is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        return 130
    except SystemExit as stop:
        # Never ours. Passed on, a 0 from foreign code would say that all was done, and a 3 that a gate failed.
        say(f"error: code that this command loaded ended it: SystemExit {stop.code}")
        return 1
    except Exception as error:
        return _told(error)
    return status if isinstance(status, int) else 0


_OTHERWISE = {
    ("evalsi eval", "--gate"): "gates are decided by evalsi run and evalsi compare",
    ("evalsi eval", "--trials"): "a target is asked several times by evalsi run",
    ("evalsi serve", "--port"): "write --listen 127.0.0.1:PORT",
    ("evalsi serve", "--host"): "write --listen HOST:PORT",
}
"""By command and an option that other tools would have there: what to write."""


_GUESS = re.compile(r"\. \(?Did you mean (?:one of: )?(.+)\?\)?$")
"""How click ends a mistake with the names that are near: one alone, several in brackets."""


def _usage_in_words(error: click.UsageError) -> str:
    """What is wrong with the words of a command, in one sentence that ends with where its help is."""
    message = " ".join(error.format_message().split()).rstrip(".")
    message = _GUESS.sub(r"; did you mean \1?", message[:1].lower() + message[1:]) + _example(error)
    command = error.ctx.command_path if error.ctx is not None else "evalsi"
    if isinstance(error, click.NoSuchOption) and (command, error.option_name) in _OTHERWISE:
        message = f"no such option '{error.option_name}'; {_OTHERWISE[command, error.option_name]}"
    words = cast("tuple[str, ...]", error.ctx.obj or ()) if error.ctx is not None else ()
    if "unexpected extra argument" in message and any(word.endswith(",") for word in words):
        message += "; write a list without blanks, as in a,b"
    return f"{message}; see: {command} --help"


def _example(error: click.UsageError) -> str:
    """An example of the command's help that has what is missing."""
    if not isinstance(error, click.MissingParameter) or error.ctx is None or error.param is None:
        return ""
    lines = map(str.strip, (error.ctx.command.help or "").splitlines())
    examples = [line for line in lines if line.startswith(f"{error.ctx.command_path} ")]
    flags = error.param.opts if isinstance(error.param, click.Option) else ()
    fitting = (line for line in examples if not flags or any(flag in line.split() for flag in flags))
    example = next(fitting, "")
    return f", as in: {example}" if example else ""


def _page(error: "EvalsiError") -> str:
    """The error's code, which is also the name of its page in the docs, for a person at a terminal."""
    return f" [{error.code}]" if sys.stderr.isatty() else ""


def _told(error: Exception) -> int:
    """Says what went wrong in one sentence; the exit status. What is no error of the tree or the system is raised."""
    from evalsi.core.errors import EvalsiError, UnauthenticatedError

    if isinstance(error, ExceptionGroup):  # several tasks failed, of one cause
        failed = cast("ExceptionGroup[Exception]", error)
        return _told(failed.exceptions[0])
    match error:
        case UnauthenticatedError():  # the server knows no command line
            say(f"error{_page(error)}: {error}; evalsi takes its key from EVALSI_API_KEY, else from 'evalsi login'")
            return error.exit_status
        case EvalsiError():
            say(f"error{_page(error)}: {error}")
            return error.exit_status
        case OSError():
            say(f"error: {error.filename or 'the system'}: {error.strerror or error}")
            return 1
        case MemoryError():
            say("error: memory is used up; what was graded is kept, and the same command continues it")
            return 1
        case _:
            click.echo("this is a fault of evalsi, not of what was asked; please report it with what follows", err=True)
            raise error
