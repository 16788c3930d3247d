"""The command line: one file per command, and heavy imports only inside the commands.

Exit codes: 0 holds, 1 refuted, 2 the request itself is wrong (one line on stderr).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from kappaguard import __version__
from kappaguard.cli.check import check
from kappaguard.cli.estimate import estimate
from kappaguard.cli.exact import exact
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
INTERRUPTED = 130

# Where Click's errors live depends on the version of Typer; that a BadParameter is one of them does not.
_ClickError = cast(type[Exception], typer.BadParameter.__mro__[2])

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(check)
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
) -> None:
    """Finds, proves and guards the worst case of Byzantine-robust aggregation rules."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(given or ["--help"], prog_name="kappaguard", standalone_mode=False)
    except typer.Abort:
        if arguments is None:
            # the program ends: another Ctrl-C must not turn its exit code into something else
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return INTERRUPTED
    except Exception as error:
        _complain(_fault(error))
        return WRONG_REQUEST
    return status if isinstance(status, int) else 0


def _fault(error: Exception) -> str:
    """What is wrong with the request; an error that is ours and not the user's is raised again."""
    from kappaguard.rules.errors import InputError

    if isinstance(error, _ClickError):
        return str(getattr(error, "format_message", error.__str__)())
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot read or write {error.filename or 'a file'}: {error.strerror}"
    raise error


def _complain(message: str) -> None:
    from kappaguard.rules.text import printable

    typer.echo(f"kappaguard: {printable(' '.join(message.split()))}", err=True)
