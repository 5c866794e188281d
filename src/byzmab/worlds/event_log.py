"""Logs of real events: which arm was pulled, its reward and, if known, the agent and the chance of the pull."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput
from byzmab.extras import needs_extra

ARM, REWARD, AGENT, PROPENSITY = "arm", "reward", "agent", "propensity"  # columns; others are left alone


class Event(NamedTuple):
    """One pull that was logged."""

    arm: str
    reward: float  # in [0, 1]
    agent: int = 0  # from 1; 0 where the log does not tell
    propensity: float = 0.0  # the chance with which this arm was chosen; 0 where the log does not tell


def read_events(path: str) -> list[Event]:
    """The events of a CSV or Parquet file in its order; BadInput where it cannot be read."""
    try:
        rows = _read_parquet(path) if path.endswith(".parquet") else _read_csv(path)
    except ImportError as error:
        raise BadInput(
            f"log {path!r} cannot be read: {error}; allowed: CSV, or Parquet with pyarrow installed"
        ) from None
    except (OSError, ValueError, csv.Error) as error:
        raise BadInput(f"log {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    missing = [name for name in (ARM, REWARD) if not rows or name not in rows[0]]
    if missing:
        raise BadInput(f"log {path!r} has no events with {' and '.join(missing)}; allowed: columns {ARM} and {REWARD}")
    return [_event(path, number, row) for number, row in enumerate(rows, 1)]


def _read_csv(path: str) -> Sequence[Mapping[Any, Any]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read_parquet(path: str) -> Sequence[Mapping[Any, Any]]:
    with needs_extra("study"):
        import pandas

    return list(pandas.read_parquet(path).to_dict("records"))


def _event(path: str, number: int, row: Mapping[Any, Any]) -> Event:
    try:
        event = Event(
            str(row[ARM]),
            float(row[REWARD]),
            int(row[AGENT]) if AGENT in row else 0,
            float(row[PROPENSITY]) if PROPENSITY in row else 0.0,
        )
    except (TypeError, ValueError):
        raise BadInput(f"log {path!r}, event {number} is not understood; allowed: numbers but for the arm") from None
    sound = 0.0 <= event.reward <= 1.0 and (AGENT not in row or event.agent >= 1)
    if not sound or (PROPENSITY in row and not 0.0 < event.propensity <= 1.0):
        allowed = "a reward in [0, 1], an agent from 1, a propensity above 0 and at most 1"
        raise BadInput(f"log {path!r}, event {number} is not allowed; allowed: {allowed}")
    return event


def arms_of(events: Sequence[Event]) -> tuple[str, ...]:
    """The arms of a log: whole numbers ascending, other names in the order of their first event."""
    names = tuple(dict.fromkeys(event.arm for event in events))
    return tuple(sorted(names, key=int)) if all(name.isdecimal() for name in names) else names
