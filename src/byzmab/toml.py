"""TOML files: read, so that every mistake in them is told with its line, and written."""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput


@dataclass(frozen=True)
class TomlFile:
    """A TOML file that was read: its content, and its text for line numbers."""

    name: str  # what it is and where, for messages: experiment file 'a.toml'
    text: str
    data: dict[str, Any]

    def at(self, key: str) -> str:
        """The file and the line of a key such as `kappa`, `grid.kappa` or `neighbours[0].key`, for messages."""
        return f"{self.name}, line {line_of(self.text, key)}"


def read_toml(path: str | Path, what: str) -> TomlFile:
    """Read a file; `what` it is, for messages. BadInput if it cannot be read or is not TOML."""
    name = f"{what} {str(path)!r}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # some editors put a mark before the first line
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse_toml(text, name)


def parse_toml(text: str, name: str) -> TomlFile:
    """Read a file's text; BadInput if it is not TOML."""
    try:
        return TomlFile(name, text, tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        quotes = '; a text stands in quotes: filter = "trimmed"' if str(error).startswith("Invalid value") else ""
        raise BadInput(f"{name} is not TOML: {error}{quotes}") from None


def line_of(text: str, key: str) -> int:
    """The line of a key, numbered from 1; of its table if the key is not there; `-` is as good as `_`."""
    table, _, key = re.sub(r"\[\d+\]$", "", key).rpartition(".")
    lines = text.splitlines()
    name, _, number = table.rstrip("]").partition("[")
    heads = [index for index, line in enumerate(lines) if re.match(rf"\s*\[+\s*{re.escape(name)}\s*\]", line)]
    first = heads[min(int(number or 0), len(heads) - 1)] if table and heads else 0
    spelt = re.escape(key.replace("-", "_")).replace("_", "[-_]")
    for index in range(first, len(lines)):
        if re.match(rf'\s*\[*\s*["\']?{spelt}\b', lines[index]):
            return index + 1
    return first + 1


def toml_line(key: str, value: Any) -> str:
    """One line that gives a key a value: a text, a number, true or false, or a list or a table of these."""
    return f"{key} = {_toml_value(value)}"


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_value(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
