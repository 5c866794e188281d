"""Plug-ins: how filters, policies, attacks and graphs are registered, named and found."""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from byzmab.core.errors import BadInput, unknown

FILE_MODULE = "byzmab_plugin_"  # how the names of modules begin that were loaded from a file named by the user


@dataclass(frozen=True)
class Plugin:
    """A named part of an experiment, whose fields are its parameters: they can be written after a colon.

    `ucb:0.25` gives them by position, `ucb:alpha=0.25` by name; those not given keep their defaults.
    """

    kind: ClassVar[str]
    function: ClassVar[str]  # the compiled function that it cannot do without
    by_name: ClassVar[tuple[str, ...]] = ()  # fields given by name alone, and of which compiled functions know nothing
    words: ClassVar[Mapping[str, float]] = {}  # numbers that have a name
    parameters: ClassVar[str] = ""  # what may stand after the colon, for `byzmab list`

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make one from the text after its name's colon; empty where there was none."""
        try:
            return cls(**cls._values(text))
        except BadInput:
            raise
        except (TypeError, ValueError):
            raise cls.misunderstood(text) from None

    @classmethod
    def whole(cls) -> type[Self]:
        """This class, or BadInput where it lacks the function that it cannot do without."""
        if not hasattr(cls, cls.function):
            raise BadInput(f"{cls.kind} {cls.__name__} has no function {cls.function!r}")
        return cls

    @classmethod
    def _values(cls, text: str) -> dict[str, int | float]:
        """The numbers in a text, by the name of their field; ValueError where it is not understood."""
        known = {item.name: item for item in fields(cls)}
        placed = [item.name for item in cls._placed()]
        values: dict[str, int | float] = {}
        by_name = False  # from the first name on, all have theirs
        for number, part in enumerate(text.split(",") if text else []):
            name, equals, value = (words.strip() for words in part.partition("="))
            by_name |= bool(equals)
            if not by_name:
                name, value = placed[number] if number < len(placed) else "", part
            if name not in known or name in values or by_name != bool(equals):
                raise ValueError(part)
            meant: float | str = cls.words.get(value.strip(), value)
            values[name] = int(meant) if known[name].type in (int, "int") else float(meant)
        return values

    @classmethod
    def misunderstood(cls, text: Any) -> BadInput:
        """The error for parameters that are not allowed."""
        named = (f"{item.name}={_shown(item.default)}" for item in fields(cls) if item.name in cls.by_name)
        allowed = "; ".join(filter(None, [cls.allowed(), *named]))
        return BadInput(f"{cls.kind} parameters {text!r} are not understood; allowed: {allowed or 'none'}")

    @classmethod
    def allowed(cls) -> str:
        """What may stand after the colon: `parameters`, or the fields with their defaults."""
        placed = cls._placed()
        given = (f"{item.name}={_shown(item.default)}" for item in placed if isinstance(item.default, int | float))
        required = (f"{item.name}=…" for item in placed if item.default is MISSING)
        return cls.parameters or ", ".join([*required, *given])

    def to_text(self) -> str:
        """The shortest text from which `from_text` makes the same again: only what differs from the defaults."""
        told = [(item.name, _shown(getattr(self, item.name))) for item in fields(self) if self._differs(item)]
        if [name for name, _ in told] == [item.name for item in self._placed()[: len(told)]]:
            return ",".join(value for _, value in told)
        return ",".join(f"{name}={value}" for name, value in told)

    def _differs(self, item: Field[Any]) -> bool:
        return item.default is MISSING or getattr(self, item.name) != item.default

    @classmethod
    def _placed(cls) -> list[Field[Any]]:
        """The fields that can be given by position, in their order."""
        return [item for item in fields(cls) if item.name not in cls.by_name]

    @property
    def params(self) -> tuple[float, ...]:
        """The parameters as the compiled functions get them: numbers, in the order of the fields."""
        try:
            return tuple(float(getattr(self, item.name)) for item in self._placed())
        except (TypeError, ValueError):
            raise BadInput(f"{self.kind} {self!r} has a field that is no number; allowed: numbers") from None


