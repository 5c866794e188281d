"""The SQLite file of a node: its tables, opening it, and reading and writing a whole state."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from byzmab.core.errors import BadInput
from byzmab.node.evidence import Evidence, Lie
from byzmab.node.records import Arm, Event, EventState, NeighbourRecord, State

FILE = "node.db"
LOCK = "node.lock"
VERSION = 1  # of the tables: PRAGMA user_version
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE arms (
    arm TEXT PRIMARY KEY, place INTEGER NOT NULL, in_use INTEGER NOT NULL,
    pulls INTEGER NOT NULL, total REAL NOT NULL, pending INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, arm TEXT NOT NULL, round INTEGER NOT NULL,
    chosen REAL NOT NULL, state INTEGER NOT NULL, value REAL, settled REAL
);
CREATE INDEX pending ON events (number) WHERE state = 0;
CREATE TABLE hearings (key TEXT PRIMARY KEY, frame BLOB, heard REAL NOT NULL, counts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE evidence (
    key TEXT NOT NULL, kind TEXT NOT NULL, network TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    found REAL NOT NULL, first BLOB NOT NULL, second BLOB NOT NULL, PRIMARY KEY (key, kind, epoch, seq)
) WITHOUT ROWID;
"""
MOST_ROWS = 64  # of one statement; a power of two
EVENT = "event_id, arm, round, chosen, state, value, settled"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn SQLite's errors within the block into BadInput; a broken file is never reset."""
    try:
        yield
    except sqlite3.Error as error:
        raise BadInput(
            f"data file {str(path)!r} cannot be used: {error}; nothing was changed. "
            "Move it away and bring back an export with byzmab node import"
        ) from None


def lock_directory(directory: Path) -> IO[bytes]:
    """Make a data directory if it is missing and lock it; return the open lock file, or BadInput if it is in use."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (directory / LOCK).open("ab")
    except OSError as error:
        raise BadInput(f"data directory {str(directory)!r} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BadInput(f"data directory {str(directory)!r} is in use by another node") from None
    return file


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose commits are on the disk when they return."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def prepare(connection: sqlite3.Connection, path: Path, network: str, public: str) -> None:
    """Make the tables of a new file, or check those of an old one; BadInput if they belong to another node."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        save_state(
            connection, State({"network": network, "key": public, "epoch": 0, "reset": 0, "round": 0}, [], [], [], [])
        )
        return
    if version != VERSION:
        raise BadInput(f"data file {str(path)!r} has tables of version {version}; this byzmab knows {VERSION}")
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found.replace("\n", " "))
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    for name, mine in (("network", network), ("key", public)):
        if facts.get(name) != mine:
            raise BadInput(f"data file {str(path)!r} belongs to {name} {facts.get(name)}, not {mine}")


def load_state(connection: sqlite3.Connection, events: bool) -> State:
    """The state at one moment, with or without events."""
    run = connection.execute
    run("BEGIN")
    try:
        return State(
            dict(run("SELECT name, value FROM facts")),
            [
                Arm(arm, index, bool(in_use), *tally)
                for arm, index, in_use, *tally in run(
                    "SELECT arm, place, in_use, pulls, total, pending FROM arms ORDER BY place"
                )
            ],
            [event_of(row) for row in run(f"SELECT {EVENT} FROM events ORDER BY number")] if events else [],
            [
                NeighbourRecord(key, frame, heard, msgspec.json.decode(counts, type=dict[str, int]))
                for key, frame, heard, counts in run("SELECT key, frame, heard, counts FROM hearings")
            ],
            [_evidence_of(*row) for row in run("SELECT * FROM evidence ORDER BY found")],
        )
    finally:
        run("COMMIT")


def save_state(connection: sqlite3.Connection, state: State) -> None:
    """Make the tables of a new file and fill them, all or nothing."""
    run = connection.execute
    run("BEGIN IMMEDIATE")
    try:
        for statement in TABLES.split(";"):
            run(statement)
        write_facts(connection, state.facts)
        write_arms(connection, state.arms)
        connection.executemany(
            f"INSERT INTO events ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [msgspec.structs.astuple(event) for event in state.events],
        )
        write_neighbours(connection, state.neighbours)
        write_evidence(connection, state.evidence)
        run(f"PRAGMA user_version = {VERSION}")
        run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def write_rows(connection: sqlite3.Connection, statement: str, rows: list[tuple[Any, ...]]) -> None:
    """Run a statement in which {rows} stands for many rows of values at once.

    Python's lock is let go and taken again at every execution, and another thread may keep it for milliseconds: many
    rows are therefore written by few executions, always of the same sizes, as SQLite keeps what it has parsed.
    """
    first, many = 0, MOST_ROWS
    while first < len(rows):
        while many > len(rows) - first:
            many //= 2
        block = rows[first : first + many]
        row = f"({', '.join('?' * len(block[0]))})"
        connection.execute(statement.format(rows=", ".join([row] * many)), [value for each in block for value in each])
        first += many


def write_facts(connection: sqlite3.Connection, facts: dict[str, Any]) -> None:
    """Write facts over older ones."""
    write_rows(connection, "INSERT OR REPLACE INTO facts (name, value) VALUES {rows}", list(facts.items()))


def write_arms(connection: sqlite3.Connection, arms: list[Arm]) -> None:
    """Write tallies over older ones."""
    rows = [msgspec.structs.astuple(arm) for arm in arms]
    write_rows(
        connection, "INSERT OR REPLACE INTO arms (arm, place, in_use, pulls, total, pending) VALUES {rows}", rows
    )


def write_neighbours(connection: sqlite3.Connection, records: list[NeighbourRecord]) -> None:
    """Write the neighbours' records over older ones."""
    rows = [(item.key, item.frame, item.heard, msgspec.json.encode(item.counts).decode()) for item in records]
    connection.executemany("INSERT OR REPLACE INTO hearings (key, frame, heard, counts) VALUES (?, ?, ?, ?)", rows)


def write_evidence(connection: sqlite3.Connection, evidence: list[Evidence]) -> None:
    """Write evidence that is not there yet."""
    rows = [
        (piece.key, piece.kind, piece.network, piece.epoch, piece.seq, piece.found, *piece.raw()) for piece in evidence
    ]
    connection.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def event_of(row: Any) -> Event:
    """The event of a row."""
    event_id, arm, round, chosen, state, value, settled = row
    return Event(event_id, arm, round, chosen, EventState(state), value, settled)


def _evidence_of(
    key: str, kind: str, network: str, epoch: int, seq: int, found: float, first: bytes, second: bytes
) -> Evidence:
    return Evidence.of(Lie(kind), network, key, (first, second), (epoch, seq), found)
