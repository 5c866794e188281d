"""What commands show while they work and after it: progress bars, notes, warnings, JSON."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from byzmab.simulation.progress import progress_bar


def print_json(value: Any) -> None:
    """Print one JSON object to stdout."""
    print(json.dumps(value, indent=2))


@contextmanager
def compiling_notice() -> Iterator[None]:
    """Say once that the first run compiles, if anything is compiled within the block."""
    from byzmab.core.compiler import say_once, watching_compilation

    with watching_compilation(
        say_once("compiling: ten seconds the first time, twenty with contexts, later a second or two for what is new …")
    ):
        yield


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print warnings as one plain line each."""
    before = warnings.showwarning

    def show(message: Any, *_: Any, **__: Any) -> None:
        print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def share_bar() -> Iterator[Callable[[str, float], None] | None]:
    """The same for work with named parts, told as the share that is done."""
    with progress_bar("reproducing") as progress:
        if progress is None:
            yield None
            return
        yield lambda name, share: progress(int(share * 1000), 1000, f"reproducing {name}")


def note(message: str) -> None:
    """Say something on stderr, where it disturbs no pipe."""
    print(message, file=sys.stderr)
