"""The `byzmab` command: its commands, and what becomes of errors."""

import os
import signal
import sys
import threading
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Never, TextIO

import typer

from byzmab.cli.attack import app as attack
from byzmab.cli.bounds import bounds
from byzmab.cli.compare import compare
from byzmab.cli.compare_algorithms import compare_algorithms
from byzmab.cli.evidence import evidence
from byzmab.cli.lab import lab
from byzmab.cli.listing import show_list
from byzmab.cli.network import network
from byzmab.cli.node import keygen, node
from byzmab.cli.reproduce import reproduce
from byzmab.cli.simulate import simulate
from byzmab.cli.sweep import sweep
from byzmab.cli.tournament import tournament
from byzmab.cli.warm_up import warm_up

app = typer.Typer(
    name="byzmab",
    help="Byzantine-resilient decentralized multi-armed bandits.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.command("simulate")(simulate)
app.command("reproduce")(reproduce)
app.command("compare")(compare)
app.command("sweep")(sweep)
app.command("tournament")(tournament)
app.command("compare-algorithms")(compare_algorithms)
app.command("bounds")(bounds)
app.add_typer(attack, name="attack")
app.command("lab")(lab)
app.command("list")(show_list)
app.command("warm-up")(warm_up)
app.command("keygen")(keygen)
app.command("network")(network)
app.add_typer(node, name="node")
app.add_typer(evidence, name="evidence")


def _version(wanted: bool) -> None:
    if wanted:
        from byzmab import __version__

        print(f"byzmab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# typer does not export the base of its usage errors, to which unknown options belong too
UsageError: Any = typer.BadParameter.__mro__[1]
INTERRUPTED = 130
AGAIN = 0.1  # seconds after which an interrupt that got lost comes again
_interrupted = threading.Event()


def main() -> None:
    """Run a command; bad input ends with one sentence and exit code 2, Ctrl-C with 130."""
    # numba would let colorama, where that is installed, write a code to stdout at the end
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()  # either may be closed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign shows another
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        code = _end(f"error: {error.strerror or error}; nothing more could be written", 2)
    except MemoryError:
        code = _end("error: there is too little memory for this; allowed: fewer agents, arms or workers", 2)
    except UsageError as error:
        message = _with_value(error)
        code = _end(f"error: {message}", 2) if message else 0  # no arguments: the help was shown
    except Exception as error:
        from byzmab.core.errors import BadInput

        if isinstance(error, BadInput):
            code = _end(f"error: {error}", 2)
        elif _interrupted.is_set():  # numba, stopped in the middle, misses its own code
            code = INTERRUPTED
        else:
            raise
    sys.exit(_end("stopped", INTERRUPTED) if code == INTERRUPTED else code)


def _with_value(error: Any) -> str:
    """What a usage error says, with what typer leaves out: the commands that there are, the number that was given."""
    message = str(error.format_message())
    if message.startswith("No such command") and error.ctx is not None:
        return f"{message} Known: {', '.join(error.ctx.command.list_commands(error.ctx))}"
    if not hasattr(error.__cause__, "errors"):
        return message
    return message.replace("Invalid value", f"Invalid value {error.__cause__.errors()[0]['input']!r}", 1)


def _nowhere() -> TextIO:
    """A stream that forgets what is written, as long as the process lasts."""
    return Path(os.devnull).open("w")


def _interrupt(number: int, frame: FrameType | None) -> Never:
    """Stop, and let objects that are caught half-made die in silence: Python would print their complaints."""
    _interrupted.set()
    sys.unraisablehook = _lost
    raise KeyboardInterrupt


def _lost(complaint: Any) -> None:
    """Stop again, and soon, where the interrupt itself got lost: nothing leaves a function that a library calls."""
    if issubclass(complaint.exc_type, KeyboardInterrupt):
        again = threading.Timer(AGAIN, os.kill, [os.getpid(), signal.SIGINT])  # wakes sleeping threads, too
        again.daemon = True
        again.start()


def _end(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
