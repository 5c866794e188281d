"""Plug-ins: how filters, policies, attacks and graphs are registered, named and found."""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from byzmab.core.errors import BadInput, unknown

FILE_MODULE = "byzmab_plugin_"  # how the names of modules begin that were loaded from a file named by the user


@dataclass(frozen=True)
class Plugin:
    """A named part of an experiment, with parameters that can be written after a colon."""

    kind: ClassVar[str]
    function: ClassVar[str]  # the compiled function that it cannot do without
    parameters: ClassVar[str] = ""  # what may stand after the colon, for `byzmab list`

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Make one from the text after its name's colon: numbers for its fields; empty where there was none."""
        places = fields(cls)
        parts = text.split(",") if text else []
        try:
            if len(parts) > len(places):
                raise ValueError
            return cls(
                *(
                    int(part) if place.type in (int, "int") else float(part)
                    for part, place in zip(parts, places, strict=False)
                )
            )
        except BadInput:
            raise
        except (TypeError, ValueError):
            raise cls.misunderstood(text) from None

    @classmethod
    def misunderstood(cls, text: Any) -> BadInput:
        """The error for parameters that are not allowed."""
        return BadInput(f"{cls.kind} parameters {text!r} are not understood; allowed: {cls.parameters or 'none'}")

    def to_text(self) -> str:
        """The text from which `from_text` makes the same again."""
        return ",".join(str(getattr(self, place.name)) for place in fields(self))

    @property
    def knobs(self) -> tuple[float, ...]:
        """The parameters as the compiled functions get them: numbers, in the order of the fields."""
        return tuple(float(getattr(self, field.name)) for field in fields(self))


class Registry:
    """The plug-ins of one kind by name."""

    def __init__(self, base: type[Plugin], entries: Mapping[str, type[Plugin]]) -> None:
        self.base = base
        self.entries = dict(entries)

    def resolve(self, wanted: Any) -> Any:
        """The plug-in that is meant by an instance, a class, a name or the place of a user's own class."""
        if isinstance(wanted, self.base):
            return wanted
        if isinstance(wanted, type) and issubclass(wanted, self.base):
            return wanted()
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

    def _load(self, wanted: str, place: str, class_name: str) -> type[Plugin]:
        module = _import(f"{self.base.kind} {wanted!r}", place)
        if module is None:
            raise self._unknown(wanted)
        found = getattr(module, class_name, None)
        if not (isinstance(found, type) and issubclass(found, self.base)):
            base = f"byzmab.{self.base.__name__}"
            raise BadInput(f"{self.base.kind} {wanted!r}: {place} has no class {class_name!r} derived from {base}")
        if not hasattr(found, self.base.function):
            raise BadInput(f"{self.base.kind} {wanted!r}: {class_name} has no function {self.base.function!r}")
        return found

    def name_of(self, plugin: Plugin) -> str:
        """The text by which a plug-in is resolved again: its registered name, or module:Class, and its parameters."""
        names = (name for name, entry in self.entries.items() if type(plugin) is entry)
        name = next(names, f"{type(plugin).__module__}:{type(plugin).__name__}")
        text = plugin.to_text()
        return f"{name}:{text}" if text else name


def _import(what: str, place: str) -> Any:
    """Import a user's module, by file or by name, the current directory first; None if there is none."""
    path = Path(place if place.endswith(".py") else f"{place.replace('.', '/')}.py").absolute()
    if "\0" in place or (place.endswith(".py") and not path.is_file()):
        raise BadInput(f"{what}: there is no file {place!r}")
    if not path.is_file():
        return _execute(what, place, lambda: importlib.import_module(place)) if _exists(what, place) else None
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
    _execute(what, place, lambda: loader.exec_module(module))
    return module


def _exists(what: str, place: str) -> bool:
    try:
        return importlib.util.find_spec(place) is not None
    except (ImportError, ValueError):
        return False
    except Exception as error:
        raise BadInput(f"{what}: importing {place} failed: {type(error).__name__}: {error}") from error


def _execute(what: str, place: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except (Exception, SystemExit) as error:
        raise BadInput(f"{what}: importing {place} failed: {type(error).__name__}: {error}") from error
