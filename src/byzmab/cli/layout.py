"""Tables that fit a terminal: as they are, else a few columns at a time, else a line for each value; nothing is cut."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from byzmab.simulation.progress import DUMB

if TYPE_CHECKING:
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

FILE_WIDTH = 140  # of tables that go to a file or a pipe


def new_table(title: str, left: Sequence[str], right: Sequence[str], sentences: bool = False) -> "Table":
    """A table with words in the columns on the left, or sentences that may wrap, and numbers in those on the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=_box())
    for heading in left:
        table.add_column(heading, no_wrap=not sentences)
    for heading in right:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(table: "Table") -> None:
    """Print a table; where the terminal is too narrow, in parts that fit."""
    console = new_console()
    for part in _fitting(table, console):
        console.print(part)


def new_console() -> "Console":
    """The console on stdout, as wide as the terminal, or wide enough for a file."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else FILE_WIDTH, highlight=False)


def _box() -> "Box":
    """Lines that the terminal can draw."""
    from rich import box

    plain = os.environ.get("TERM") in DUMB or "utf" not in (sys.stdout.encoding or "").lower()
    return box.ASCII2 if plain else box.HEAVY_HEAD


def _width(table: "Table", console: "Console") -> int:
    """How wide a table is with nothing cut or wrapped."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def _fitting(table: "Table", console: "Console") -> "Iterator[Table | str]":
    """The table itself, or parts of it that fit."""
    if _width(table, console) <= console.width or not all(column.no_wrap for column in table.columns):
        yield table
        return
    numbers = [index for index, column in enumerate(table.columns) if column.justify == "right"]
    words = [index for index in range(len(table.columns)) if index not in numbers]
    widest = max((_width(_columns(table, [*words, number]), console) for number in numbers), default=console.width + 1)
    if table.row_count == 1 or widest > console.width:
        yield _records(table)
        return
    chosen: list[int] = []
    for number in numbers:
        if _width(_columns(table, [*words, *chosen, number]), console) > console.width:
            yield _columns(table, [*words, *chosen])
            chosen = []
        chosen.append(number)
    yield _columns(table, [*words, *chosen])


def _columns(table: "Table", wanted: Sequence[int]) -> "Table":
    """Some of the columns of a table."""
    columns = [table.columns[index] for index in wanted]
    left = [str(column.header) for column in columns if column.justify != "right"]
    part = new_table(str(table.title), left, [str(column.header) for column in columns if column.justify == "right"])
    for cells in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*cells)
    return part


def _records(table: "Table") -> str:
    """Every row as lines of heading and value."""
    from rich.text import Text

    headings = [str(column.header) for column in table.columns]
    width = max(map(len, headings))
    rows = zip(*(column.cells for column in table.columns), strict=True)
    blocks = []
    for row in rows:
        pairs = zip(headings, (Text.from_markup(str(cell)) for cell in row), strict=True)
        blocks.append("\n".join(f"  {heading:{width}}  {cell}" for heading, cell in pairs))
    return f"{table.title}\n" + "\n\n".join(blocks)
