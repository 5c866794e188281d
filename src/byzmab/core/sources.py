"""The user's own source files that a module is made of: itself, and what it imports, directly or not."""

import ast
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions, version
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

from byzmab.core.compiler import PACKAGE

NOT_OWN = ("site-packages", "dist-packages")
EXAMINED = 512  # files whose imports are remembered


class Sources(NamedTuple):
    """What a module is made of."""

    files: frozenset[Path]  # the user's own
    libraries: frozenset[str]  # others, each with its version


@cache
def _standard_library() -> tuple[Path, ...]:
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")})


def is_own(path: Path) -> bool:
    """Whether a file is the user's own: of no installed package, nor of Python or byzmab."""
    path = path.resolve()
    if PACKAGE in path.parents or any(part in NOT_OWN for part in path.parts):
        return False
    return not any(folder in path.parents for folder in _standard_library())


def file_of(module: str) -> Path | None:
    """The file of a module, loaded or not; None if it has none."""
    loaded = sys.modules.get(module)
    name = getattr(loaded, "__file__", None)
    if loaded is None:
        spec = _spec(module)
        name = spec.origin if spec is not None and spec.has_location else None
    return None if name is None else Path(name)


def _spec(module: str) -> ModuleSpec | None:
    """Where a module would be loaded from; nothing is imported to find out."""
    parent = module.rpartition(".")[0]
    if not parent:
        return PathFinder.find_spec(module)
    loaded = sys.modules.get(parent)
    spec = None if loaded is not None else _spec(parent)
    folders = getattr(loaded, "__path__", None) if spec is None else spec.submodule_search_locations
    return PathFinder.find_spec(module, list(folders)) if folders else None


def library_of(module: str) -> str:
    """The package that a module belongs to, with its version; the standard library is Python's."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "builtins":
        return f"python {sys.version_info.major}.{sys.version_info.minor}"
    names = _distributions().get(top)
    return f"{top} {version(names[0])}" if names else top


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(found) for name, found in packages_distributions().items()}


def sources_of(module: str) -> Sources:
    """The user's own files that a module of the user's is made of, and the libraries that they use."""
    files: set[Path] = set()
    libraries: set[str] = set()
    waiting = [module]
    seen = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        path = file_of(name)
        if path is not None and is_own(path):
            files.add(path)
            waiting += imports_of(name, path)
        elif name.partition(".")[0] != "byzmab" and (path is not None or name in sys.modules):
            libraries.add(library_of(name))
    return Sources(frozenset(files), frozenset(libraries))


def imports_of(module: str, path: Path) -> list[str]:
    """The modules that a file says it imports, by their full names; names that are none may be among them."""
    if path.suffix != ".py":
        return []
    loaded = sys.modules.get(module)
    package = getattr(loaded, "__package__", None) or (
        module if path.name == "__init__.py" else module.rpartition(".")[0]
    )
    return [_full_name(name, package) for name in _imports(path, path.stat().st_mtime_ns)]


@lru_cache(maxsize=EXAMINED)
def _imports(path: Path, stamp: int) -> tuple[str, ...]:
    """The imported modules as the file writes them; `stamp` tells versions of the file apart."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return ()
    return tuple(name for node in ast.walk(tree) for name in _imported(node))


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            parts = alias.name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        yield base
        dot = "" if base.endswith(".") else "."
        yield from (f"{base}{dot}{alias.name}" for alias in node.names if alias.name != "*")


def _full_name(name: str, package: str) -> str:
    try:
        return resolve_name(name, package)
    except ImportError:
        return name
