"""What a plug-in really is, as a digest: its values, its functions with all that they read, and its source files.

Two classes made by one factory differ by what their functions close over; a function differs by its defaults, by the
globals that it reads and by the functions it calls; and all of it by the user's own files that it was imported from.
Installed packages count by their version.
"""

import ast
import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from byzmab.core.sources import file_of, is_own, library_of, sources_of

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range)
MADE_BY_PYTHON = {  # of a class, beside what its author wrote
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl",
    "__firstlineno__", "__static_attributes__", "__parameters__", "__orig_bases__", "__slots__",
    "__annotate__", "__annotate_func__", "__annotations_cache__",
}  # fmt: skip
COMPILED_FILES = 256  # files whose functions are remembered
PROTOCOL = 4  # of pickle, by which objects say what they are made of


class Unknowable(Exception):
    """An object that cannot be fingerprinted; the message says why."""


def fingerprint(plugin: Any) -> str:
    """A digest of a plug-in, the same in every process and folder; Unknowable where there is none."""
    walk = _Walk()
    walk.add(plugin)
    files, libraries = set(), set(walk.libraries)
    for module in walk.modules:
        found = sources_of(module)
        files |= {_read(path) for path in found.files}
        libraries |= found.libraries
    for text in (*sorted(map(_digest, files)), *sorted(libraries)):
        walk.tell("source", text)
    return walk.digest.hexdigest()[:32]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unknowable(f"{path.name} cannot be read: {error.strerror}") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Walk:
    """Tells a digest everything that an object is made of, each part once."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.modules: set[str] = set()  # the user's own that were met
        self.libraries: set[str] = set()
        self._seen: dict[int, tuple[int, Any]] = {}  # by id: their number, and they themselves, which keeps the id

    def tell(self, *words: object) -> None:
        for word in words:
            text = str(word).encode()
            self.digest.update(f"{len(text)}:".encode() + text)

    def add(self, item: Any) -> None:
        """Tell what an object is."""
        if isinstance(item, PLAIN):
            self.tell(type(item).__name__, repr(item))
        elif id(item) in self._seen:
            self.tell("again", self._seen[id(item)][0])
        else:
            self._seen[id(item)] = len(self._seen), item
            self._add_new(item)

    def _add_new(self, item: Any) -> None:
        if not self._add_code(item) and not self._add_data(item):
            self._add_object(item)

    def _add_code(self, item: Any) -> bool:
        """Tell what a class, a module or something like a function is; return False for anything else."""
        if isinstance(item, type):
            self._add_class(item)
        elif isinstance(item, types.ModuleType):
            self._add_module(item)
        elif hasattr(item, "py_func"):  # compiled by numba
            self.tell("compiled")
            self.add(dict(getattr(item, "targetoptions", {})))
            self.add(item.py_func)
        elif isinstance(item, types.FunctionType):
            self._add_function(item)
        elif isinstance(item, (staticmethod, classmethod)):
            self.tell(type(item).__name__)
            self.add(item.__func__)
        elif isinstance(item, property):
            self._add_all("property", (item.fget, item.fset, item.fdel))
        elif isinstance(item, (types.BuiltinFunctionType, types.MemberDescriptorType, types.GetSetDescriptorType)):
            self.tell("built in", item.__qualname__)
        else:
            return False
        return True

    def _add_data(self, item: Any) -> bool:
        """Tell what a container, an array or a member of an Enum is; return False for anything else."""
        if isinstance(item, (list, tuple)) and type(item) in (list, tuple):
            self._add_all(type(item).__name__, item)
        elif isinstance(item, (set, frozenset)):
            self._add_unordered(type(item).__name__, item)
        elif type(item) is dict or isinstance(item, types.MappingProxyType):
            self._add_all("dict", (part for pair in item.items() for part in pair))
        elif isinstance(item, np.ndarray) and not item.dtype.hasobject:
            self.tell("array", item.dtype.descr if item.dtype.names else item.dtype.str, item.shape)
            self.digest.update(np.ascontiguousarray(item).tobytes())
        elif isinstance(item, Enum):
            self._add_all("member", (type(item), item.name, item.value))
        else:
            return False
        return True

    def _add_all(self, kind: str, items: Iterable[Any]) -> None:
        items = list(items)
        self.tell(kind, len(items))
        for item in items:
            self.add(item)

    def _add_unordered(self, kind: str, items: Iterable[Any]) -> None:
        prints = []
        for item in items:
            walk = _Walk()
            walk.add(item)
            prints.append(walk.digest.hexdigest())
            self.modules |= walk.modules
            self.libraries |= walk.libraries
        self.tell(kind, *sorted(prints))

    def _add_object(self, item: Any) -> None:
        """Any other object: by its class and what pickle would keep of it."""
        try:
            made = item.__reduce_ex__(PROTOCOL)
        except Exception:
            raise Unknowable(f"a {type(item).__name__} has no stable form") from None
        if isinstance(made, str):
            self.tell("global", made)
            self.add(sys.modules.get(getattr(item, "__module__", None) or ""))
            return
        self._add_all("object", (list(part) if isinstance(part, Iterator) else part for part in made))

    def _add_class(self, item: type) -> None:
        self.tell("class", item.__qualname__)
        if not self._is_own(item.__module__):
            return
        self.add(item.__mro__[1:])
        dataclass = "__dataclass_fields__" in vars(item)
        for name, value in sorted(vars(item).items()):
            if name not in MADE_BY_PYTHON and not (dataclass and _is_written_by_python(value)):
                self.tell(name)
                self.add(value)
        if dataclass:
            for field in vars(item)["__dataclass_fields__"].values():
                self._add_all(field.name, (str(field.type), field.default_factory, dict(field.metadata)))

    def _add_module(self, item: types.ModuleType) -> None:
        self.tell("module")
        if not self._is_own(item.__name__):
            self.tell(item.__name__)

    def _is_own(self, module: str) -> bool:
        """Whether a module is the user's own; it is noted with the other modules, or libraries, that were met."""
        path = file_of(module)
        if path is not None and is_own(path):
            self.modules.add(module)
            return True
        if path is None and module not in sys.builtin_module_names and module != "builtins":
            raise Unknowable(f"{f'module {module}' if module else 'its code'} has no source file")
        if module.partition(".")[0] != "byzmab":
            self.libraries.add(library_of(module))
        return False

    def _add_function(self, item: types.FunctionType) -> None:
        module = item.__globals__.get("__name__", "")
        self.tell("function", item.__qualname__)
        self._add_all("closes over", _closed_over(item))  # a library's wrapper too may hold a function of the user's
        if not self._is_own(module):
            self.tell(module)
            return
        path = file_of(module)
        assert path is not None, "what is the user's own has a file"
        if not _is_as_written(item.__code__, path):
            raise Unknowable(f"{item.__qualname__} is not what its source file {path.name} says")
        self._add_all("defaults", (item.__defaults__, item.__kwdefaults__))
        names = sorted(set(_names(item.__code__)))
        for name in names:
            if name in item.__globals__:
                self.tell("reads", name)
                self._add_read(item.__globals__[name], names)

    def _add_read(self, value: Any, names: Iterable[str]) -> None:
        """A global that a function reads; of the user's own modules also what the function may read of them."""
        self.add(value)
        if isinstance(value, types.ModuleType) and self._is_own(value.__name__):
            for name in names:
                if hasattr(value, name):
                    self.tell("of it", name)
                    self._add_read(getattr(value, name), ())


def _closed_over(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            yield cell.cell_contents


def _is_written_by_python(value: Any) -> bool:
    """Whether it is a method that the dataclass decorator wrote."""
    code = getattr(inspect.unwrap(value) if callable(value) else value, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _names(code: types.CodeType) -> Iterator[str]:
    """All names of globals and attributes in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _is_as_written(code: types.CodeType, path: Path) -> bool:
    """Whether a function is one of its file as it is now: not edited since it was loaded, nor made by exec."""
    return code in _codes(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=COMPILED_FILES)
def _codes(path: Path, stamp: int) -> frozenset[types.CodeType]:
    """Every function of a file; `stamp` tells versions of the file apart."""
    try:
        return frozenset(_within(compile(ast.parse(path.read_bytes()), str(path), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return frozenset()


def _within(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _within(constant)
