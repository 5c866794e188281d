"""The flags in the reference of the command line are those of the program, and every built-in part is on its page.

`BYZMAB_WRITE_DOCS=1 pytest tests/test_reference.py` writes the tables of flags anew.
"""

import os
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from byzmab.cli.main import app
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import ALGORITHMS, PLUGINS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
FLAGS = re.compile(r"<!-- flags of (byzmab [a-z -]+), from the program -->\n(.*?)<!-- end -->", re.S)
PAGES = {  # where each kind of plug-in is told of, in docs/concepts/
    "graph": ["graphs"],
    "attack": ["attacks", "contexts"],
    "filter": ["filters"],
    "policy": ["policies"],
    "rewards": ["rewards"],
    "drift": ["worlds"],
    "algorithm": ["baselines", "baselines-mixing", "baselines-gossip", "baselines-elimination", "contexts"],
}
WRITE = "BYZMAB_WRITE_DOCS" in os.environ
SIMULATE = "byzmab simulate"
REPEATED = {("--out",), ("--overwrite",), ("--json",), ("--workers",)}  # in every table


def commands(command=None, name="byzmab"):
    """All commands of the program by the words that call them."""
    command = command or typer.main.get_command(app)
    if not hasattr(command, "commands"):
        return {name: command}
    return {
        words: found
        for each, sub in command.commands.items()
        for words, found in commands(sub, f"{name} {each}").items()
    }


COMMANDS = commands()


def flags(command):
    return {tuple(item.opts): item for item in command.params if item.param_type_name == "option" and not item.hidden}


def default_of(option):
    """What holds if the flag is not given: of a setting as `Experiment()` has it, else as the program says."""
    name = option.name
    value = option.default
    if value is None and option in flags(COMMANDS[SIMULATE]).values() and name in Experiment.__dataclass_fields__:
        value = getattr(Experiment(), name)
    if value is None or value is False:
        return ""
    if value is True:
        return f"`{option.opts[0]}`"
    return f"`{','.join(map(str, value)) if isinstance(value, list | tuple) else value}`"


def table(words):
    """The rows of a command; flags of `simulate` are not repeated by those that take an experiment."""
    command, rows = COMMANDS[words], ["| flag | default | meaning |", "|---|---|---|"]
    experiment = words != SIMULATE and ("--kappa",) in flags(command) and ("--subset",) in flags(command)
    if experiment:
        rows.insert(0, "The flags of [simulate](#byzmab-simulate), and:\n")
    for opts, option in flags(command).items():
        if experiment and opts in flags(COMMANDS[SIMULATE]) and opts not in REPEATED:
            continue
        shown = ", ".join(f"`{flag}`" for flag in (*opts, *option.secondary_opts))
        meaning = option.help.replace("|", "\\|")
        rows.append(f"| {shown} | {default_of(option)} | {meaning} |")
    return "\n".join(rows) + "\n"


def test_every_command_with_flags_has_its_table():
    wanted = {words for words, command in COMMANDS.items() if flags(command)}
    assert {match[1] for match in FLAGS.finditer(PAGE.read_text())} == wanted


@pytest.mark.parametrize("words", [match[1] for match in FLAGS.finditer(PAGE.read_text())])
def test_the_flags_of_the_page_are_those_of_the_program(words):
    text = PAGE.read_text()
    (match,) = (match for match in FLAGS.finditer(text) if match[1] == words)
    if WRITE:
        PAGE.write_text(text[: match.start(2)] + "\n" + table(words) + "\n" + text[match.end(2) :])
    else:
        assert match[2].strip() == table(words).strip()


def test_every_command_shows_its_help():
    """In this process, so that `make lowest` tries it with the oldest typer that is allowed."""
    for words in ("byzmab", "byzmab attack", "byzmab node", "byzmab evidence", *COMMANDS):
        shown = CliRunner().invoke(app, [*words.split()[1:], "--help"])
        assert shown.exit_code == 0 and f"Usage: {words}" in shown.output, (words, shown.exception)


@pytest.mark.parametrize("kind", PAGES)
def test_every_built_in_part_is_on_its_page(kind):
    text = "".join((PAGE.parents[1] / "concepts" / f"{name}.md").read_text() for name in PAGES[kind])
    missing = [name for name in {**PLUGINS, "algorithm": ALGORITHMS}[kind].entries if f"`{name}" not in text]
    assert not missing, f"tell of {missing} in docs/concepts/{PAGES[kind][0]}.md"
