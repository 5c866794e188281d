"""Compiling Python functions with numba, and keeping the machine code on disk.

numba does not notice when a function that another one calls was edited. So our cache directory is named by a digest
of the packages that hold compiled functions: edit one of these and everything is compiled afresh. A loop with a
user's own plug-in in it is kept in a directory named by the plug-in's fingerprint, which covers all that it is made of.
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
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numba
import numpy as np
from numba.core import event

from byzmab.core.inlining import InnerCache, InnerCompiler, LateCache, without_literals

PACKAGE = Path(__file__).resolve().parents[1]
MARKER = ".byzmab-machine-code"
LONGEST_NAME = 180  # of a specialized function; files that numba keeps are named after it
UNUSED_DAYS = 14  # machine code of another version that nobody loaded for so long is removed

# all that holds compiled functions, as a test checks; an edited page or command recompiles nothing
COMPILED = (
    *("attacks", "baselines", "contexts", "core", "engine", "graphs", "ordering", "theory", "worlds"),
    "paper/as_published.py",
)
OWN = "own"  # in the cache directory: loops with plug-ins of users in them

# With BYZMAB_PLAIN_NUMBA=1 all is compiled by numba's public `njit` alone: slower to compile, but no change inside a
# new numba can break it.
PLAIN = os.environ.get("BYZMAB_PLAIN_NUMBA") == "1"
PUBLIC: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # of numba, for all that we compile
OPTIONS = PUBLIC if PLAIN else {**PUBLIC, "_nrt": True}  # said, or it would be that of the caller
BORROWING = PUBLIC if PLAIN else {**PUBLIC, "_nrt": False}  # counts no references: see `compiled_borrowing`

Function = TypeVar("Function", bound=Callable[..., Any])
Numbers = tuple[tuple[str, int | str], ...]  # by name


def source_digest(*paths: str) -> str:
    """A digest of the package's source: all of it, or the files and directories at some paths in it."""
    digest = hashlib.sha256()
    for path in sorted(file for start in paths or ("",) for file in _sources(PACKAGE / start)):
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(path: Path) -> Iterable[Path]:
    return path.rglob("*.py") if path.is_dir() else [path]


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
    """Remove the directories beside one that we made, by their marker, and that nobody used for long."""
    for marker in mine.parent.glob(f"*/{MARKER}"):
        if marker.parent != mine and time.time() - marker.stat().st_mtime > UNUSED_DAYS * 86400:
            shutil.rmtree(marker.parent, ignore_errors=True)


# Code with bounds checks, under NUMBA_BOUNDSCHECK=1, is kept apart: numba itself would mix the two. So is that of
# another numba, which would throw ours away and put its own there.
KINDS = {"checked": numba.config.BOUNDSCHECK == 1, "plain": PLAIN}
CACHE = open_cache(
    "-".join([source_digest(*COMPILED), "numba", numba.__version__, *(kind for kind in KINDS if KINDS[kind])])
)


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
    """Whether a function, and all that was put into it, was written in this package, so that its code may be kept."""
    inside = getattr(function, "specialized_with", ())
    return PACKAGE in Path(function.__code__.co_filename).resolve().parents and all(map(is_ours, inside))


def _kept_in(function: Callable[..., Any]) -> Path | None:
    """Where the machine code of a loop is kept; None where a plug-in in it cannot be known again."""
    return CACHE if is_ours(function) else own_directory(*_of_users(function))


def own_directory(*functions: Callable[..., Any]) -> Path | None:
    """Return the directory of what is kept for functions of users; None where they cannot be known again."""
    from byzmab.core.fingerprint import Unknowable, fingerprint

    try:
        directory = CACHE / OWN / fingerprint(list(functions))
        directory.mkdir(parents=True, exist_ok=True)
        (directory / MARKER).touch()
        prune(directory)
    except (Unknowable, OSError):
        return None
    return directory


