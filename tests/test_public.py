"""What users rely on changes only on purpose: names of Python, flags of commands, and the HTTP of a node, against public.txt.

`BYZMAB_WRITE_DOCS=1 pytest tests/test_public.py` writes the file anew; docs/stability.md says what a version may change.
"""

import difflib
import inspect
import os
from pathlib import Path

import pytest
from test_reference import COMMANDS

import byzmab

FILE = Path(__file__).parent / "public.txt"
WRITE = "BYZMAB_WRITE_DOCS" in os.environ


def signature(item):
    """Return the parameters of something that can be called; addresses in defaults change from run to run."""
    try:
        parameters = inspect.signature(item).parameters.values()
    except (TypeError, ValueError):
        return ""
    names = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return f"({', '.join(str(name) for name in names if name.name != 'self')})".partition(" at 0x")[0]


def python():
    """Return a line for each public name, and one for each public member of a class of ours."""
    lines = []
    for name in byzmab.__all__:
        item = getattr(byzmab, name)
        lines.append(f"byzmab.{name}{signature(item) if callable(item) else ''}")
        if isinstance(item, type):
            members = {member for kind in item.__mro__ if kind.__module__.startswith("byzmab") for member in vars(kind)}
            for member in sorted(member for member in members if not member.startswith("_")):
                found = inspect.getattr_static(item, member)
                is_function = isinstance(found, (classmethod, staticmethod)) or inspect.isfunction(found)
                lines.append(f"byzmab.{name}.{member}{signature(getattr(item, member)) if is_function else ''}")
    return lines


def command_line():
    """Return a line for each option and argument of each command."""
    return [
        f"{words} {' '.join((*item.opts, *item.secondary_opts))}"
        for words, command in COMMANDS.items()
        for item in command.params
        if not getattr(item, "hidden", False)
    ]


def http():
    """Return a line for each path and method, with its status codes, and one for each field of a body."""
    pytest.importorskip("litestar")
    from types import SimpleNamespace
    from unittest.mock import MagicMock

    from byzmab.node.routes import make_app

    document = make_app(MagicMock(host=SimpleNamespace(max_frame=0))).openapi_schema.to_schema()
    lines = [
        f"{method.upper()} {path} {' '.join(sorted(operation['responses']))}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = document["components"]["schemas"]
    return lines + [f"{name}.{field}" for name in sorted(schemas) for field in schemas[name].get("properties", ())]


@pytest.mark.parametrize("part", [python, command_line, http], ids=["Python", "command line", "HTTP"])
def test_what_is_public_changes_only_on_purpose(part):
    heading, now = f"# {part.__name__}", [part.__name__, *part()]
    parts = {text.splitlines()[0]: text.strip().splitlines() for text in FILE.read_text().split("# ") if text.strip()}
    if WRITE:
        parts[part.__name__] = now
        FILE.write_text("\n".join(f"# {chr(10).join(lines)}\n" for lines in parts.values()))
        return
    difference = list(difflib.unified_diff(parts[part.__name__], now, "public.txt", "the program", lineterm="", n=0))
    assert not difference, "\n".join([heading, *difference, "if this is meant: BYZMAB_WRITE_DOCS=1, and the changelog"])
