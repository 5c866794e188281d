"""Mistakes in a plug-in's functions, told in one sentence with the file, the line and the compiler's reason."""

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba import types

from byzmab.core.compiler import is_ours, own_directory
from byzmab.core.errors import BadInput, nearest

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "(.+)", line (\d+)')
UNKNOWN = re.compile(r"Unknown attribute '(\w+)' of type (\w+)\(")
RAISED = re.compile(r"\.? Raised from (\S+)(?: \((\d+)\))?$")


class Contract(NamedTuple):
    """A compiled function that a plug-in may have: its arguments, by example, and what it must return."""

    arguments: dict[str, Any]
    allowed: str  # what it may return, in words
    returns: Callable[[Any], bool]  # whether a numba type is that


def nothing(kind: Any) -> bool:
    """Whether a function of this return type returns nothing."""
    return bool(kind == types.none)


def a_number(kind: Any) -> bool:
    """Whether it returns a number."""
    return isinstance(kind, types.Float | types.Integer)


def a_whole_number(kind: Any) -> bool:
    """Whether it returns a whole number."""
    return isinstance(kind, types.Integer)


def three_numbers(kind: Any) -> bool:
    """Whether it returns three numbers."""
    number = types.Float | types.Integer
    return isinstance(kind, types.BaseTuple) and len(kind) == 3 and all(isinstance(part, number) for part in kind)


def a_number_and_a_bool(kind: Any) -> bool:
    """Whether it returns a number and a bool."""
    parts = tuple(kind) if isinstance(kind, types.BaseTuple) else ()
    return len(parts) == 2 and isinstance(parts[0], types.Float | types.Integer) and parts[1] == types.boolean


def a_total_and_a_size(kind: Any) -> bool:
    """Whether it returns a number and a whole number."""
    parts = tuple(kind) if isinstance(kind, types.BaseTuple) else ()
    return len(parts) == 2 and isinstance(parts[0], types.Float) and isinstance(parts[1], types.Integer)


_checked: set[Any] = set()


def check_functions(kind: str, functions: Iterable[tuple[str, Any, Contract]]) -> None:
    """Compile a user's own functions by themselves; BadInput where one is none, or breaks its contract."""
    for name, function, contract in functions:
        if function in _checked:
            continue
        if not hasattr(function, "py_func"):
            raise BadInput(
                f"{kind} function {name} {function!r} is not compiled; allowed: a function under @byzmab.compiled"
            )
        if not is_ours(function.py_func):
            _check_once(kind, name, function, contract)
        _checked.add(function)


def _check_once(kind: str, name: str, function: Any, contract: Contract) -> None:
    """Check a user's own function, unless an earlier process has checked it; a note beside its machine code says so."""
    directory = own_directory(function.py_func)
    arguments = " ".join(str(numba.typeof(example)) for example in contract.arguments.values())
    asked = hashlib.sha256(f"{kind} {name}({arguments}) {contract.allowed}".encode()).hexdigest()[:16]
    note = None if directory is None else directory / f"checked-{asked}"
    if note is None or not note.exists():
        _check(kind, name, function, contract)
        if note is not None:
            note.touch()


def _check(kind: str, name: str, function: Any, contract: Contract) -> None:
    source = function.py_func
    line = source.__code__.co_firstlineno
    try:
        inspect.signature(source).bind(*contract.arguments)
    except TypeError:
        wanted = ", ".join(contract.arguments)
        found = ", ".join(inspect.signature(source).parameters)
        raise _mistake(kind, source, line, f"{name}({found}) is not allowed; allowed: {name}({wanted})") from None
    arguments = tuple(numba.typeof(example) for example in contract.arguments.values())
    try:
        function.compile(arguments)
    except Exception as error:  # numba lets through whatever its own code stumbles over
        file, line, reason = reason_of(error, source)
        reason = _with_fields(reason, contract.arguments.values())
        raise _mistake(kind, source, line, reason, file) from error
    returned = function.overloads[arguments].signature.return_type
    if not contract.returns(returned):
        raise _mistake(kind, source, line, f"{name} returns {returned}; allowed: {contract.allowed}")


def _mistake(kind: str, source: Any, line: int, reason: str, file: str | None = None) -> BadInput:
    path = Path(file or source.__code__.co_filename)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return BadInput(f"{kind} file {shown}, line {line}: {reason}")


def reason_of(error: Exception, source: Any) -> tuple[str, int, str]:
    """The file, the line and the reason, in one line, for which a function could not be compiled."""
    own, first = source.__code__.co_filename, source.__code__.co_firstlineno
    lines = [line.strip() for line in COLOURS.sub("", str(error)).splitlines()]
    lines = [
        line for line in lines if line and not line.startswith(("Failed in nopython mode", "- Resolution failure"))
    ]
    reason = lines[0] if lines else type(error).__name__
    if reason.endswith("found for signature:") and len(lines) > 1:
        reason = f"{reason.removesuffix(' for signature:')} for {lines[1].removeprefix('>>> ')}"
    raised = RAISED.search(reason)
    found = next((match for line in lines if (match := PLACE.search(line))), None)
    if found:
        file, line = found[1], int(found[2])
        return (own if Path(own).name == file else file), line, reason
    if raised:
        return own, int(raised[2] or first), reason[: raised.start()]
    located = getattr(error, "loc", None)
    return own, located.line if located else _line_naming(reason, source), reason


def _with_fields(reason: str, examples: Iterable[Any]) -> str:
    """The reason; for a field that there is not, with those that there are instead of all their types."""
    fields = {type(example).__name__: example._fields for example in examples if hasattr(example, "_fields")}
    found = UNKNOWN.match(reason)
    if found is None or found[2] not in fields:
        return reason
    return f"{found[2]} has no {found[1]!r}; {nearest(found[1], fields[found[2]])}"


def _line_naming(reason: str, source: Any) -> int:
    """The first line of a function that holds a name quoted in the reason; its first line where none does."""
    lines, first = inspect.getsourcelines(source)
    for name in re.findall(r"'(\w+)'", reason)[::-1]:
        for number, line in enumerate(lines):
            if re.search(rf"\b{name}\b", line):
                return first + number
    return first