def _shown(value: Any) -> str:
    """A parameter as short text: 2.0 is 2."""
    return repr(value).removesuffix(".0")


class Registry:
    """The plug-ins of one kind by name."""

    def __init__(self, base: type[Plugin], entries: Mapping[str, type[Plugin]]) -> None:
        self.base = base
        self.entries = dict(entries)

    def resolve(self, wanted: Any) -> Any:
        """The plug-in that is meant by an instance, a class, a name, or `file.py:Name` of a user's own class."""
        if isinstance(wanted, self.base):
            return wanted
        if isinstance(wanted, type) and issubclass(wanted, self.base):
            return wanted.whole()()
        if not isinstance(wanted, str):
            raise BadInput(f"{self.base.kind} {wanted!r} is not allowed; allowed: a name, or a {self.base.__name__}")
        name, colon, text = wanted.partition(":")
        if name in self.entries:
            return self.entries[name].from_text(text)
        if not colon:
            raise self._unknown(wanted)
        class_name, _, text = text.partition(":")
        found = self._load(wanted, name, class_name)
        try:
            return found.from_text(text)
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"{self.base.kind} {wanted!r}: making it failed: {type(error).__name__}: {error}") from error

    def _unknown(self, wanted: str) -> BadInput:
        return BadInput(f"{unknown(self.base.kind, wanted, self.entries)}, or your own as file.py:Name")

    def _load(self, wanted: str, where: str, class_name: str) -> type[Plugin]:
        module = import_named(f"{self.base.kind} {wanted!r}", where)
        if module is None:
            raise self._unknown(wanted)
        found = getattr(module, class_name, None)
        if not (isinstance(found, type) and issubclass(found, self.base)):
            base = f"byzmab.{self.base.__name__}"
            raise BadInput(f"{self.base.kind} {wanted!r}: {where} has no class {class_name!r} derived from {base}")
        return found.whole()

    def name_of(self, plugin: Plugin) -> str:
        """The text by which a plug-in is resolved again: its registered name, or module:Class, and its parameters."""
        names = (name for name, entry in self.entries.items() if type(plugin) is entry)
        name = next(names, f"{type(plugin).__module__}:{type(plugin).__name__}")
        text = plugin.to_text()
        return f"{name}:{text}" if text else name


def import_named(what: str, where: str) -> Any:
    """Import a user's module, by file or by name, the current directory first; None if there is none."""
    path = Path(where if where.endswith(".py") else f"{where.replace('.', '/')}.py").absolute()
    if "\0" in where or (where.endswith(".py") and not path.is_file()):
        raise BadInput(f"{what}: there is no file {where!r}")
    if not path.is_file():
        return _execute(what, where, lambda: importlib.import_module(where)) if _exists(what, where) else None
    # a name of its own, so that a file called like a module of Python's or ours takes nobody's place
    name = f"{FILE_MODULE}{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    stamp = path.stat().st_mtime_ns
    if name in sys.modules and getattr(sys.modules[name], "__byzmab_stamp__", None) == stamp:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # so that it finds the files beside it
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a file that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    module.__byzmab_stamp__ = stamp  # type: ignore[attr-defined]
    sys.modules[name] = module
    loader = spec.loader
    _execute(what, where, lambda: loader.exec_module(module))
    return module


def _exists(what: str, where: str) -> bool:
    try:
        return importlib.util.find_spec(where) is not None
    except (ImportError, ValueError):
        return False
    except Exception as error:
        raise BadInput(f"{what}: importing {where} failed: {type(error).__name__}: {error}") from error


def _execute(what: str, where: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (Exception, SystemExit) as error:
        raise BadInput(f"{what}: importing {where} failed: {type(error).__name__}: {error}") from error
