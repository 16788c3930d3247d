"""The command line: one file per command, and heavy imports only inside the commands.

Exit codes: 0 holds, 1 refuted, 2 the request or the rule's interface is wrong (one line on stderr, after the traceback
of the user's own code where that raised), 3 kappaguard itself failed (one line; ``--debug`` shows the trace).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from kappaguard import __version__
from kappaguard.cli.atlas import atlas
from kappaguard.cli.check import check
from kappaguard.cli.diff import diff
from kappaguard.cli.estimate import estimate
from kappaguard.cli.exact import exact
from kappaguard.cli.progress import silence
from kappaguard.cli.recipe import recipe
from kappaguard.cli.replay import replay
from kappaguard.cli.report import report
from kappaguard.cli.reproduce import reproduce
from kappaguard.cli.rules import rules
from kappaguard.cli.search import search
from kappaguard.cli.stress import stress
from kappaguard.cli.sweep import sweep
from kappaguard.cli.train import train
from kappaguard.cli.verify import verify

WRONG_REQUEST = 2
FAILED = 3
INTERRUPTED = 130
DEBUG = "--debug"
QUIET = ("--quiet", "-q")
TRAIN = ("torch", "sklearn", "pooch")
"""What the extra train brings."""

# Where Click's errors live depends on the version of Typer; that a BadParameter is one of them does not.
_ClickError = cast(type[Exception], typer.BadParameter.__mro__[2])

app = typer.Typer(
    pretty_exceptions_enable=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)
app.command()(atlas)
app.command()(check)
app.command()(diff)
app.command()(estimate)
app.command()(exact)
app.command()(recipe)
app.command()(replay)
app.command()(reproduce)
app.command()(report)
app.command()(rules)
app.command()(search)
app.command()(sweep)
app.command()(stress)
app.command()(train)
app.command()(verify)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kappaguard {__version__}")
        raise typer.Exit


@app.callback()
def _kappaguard(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    _quiet: Annotated[bool, typer.Option(*QUIET, help="Show no progress: results and errors only.")] = False,
    _debug: Annotated[bool, typer.Option(DEBUG, help="Show the trace of an error of kappaguard's own.")] = False,
) -> None:
    """Finds, proves and guards the worst case of Byzantine-robust aggregation rules."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in given
    silence(any(each in QUIET for each in given))
    given = [each for each in given if each != DEBUG and each not in QUIET]
    try:
        status = app(given or ["--help"], prog_name="kappaguard", standalone_mode=False)
    except typer.Abort:
        if arguments is None:
            # the program ends: another Ctrl-C must not turn its exit code into something else
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _told(error, debug)
    return status if isinstance(status, int) else 0


def _told(error: Exception, debug: bool) -> int:
    """Say in one line what is wrong, and whose fault it is by the exit code."""
    from kappaguard.rules.base.errors import InputError, trace_of

    if debug:
        import traceback

        traceback.print_exception(error)
    elif isinstance(error, InputError):
        from kappaguard.cli.output import show_trace

        show_trace(trace_of(error))
    fault = _fault(error)
    if fault is not None:
        _complain(fault)
        return WRONG_REQUEST
    hint = "" if debug else f"; {DEBUG} shows where"
    _complain(f"an error of kappaguard itself: {type(error).__name__}: {str(error)[:MOST]}{hint}")
    return FAILED


MOST = 300


def _fault(error: Exception) -> str | None:
    """What is wrong with the request; None for an error that is ours and not the user's."""
    from kappaguard.rules.base.errors import InputError

    if isinstance(error, _ClickError):
        return str(getattr(error, "format_message", error.__str__)())
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if isinstance(error, ModuleNotFoundError) and error.name in TRAIN:
        return f"this needs {error.name}, which is not installed: pip install 'kappaguard[train]'"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot read or write {error.filename or 'a file'}: {error.strerror}"
    return None


def _complain(message: str) -> None:
    from kappaguard.rules.base.text import printable

    typer.echo(f"kappaguard: {printable(' '.join(message.split()))}", err=True)
