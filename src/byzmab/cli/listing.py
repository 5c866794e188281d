"""byzmab list: everything that can be combined."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

MOST_WIDTH = 100
BEHIND_THE_KIND = {"attack": " (without contexts also with careful=1: its reports pass every audit)"}
LONGEST = 300  # characters of parameters; those of a family that a search explores are many more
BY_SEARCH = "many numbers, which byzmab attack search finds; --json explains them"


def show_list(
    kind: Annotated[str | None, typer.Argument(help="one kind alone, as filter", metavar="KIND")] = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else on stdout")] = False,
) -> None:
    """List every filter, policy, attack, graph, family of rewards, drift and algorithm with its parameters."""
    from byzmab.cli.layout import new_console
    from byzmab.cli.show import print_json
    from byzmab.core.errors import unknown
    from byzmab.experiment.catalogue import catalogue

    entries = catalogue()
    if kind is not None:
        if kind not in entries:
            raise unknown("kind", kind, entries)
        entries = {kind: entries[kind]}
    if json:
        print_json(entries)
        return
    width = min(new_console().width, MOST_WIDTH)
    for heading, names in entries.items():
        print(heading + BEHIND_THE_KIND.get(heading, ""))
        for line in _lines(names, width):
            print(line)
        print()


def _lines(names: Mapping[str, Mapping[str, str]], width: int) -> Iterator[str]:
    """Every name with what it does beside it, and its parameters below."""
    margin = 4 + max(map(len, names))
    for name, entry in names.items():
        parameters = entry["parameters"] if len(entry["parameters"]) <= LONGEST else BY_SEARCH
        texts = [entry["about"], *([f"parameters: {parameters}"] if parameters else [])]
        lines = [line for text in texts for line in textwrap.wrap(text, width - margin, break_long_words=True)]
        yield f"  {name:{margin - 4}}  {lines[0]}"
        yield from (" " * margin + line for line in lines[1:])
