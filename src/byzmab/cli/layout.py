"""Tables that fit a terminal.

A table is printed once. Columns whose cells are all equal stand in a line above it. Where the terminal is too narrow,
headings are first broken over several lines. Then columns are left out, those of the highest rank first and of equal
ranks the rightmost, and a line below names them. If the rest is still too wide, words wrap; numbers are never cut.
"""

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from byzmab.simulation.progress import DUMB

if TYPE_CHECKING:
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table as RichTable

FILE_WIDTH = 140  # of tables that go to a file or a pipe


class Column(NamedTuple):
    """A column: words on the left, or numbers on the right."""

    heading: str
    number: bool = False
    rank: int = 0  # the highest is left out first; 0 never


@dataclass
class Table:
    """A table as data, before it is known how wide it may be."""

    title: str
    columns: Sequence[Column]
    rows: list[Sequence[str]] = field(default_factory=list)
    grouped: bool = False  # whether a line stands between rows whose first cells differ
    sentences: bool = False  # whether words wrap rather than columns being left out
    dimmed: set[int] = field(default_factory=set)  # numbers of rows in a weaker colour

    def add(self, *cells: str, dim: bool = False) -> None:
        """Add a row."""
        if dim:
            self.dimmed.add(len(self.rows))
        self.rows.append(cells)


def words(*headings: str, rank: int = 0) -> list[Column]:
    """Return columns of words."""
    return [Column(heading, False, rank) for heading in headings]


def numbers(*headings: str, rank: int = 0) -> list[Column]:
    """Return columns of numbers."""
    return [Column(heading, True, rank) for heading in headings]


def print_table(table: Table) -> None:
    """Print a table once, as wide as the terminal allows."""
    console = new_console()
    constant, varied = _split(table)
    told = [f"{table.columns[index].heading} {table.rows[0][index]}" for index in constant]
    for line in filter(None, [table.title, "; ".join(told)]):
        for part in textwrap.wrap(line, console.width, break_on_hyphens=False):
            console.print(part)
    drawn, left_out = _fitted(table, varied, console)
    console.print(drawn)
    if left_out:
        names = ", ".join(table.columns[index].heading for index in left_out)
        more = f"left out at {console.width} columns: {names}; a wider terminal or --json has them"
        for part in textwrap.wrap(more, console.width, break_on_hyphens=False):
            console.print(part)


def live_table(table: Table, console: "Console") -> "RichTable":
    """Return a table as it fits a console now, with its title, for a display that is drawn again and again."""
    drawn, _ = _fitted(table, range(len(table.columns)), console)
    drawn.title, drawn.title_justify = table.title, "left"
    return drawn


def new_console() -> "Console":
    """Return the console on stdout, as wide as the terminal, or wide enough for a file."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else FILE_WIDTH, highlight=False)


def _split(table: Table) -> tuple[list[int], list[int]]:
    """Return the columns that are equal in all of several rows, and the others; what is never left out stays."""
    constant = [
        index
        for index, column in enumerate(table.columns)
        if len(table.rows) > 1
        and not (column.number and column.rank == 0)
        and len({row[index] for row in table.rows}) == 1
    ]
    varied = [index for index in range(len(table.columns)) if index not in constant]
    return (constant, varied) if varied else ([], constant)


def _fitted(table: Table, shown: Sequence[int], console: "Console") -> "tuple[RichTable, list[int]]":
    """Return what is drawn of some columns, and those that were left out."""
    chosen = list(shown)
    drawn = _draw(table, chosen, broken=False)
    if not table.sentences and _width(drawn, console) > console.width:
        drawn = _draw(table, chosen, broken=True)
        for index in _order(table, shown):
            if _width(drawn, console) <= console.width:
                break
            chosen.remove(index)
            drawn = _draw(table, chosen, broken=True)
    if _width(drawn, console) > console.width:
        for column in drawn.columns:
            column.no_wrap = column.justify == "right"
    return drawn, [index for index in shown if index not in chosen]


def _order(table: Table, shown: Sequence[int]) -> Iterator[int]:
    """Yield columns in the order in which they are left out."""
    droppable = [index for index in shown if table.columns[index].rank > 0]
    yield from sorted(droppable, key=lambda index: (-table.columns[index].rank, -index))


def _draw(table: Table, chosen: Sequence[int], broken: bool) -> "RichTable":
    """Return a table of some columns; headings are broken at spaces where they must be narrow."""
    from rich.table import Table as RichTable

    drawn = RichTable(box=_box())
    for index in chosen:
        heading, number, _ = table.columns[index]
        text = heading.replace(" ", "\n") if broken else heading
        drawn.add_column(
            text, justify="right" if number else "left", no_wrap=not table.sentences or number, overflow="fold"
        )
    for place, row in enumerate(table.rows):
        ends = table.grouped and place + 1 < len(table.rows) and row[0] != table.rows[place + 1][0]
        style = "dim" if place in table.dimmed else None
        drawn.add_row(*(row[index] for index in chosen), end_section=ends, style=style)
    return drawn


def _box() -> "Box":
    """Return lines that the terminal can draw."""
    from rich import box

    plain = os.environ.get("TERM") in DUMB or "utf" not in (sys.stdout.encoding or "").lower()
    return box.ASCII2 if plain else box.HEAVY_HEAD


def _width(drawn: "RichTable", console: "Console") -> int:
    """Return how wide a table is with nothing cut or wrapped."""
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(width=10_000), drawn).maximum
