"""A table of past counts with which a node begins: a CSV file with the columns arm, pulls and mean."""

import csv
from collections.abc import Iterable
from pathlib import Path

from byzmab.core.errors import BadInput

COLUMNS = ("arm", "pulls", "mean")


def read_past_counts(path: str | Path) -> dict[str, tuple[int, float]]:
    """Pulls and mean by arm, or BadInput with the line that is wrong; what they may be is the agent's to check."""
    name = f"table {str(path)!r}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from None
    try:
        return _parse(csv.reader(text.splitlines(), strict=True), name)
    except csv.Error as error:
        raise BadInput(f"{name} is not CSV: {error}") from None


def _parse(rows: Iterable[list[str]], name: str) -> dict[str, tuple[int, float]]:
    counts: dict[str, tuple[int, float]] = {}
    for line, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if line == 1:
            if sorted(cells) != sorted(COLUMNS):
                raise BadInput(f"{name}, line 1: the columns are not allowed; allowed: {', '.join(COLUMNS)}")
            order = [cells.index(column) for column in COLUMNS]
        elif any(cells):
            if len(cells) != len(COLUMNS):
                raise BadInput(f"{name}, line {line}: {len(cells)} cells are not allowed; allowed: {len(COLUMNS)}")
            arm, pulls, mean = (cells[column] for column in order)
            if arm in counts:
                raise BadInput(f"{name}, line {line}: arm {arm!r} is there twice; allowed: each once")
            counts[arm] = _numbers(pulls, mean, f"{name}, line {line}")
    if not counts:
        raise BadInput(f"{name} holds no counts; allowed: a line with {', '.join(COLUMNS)}, then one for each arm")
    return counts


def _numbers(pulls: str, mean: str, where: str) -> tuple[int, float]:
    try:
        return int(pulls), float(mean)
    except ValueError:
        wrong = f"{pulls!r} pulls with mean {mean!r} are not allowed"
        raise BadInput(f"{where}: {wrong}; allowed: whole pulls, and a number in [0, 1]") from None
