"""Compiling Python functions with numba, and keeping the machine code on disk.

numba does not notice when a function that another one calls was edited, so our cache directory
is named by a digest of the package's source: edit anything and everything is compiled afresh.
Functions written outside the package are compiled in every process, which is never stale.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
import types as python_types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event
from numba.core.errors import NumbaError

from byzmab.core.errors import BadInput

PACKAGE = Path(__file__).resolve().parents[1]
MARKER = ".byzmab-machine-code"
UNUSED_DAYS = 14  # machine code of another version that nobody loaded for so long is removed

Function = TypeVar("Function", bound=Callable[..., Any])


def source_digest(*places: str) -> str:
    """A digest of the package's source, all of it or what lies at some places in it."""
    digest = hashlib.sha256()
    for path in sorted(file for place in places or ("",) for file in _sources(PACKAGE / place)):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(place: Path) -> Iterable[Path]:
    return place.rglob("*.py") if place.is_dir() else [place]


def _cache_root() -> Path:
    """A directory of our own: `machine-code` in $BYZMAB_CACHE_DIR, or in the user's cache."""
    chosen = os.environ.get("BYZMAB_CACHE_DIR")
    home = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "byzmab"
    return home / "machine-code"


def open_cache(digest: str) -> Path:
    """Make a version's cache directory and remove those of other versions long unused."""
    try:
        mine = _cache_root() / digest
        mine.mkdir(parents=True, exist_ok=True)
        (mine / MARKER).touch()
        prune(mine)
    except (OSError, RuntimeError):  # nowhere to write, or no home
        mine = Path(tempfile.mkdtemp(prefix="byzmab-"))
        atexit.register(shutil.rmtree, mine, ignore_errors=True)
    return mine


def prune(mine: Path) -> None:
    """Remove the directories beside ours that we made, by their marker, and that nobody used for long."""
    for marker in mine.parent.glob(f"*/{MARKER}"):
        if marker.parent != mine and time.time() - marker.stat().st_mtime > UNUSED_DAYS * 86400:
            shutil.rmtree(marker.parent, ignore_errors=True)


CACHE = open_cache(source_digest())


@contextmanager
def _caching_in(directory: Path) -> Iterator[None]:
    # numba reads this setting when a function is decorated; other packages keep theirs
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def is_ours(function: Callable[..., Any]) -> bool:
    """Whether a function was written in this package, so that its machine code may be kept."""
    return PACKAGE in Path(function.__code__.co_filename).resolve().parents


def _compile(function: Callable[..., Any], cache: bool, *signature: Any, inline: bool = False) -> Any:
    with _caching_in(CACHE):
        return numba.njit(*signature, nogil=True, error_model="numpy", cache=cache, forceinline=inline)(function)


def compiled(function: Function) -> Function:
    """Compile a function to machine code when it is first called, and into the loops that call it."""
    return _compile(function, is_ours(function), inline=True)  # type: ignore[no-any-return]


def compiled_apart(function: Function) -> Function:
    """The same for a large function, which stays one: compiling takes less long, and a call costs a little."""
    return _compile(function, is_ours(function))  # type: ignore[no-any-return]


def compiled_as(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for one signature, or load it, when it is defined."""
    return lambda function: _compile(function, is_ours(function), signature)


def weave(template: Callable[..., Any], signature: Any, **parts: Any) -> Any:
    """Compile a copy of `template` in which the global names of `parts` stand for the given compiled functions.

    This is how a plug-in's small function gets inlined into a loop of ours. numba can also take functions
    as arguments or from a closure, but then finds nothing in its cache in the next process.
    """
    for name, part in parts.items():
        if not hasattr(part, "py_func"):
            raise BadInput(
                f"plug-in function {name} {part!r} is not compiled; allowed: a function under @byzmab.compiled"
            )
    sources = [part.py_func for part in parts.values()]
    name = "_".join([template.__name__, *(f"{source.__module__}.{source.__qualname__}" for source in sources)])
    copy = python_types.FunctionType(template.__code__, {**template.__globals__, **parts}, name)
    copy.__qualname__ = name
    try:
        return _compile(copy, all(map(is_ours, sources)), signature)
    except NumbaError as error:
        reasons = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in reasons if "Error" in line or "must" in line), reasons[0] if reasons else "")
        theirs = [source for source in sources if not is_ours(source)] or sources
        where = ", ".join(f"{source.__name__} in {source.__code__.co_filename}" for source in theirs)
        raise BadInput(f"plug-in function {where} cannot be compiled: {reason or type(error).__name__}") from error


class _Notice(event.Listener):  # type: ignore[misc]
    """Calls back when numba compiles something instead of loading it."""

    def __init__(self, callback: Callable[[str], None]) -> None:
        self.callback = callback

    def on_start(self, happening: Any) -> None:
        """Tell the name of the function that is about to be compiled."""
        self.callback(happening.data["dispatcher"].py_func.__qualname__)

    def on_end(self, happening: Any) -> None:
        """Nothing to do: only the beginning is told."""


@contextmanager
def watching_compilation(notify: Callable[[str], None]) -> Iterator[None]:
    """Call `notify` with a function's name whenever one is compiled within the block."""
    notice = _Notice(notify)
    event.register("numba:compile", notice)
    try:
        yield
    finally:
        event.unregister("numba:compile", notice)


def say_once(message: str) -> Callable[[str], None]:
    """A notifier that prints a message to stderr at its first call only."""
    said: list[str] = []

    def notify(name: str) -> None:
        if not said:
            print(message, file=sys.stderr, flush=True)
        said.append(name)

    return notify
