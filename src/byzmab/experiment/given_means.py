"""The arms' means as given: for all agents or for each, for all rounds or from some rounds on; also by a CSV file."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput

MOST_ARMS = 2_000_000_000
AGENT, ROUND = "agent", "round"  # columns of a file; all others are arms
ALLOWED = (
    "two or more means in [0, 1], a list of these for each agent, a table of round = either of these, "
    "FILE.csv, or random:M with M of at least 2"
)

Table = tuple[tuple[float, ...], ...]


class GivenMeans(NamedTuple):
    """Means as given; those of `random:M` are drawn in every run."""

    arms: int
    rounds: tuple[int, ...] = (1,)  # from which on each table is in force, ascending from 1
    tables: tuple[Table, ...] = ()  # rows × arms, one row for all agents or one for each; empty where drawn

    @property
    def agents(self) -> int | None:
        """How many agents there are, where each has means of its own."""
        rows = len(self.tables[0]) if self.tables else 1
        return rows if rows > 1 else None

    @property
    def common(self) -> tuple[float, ...] | None:
        """What agents have in common of the means at first: their average; None where drawn."""
        return tuple(np.mean(self.tables[0], axis=0).tolist()) if self.agents else next(iter(self.tables), (None,))[0]


def resolve_arms(arms: Any) -> GivenMeans:
    """The means that a setting stands for, or BadInput."""
    if isinstance(arms, str):
        name, _, count = arms.partition(":")
        if name != "random" or not count.isdecimal() or not 2 <= int(count) <= MOST_ARMS:
            raise _not_allowed(arms)
        return GivenMeans(int(count))
    if isinstance(arms, Mapping):
        return _scheduled(arms)
    table = _table(arms, arms)
    return GivenMeans(len(table[0]), (1,), (table,))


def _scheduled(arms: Mapping[Any, Any]) -> GivenMeans:
    """Means from some rounds on."""
    if any(not str(when).isdecimal() for when in arms):
        raise _not_allowed(dict(arms))
    scheduled = {int(when): _table(means, arms) for when, means in arms.items()}
    tables = tuple(scheduled[when] for when in sorted(scheduled))
    if 1 not in scheduled or 0 in scheduled or len({(len(table), len(table[0])) for table in tables}) > 1:
        raise BadInput(
            f"arms {_shown(dict(arms))} is not allowed; allowed: means from round 1 on, and as many arms and agents "
            "from each later round on"
        )
    return GivenMeans(len(tables[0][0]), tuple(sorted(scheduled)), tables)


def _table(means: Any, arms: Any) -> Table:
    """Means of all agents, or of each, as rows."""
    if isinstance(means, str) or not isinstance(means, Sequence) or len(means) < 2:
        raise _not_allowed(arms)
    listed = isinstance(means[0], Sequence) and not isinstance(means[0], str)
    rows = means if listed else [means]
    if any(isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(rows[0]) for row in rows):
        raise _not_allowed(arms)
    if len(rows[0]) < 2 or not all(_is_mean(mean) for row in rows for mean in row):
        raise _not_allowed(arms)
    return tuple(tuple(map(float, row)) for row in rows)


def _is_mean(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def _not_allowed(arms: Any) -> BadInput:
    return BadInput(f"arms {_shown(arms)} is not allowed; allowed: {ALLOWED}")


def _shown(arms: Any) -> str:
    text = repr(arms)
    return text if len(text) <= 80 else f"{text[:77]}…"


def read_means(path: str) -> Any:
    """The means in a CSV file, as plain data that `resolve_arms` takes; BadInput where it cannot be read.

    Its first line names the columns: `agent` and `round` if wanted, and one for each arm.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            names, *lines = [line for line in csv.reader(file) if line] or [[]]
    except (OSError, ValueError, csv.Error) as error:
        raise BadInput(f"arms {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    names = [name.strip() for name in names]
    if not lines:
        raise BadInput(f"arms {path!r} holds no means; allowed: a line of names, then lines of numbers")
    rows = [_row(path, number, names, line) for number, line in enumerate(lines, 2)]
    arms = [name for name in names if name not in (AGENT, ROUND)]
    by_round: dict[int, dict[int, list[float]]] = {}
    for row in rows:
        table = by_round.setdefault(int(row.get(ROUND, 1)), {})
        if table.setdefault(int(row.get(AGENT, 1)), means := [row[arm] for arm in arms]) is not means:
            raise BadInput(f"arms {path!r} gives means twice; allowed: once for each agent and round")
    tables = {str(when): _agents(path, table, AGENT in names) for when, table in sorted(by_round.items())}
    return tables if ROUND in names else next(iter(tables.values()))


def _row(path: str, number: int, names: list[str], line: list[str]) -> dict[str, float]:
    """A line's numbers by name."""
    try:
        row = dict(zip(names, map(float, line), strict=True))
    except ValueError:
        raise BadInput(f"arms {path!r}, line {number} is not understood; allowed: {len(names)} numbers") from None
    if not all(row.get(name, 1.0).is_integer() for name in (AGENT, ROUND)):
        raise BadInput(f"arms {path!r}, line {number} is not allowed; allowed: whole numbers of agent and round")
    return row


def _agents(path: str, table: dict[int, list[float]], listed: bool) -> Any:
    """One round's means: of each agent by ascending number, or of all."""
    if not listed:
        return table[1]
    if sorted(table) != list(range(1, len(table) + 1)):
        raise BadInput(f"arms {path!r} leaves an agent out; allowed: agents 1 to N, each in every round that is given")
    return [table[agent] for agent in sorted(table)]
