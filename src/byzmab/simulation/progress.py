"""Progress bars for long work: in a terminal, in a notebook, or none where nobody looks."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DUMB = ("dumb", "unknown")  # terminals, by $TERM, that write one line after the other and nothing else
Show = Callable[..., None]  # is given what is done, its total (None: unknown), and perhaps what is being done now


@contextmanager
def progress_bar(what: str) -> Iterator[Show | None]:
    """A bar in a notebook, or on stderr if a bar can move there; None otherwise. It says when something is compiled."""
    if "ipykernel" in sys.modules:
        with _telling_of_compiling(_notebook_bar(what)) as show:
            yield show
    elif sys.stderr.isatty() and os.environ.get("TERM") not in DUMB:
        with _terminal_bar(what) as bar, _telling_of_compiling(bar) as show:
            yield show
    else:
        yield None


@contextmanager
def _telling_of_compiling(show: Show) -> Iterator[Show]:
    from byzmab.core.compiler import watching_compilation

    with watching_compilation(lambda name: show(0, None, "compiling")):
        yield show


@contextmanager
def wanted_bar(progress: Show | bool | None, what: str) -> Iterator[Show | None]:
    """What `progress=` asks for: True a bar, a function itself, anything else none."""
    if progress is True:
        with progress_bar(what) as show:
            yield show
    else:
        yield progress or None


@contextmanager
def _terminal_bar(what: str) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int | None, now: str = what) -> None:
            bar.update(task, completed=done, total=total, description=now)

        yield show


def _notebook_bar(what: str) -> Show:
    from IPython.display import HTML, display

    shown = display(HTML(f"{what} …"), display_id=True)  # type: ignore[no-untyped-call]

    def show(done: int, total: int | None, now: str = what) -> None:
        bar = f'<progress value="{done}" max="{total}"></progress> {done / total:.0%}' if total else "…"
        shown.update(HTML(f"{now} {bar}"))  # type: ignore[no-untyped-call]

    return show
