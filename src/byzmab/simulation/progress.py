"""Progress bars for long work: in a terminal, in a notebook, or none where nobody looks."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DUMB = ("dumb", "unknown")  # terminals, by $TERM, that write one line after the other and nothing else
MEASURED = 5.0  # seconds of progress from which the rest is estimated
LONG = 30.0  # seconds from which work is announced
Show = Callable[..., None]  # is given what is done, its total (None: unknown), and perhaps what is being done now


@contextmanager
def progress_bar(what: str) -> Iterator[Show]:
    """A bar in a notebook, or on stderr if a bar can move there; elsewhere only an announcement of long work.

    It says when something is compiled.
    """
    if "ipykernel" in sys.modules:
        with _telling_of_compiling(_notebook_bar(what)) as show:
            yield show
    elif sys.stderr.isatty() and os.environ.get("TERM") not in DUMB:
        with _terminal_bar(what) as bar, _telling_of_compiling(bar) as show:
            yield Announcement(what, show)
    else:
        yield Announcement(what)


class Announcement:
    """Says once how long work is likely to take, where it takes long; it is called as a progress bar is."""

    def __init__(self, what: str, show: Show | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._show, self._clock = what, show, clock
        self._first: tuple[float, int] | None = None  # when progress was told first, and what was done by then
        self._told = False

    def __call__(self, done: int, total: int | None, *now: str) -> None:
        """Note progress, and pass it on."""
        if self._show is not None:
            self._show(done, total, *now)
        if total is None or self._told:
            return
        if self._first is None or done <= self._first[1]:
            self._first = self._clock(), done
            return
        began, before = self._first
        passed = self._clock() - began
        if passed >= MEASURED:
            self._told = True
            left = passed * (total - done) / (done - before)
            if left >= LONG:
                print(f"{self._what}: about {in_words(left)} left", file=sys.stderr)


def in_words(seconds: float) -> str:
    """Return a duration as a person would say it."""
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


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
