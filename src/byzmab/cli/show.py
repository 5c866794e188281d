"""What commands show while they work and after it: progress bars, notes, warnings, JSON."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from byzmab.simulation.progress import progress_bar

ROUND = ("advance", "see_all")  # the loops that have no plug-in in them
LOOPS = {  # how the names of loops begin, and whose function is in them
    "draw_all": "graph",
    "lie_all": "attack",
    "believe_all": "filter",
    "choose_all": "policy",
    "pull_all": "rewards",
    "move_all": "drift",
    "play": "algorithm",
    "decide": "policy",
}


def print_json(value: Any) -> None:
    """Print one JSON object to stdout."""
    print(json.dumps(value, indent=2))


@contextmanager
def compiling_notice() -> Iterator[None]:
    """Say on stderr what is compiled within the block, each part once."""
    from byzmab.core.compiler import watching_compilation

    told: set[str] = set()

    def tell(name: str) -> None:
        part = compiled_part(name)
        if part is not None and part not in told:
            told.add(part)
            note(f"compiling {part}{'' if len(told) > 1 else ', once: its machine code is kept on disk'} …")

    with watching_compilation(tell):
        yield


def compiled_part(name: str) -> str | None:
    """Return the part of an experiment that a compiled loop plays, by the loop's name; None for parts of a loop."""
    if name in ROUND:
        return "the round"
    kind = next((kind for loop, kind in LOOPS.items() if name.startswith(f"{loop}_")), None)
    ours = name.rpartition("_byzmab.")[2]
    if kind is None:
        return None
    return kind if ours == name else f"{kind} {ours.split('.')[-2].replace('_', '-')}"


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
def share_bar() -> Iterator[Callable[[str, float], None]]:
    """A progress bar for work with named parts, told as the share that is done."""
    with progress_bar("reproducing") as progress:
        yield lambda name, share: progress(int(share * 1000), 1000, f"reproducing {name}")


def note(message: str) -> None:
    """Say something on stderr, where it disturbs no pipe."""
    print(message, file=sys.stderr)