def _of_users(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The functions of users that were put into a loop."""
    for inside in getattr(function, "specialized_with", ()):
        if hasattr(inside, "specialized_with"):
            yield from _of_users(inside)
        elif not is_ours(inside):
            yield inside


def _compile(
    function: Callable[..., Any], directory: Path | None, *signature: Any, options: dict[str, Any] = OPTIONS
) -> Any:
    with _caching_in(directory or CACHE):
        return numba.njit(*signature, cache=directory is not None, **options)(function)


def _with_inner_side(
    function: Callable[..., Any], cache: bool, forceinline: bool = False, options: dict[str, Any] = OPTIONS
) -> Any:
    """Compile a function whole for Python, and as little as is needed for the compiled functions that call it."""
    whole = _compile(function, CACHE if cache else None, options=options)
    if PLAIN:
        return whole
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    inner = numba.njit(pipeline_class=InnerCompiler, forceinline=forceinline, **wrappers, **options)(function)
    if cache:
        inner._cache = LateCache(lambda: _open_inner(function))
    whole.get_call_template, whole.get_overload = without_literals(inner.get_call_template), inner.get_overload
    return whole


def _open_inner(function: Callable[..., Any]) -> InnerCache:
    with _caching_in(CACHE):
        return InnerCache(function)


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and inline it into the loops that call it.

    Parameters
    ----------
    function
        A function of numbers and arrays, in the part of Python that numba compiles.

    Returns
    -------
    function
        The function, which is compiled when it is first called.
    """
    return _with_inner_side(function, is_ours(function), True)  # type: ignore[no-any-return]


def compiled_noinline(function: Function) -> Function:
    """`compiled` for a large function, which need not be inlined: compiling takes less long, a call a little more."""
    return _with_inner_side(function, is_ours(function))  # type: ignore[no-any-return]


def compiled_borrowing(function: Function) -> Function:
    """`compiled` for a function that makes no arrays and returns none: it counts no references to those it is given.

    numba counts them for every view, two calls each; in loops over small matrices these cost more than the arithmetic.
    What such a function calls may make arrays, but returns none either, but those of a state, which nobody counts; for
    views there is `compiled_view`. A function that is declared to return an array is refused.
    """
    _check_borrowing(function)
    return _with_inner_side(function, is_ours(function), True, BORROWING)  # type: ignore[no-any-return]


def compiled_borrowing_noinline(function: Function) -> Function:
    """`compiled_borrowing` for a large function, optimized alone: left to its callers, loops took a third longer."""
    _check_borrowing(function)
    return _compile(function, CACHE if is_ours(function) else None, options=BORROWING)  # type: ignore[no-any-return]


def _check_borrowing(function: Callable[..., Any]) -> None:
    """Raise TypeError where a function that counts no references returns an array: it would be freed while in use."""
    returned = get_type_hints(function).get("return", Any)
    if returned is Any or _holds_array(returned):
        raise TypeError(
            f"{function.__qualname__} borrows arrays and returns {returned}; declare a return type without arrays, "
            "or use compiled or compiled_view"
        )


def _holds_array(kind: Any) -> bool:
    """Return whether values of a type are arrays, or have some in them."""
    if kind is np.ndarray or get_origin(kind) is np.ndarray:
        return True
    parts = [*get_args(kind), *(get_type_hints(kind).values() if hasattr(kind, "_fields") else ())]
    return any(map(_holds_array, parts))


def compiled_view(function: Function) -> Function:
    """Compile a function that returns a view; it is put into its callers before they are compiled, by their rules."""
    options = {**OPTIONS, "inline": "always"}
    return _compile(function, CACHE if is_ours(function) else None, options=options)  # type: ignore[no-any-return]


def compiled_as(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for one signature, or load it, when it is defined."""
    return lambda function: _compile(function, CACHE if is_ours(function) else None, signature)


def specialize(
    template: Callable[..., Any], signature: Any = None, borrows: bool = False, numbers: Numbers = (), **functions: Any
) -> Any:
    """Compile a copy of `template` in which the given compiled functions stand in place of its globals of that name.

    This is how a plug-in's small function gets inlined into a loop of ours. With a signature the copy is compiled,
    or loaded, at once; without one it is inlined into a copy of another template. numba can also take functions as
    arguments or from a closure, but then finds nothing in its cache in the next process. With `borrows` the copy is
    compiled as `compiled_borrowing` does; `numbers` are globals of the template that it is to know when it is compiled.
    """
    if borrows:
        _check_borrowing(template)
    options = BORROWING if borrows else OPTIONS
    sources = [function.py_func for function in functions.values()]
    name = "_".join([template.__name__, *map(_full_name, sources), *(f"{key}_{number}" for key, number in numbers)])
    if len(name) > LONGEST_NAME:
        name = f"{template.__name__}_{hashlib.sha256(name.encode()).hexdigest()}"
    copy = python_types.FunctionType(template.__code__, {**template.__globals__, **functions, **dict(numbers)}, name)
    copy.__qualname__ = name
    copy.specialized_with = sources  # type: ignore[attr-defined]
    if signature is None:
        return _with_inner_side(copy, False, True, options)
    return _compile(copy, _kept_in(copy), signature, options=options)


def _full_name(function: Callable[..., Any]) -> str:
    """A name that no other function has; that of a specialized copy tells what was put into what."""
    if hasattr(function, "specialized_with"):
        return function.__qualname__
    return f"{function.__module__}.{function.__qualname__}"


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
