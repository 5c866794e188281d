"""The SQLite file of a node: its tables, opening it, and reading and writing a whole state."""

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from byzmab.core.errors import BadInput
from byzmab.core.traffic import Forced
from byzmab.node.evidence import Evidence, Lie
from byzmab.node.faults import Unavailable, may_pass, refusal
from byzmab.node.records import Arm, Event, EventState, HandoverRecord, NeighbourRecord, Pardon, State

FILE = "node.db"
LOCK = "node.lock"
VERSION = 2  # of the tables, PRAGMA user_version: raised with every change of them
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE arms (
    arm TEXT PRIMARY KEY, place INTEGER NOT NULL, in_use INTEGER NOT NULL,
    pulls INTEGER NOT NULL, total REAL NOT NULL, pending INTEGER NOT NULL, statistics BLOB
) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, arm TEXT NOT NULL, round INTEGER NOT NULL,
    chosen REAL NOT NULL, state INTEGER NOT NULL, value REAL, settled REAL, forced TEXT, context BLOB
);
CREATE INDEX pending ON events (number) WHERE state = 0;
CREATE INDEX settled ON events (number) WHERE state > 0;
CREATE TABLE hearings (key TEXT PRIMARY KEY, frame BLOB, heard REAL NOT NULL, counts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE evidence (
    key TEXT NOT NULL, kind TEXT NOT NULL, network TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    found REAL NOT NULL, first BLOB NOT NULL, second BLOB NOT NULL, PRIMARY KEY (key, kind, epoch, seq)
) WITHOUT ROWID;
CREATE TABLE pardons (key TEXT PRIMARY KEY, epoch INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE handovers (key TEXT PRIMARY KEY, frame BLOB NOT NULL) WITHOUT ROWID;
"""
# what a file of version 1 may lack
ADDED = """
CREATE TABLE IF NOT EXISTS pardons (key TEXT PRIMARY KEY, epoch INTEGER NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS handovers (key TEXT PRIMARY KEY, frame BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS settled ON events (number) WHERE state > 0;
"""
ADDED_COLUMNS = {"events": ("forced TEXT", "context BLOB"), "arms": ("statistics BLOB",)}
ANEW = "bring back a backup with byzmab node import, or begin anew on purpose with byzmab node init"
MOST_ROWS = 64  # of one statement; a power of two
EVENT = "event_id, arm, round, chosen, state, value, settled, forced, context"
ARM = "arm, place, in_use, pulls, total, pending, statistics"


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn SQLite's errors within the block into BadInput; a broken file is never reset."""
    try:
        yield
    except sqlite3.Error as error:
        advice = "" if may_pass(error) else ". Move it away and bring back a backup with byzmab node import"
        raise refusal(f"data file {str(path)!r} cannot be used: {error}; nothing was changed{advice}", error) from None


def lock_directory(directory: Path) -> IO[bytes]:
    """Make a data directory if it is missing and lock it; return the open lock file, or BadInput if it is in use."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (directory / LOCK).open("ab")
    except OSError as error:
        raise refusal(f"data directory {str(directory)!r} cannot be used: {error.strerror}", error) from None
    return _locked(file, f"data directory {str(directory)!r}")


def lock_database(path: Path) -> IO[bytes]:
    """Lock a data file itself, which no deleted lock file undoes; return it open. Close it after all connections."""
    return _locked(path.open("rb"), f"data file {str(path)!r}")


def _locked(file: IO[bytes], what: str) -> IO[bytes]:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Unavailable(f"{what} is in use by another node") from None
    return file


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose commits are on the disk when they return."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def create(path: Path, state: State) -> None:
    """Make a new data file with a state, whole or not at all."""
    with readable(path):
        write_whole(path, lambda connection: save_state(connection, state))


def write_whole(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Write a database for its owner alone, whole or not at all, in place of what is there; `fill` writes it."""
    rest = next((rest for suffix in ("-wal", "-shm") if (rest := Path(f"{path}{suffix}")).exists()), None)
    if rest is not None:
        raise BadInput(f"{str(rest)!r} is the rest of a data file that is gone; move it away")
    new = path.with_name(f"{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        new.touch(0o600)
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            fill(connection)
        new.rename(path)
        sync_directory(path.parent)
    except OSError as error:
        raise refusal(f"data file {str(path)!r} cannot be written: {error.strerror}", error) from None
    finally:
        new.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Bring the names in a directory to the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_present(path: Path) -> None:
    """BadInput if a data file is missing or empty: it was lost, and is not begun anew in silence."""
    if not path.exists():
        raise BadInput(f"data file {str(path)!r} is missing, but its key was used before; {ANEW}")
    if not path.stat().st_size:
        raise BadInput(f"data file {str(path)!r} is empty; nothing was changed. Move it away and {ANEW}")


def prepare(connection: sqlite3.Connection, path: Path, network: str, public: str) -> None:
    """Check the tables of a data file, and bring older ones up to date; BadInput if it is empty or another node's."""
    version = check_version(connection, path)
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found.replace("\n", " "))
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    for name, mine in (("network", network), ("key", public)):
        if facts.get(name) != mine:
            raise BadInput(f"data file {str(path)!r} belongs to {name} {facts.get(name)}, not {mine}")
    if version < VERSION:
        _upgrade(connection)


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the tables of a data file; BadInput if there are none, or if a later program has made them."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise BadInput(f"data file {str(path)!r} holds no node; nothing was changed. Move it away and {ANEW}")
    if not 1 <= version <= VERSION:
        raise BadInput(f"data file {str(path)!r} has tables of version {version}; this byzmab knows up to {VERSION}")
    return version


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring the tables of version 1 up to date, all or nothing; programs before refuse them from then on."""
    run = connection.execute
    run("BEGIN IMMEDIATE")
    try:
        for statement in ADDED.split(";"):
            run(statement)
        for table, columns in ADDED_COLUMNS.items():
            known = _columns(connection, table)
            for column in columns:
                if column.split()[0] not in known:
                    run(f"ALTER TABLE {table} ADD COLUMN {column}")
        run(f"PRAGMA user_version = {VERSION}")
        run("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _select(connection: sqlite3.Connection, table: str, columns: str) -> str:
    """How to read some columns of a table; those that a file does not have yet are NULL."""
    known = _columns(connection, table)
    found = (name if name in known else f"NULL AS {name}" for name in columns.split(", "))
    return f"SELECT {', '.join(found)} FROM {table}"


@contextmanager
def at_one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Read within the block what was on the disk at its beginning."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def load_state(connection: sqlite3.Connection) -> State:
    """The state without its events, of which there may be millions."""
    run = connection.execute
    return State(
        dict(run("SELECT name, value FROM facts")),
        [
            Arm(arm, index, bool(in_use), *tally)
            for arm, index, in_use, *tally in run(f"{_select(connection, 'arms', ARM)} ORDER BY place")
        ],
        [],
        [
            NeighbourRecord(key, frame, heard, msgspec.json.decode(counts, type=dict[str, int]))
            for key, frame, heard, counts in run("SELECT key, frame, heard, counts FROM hearings")
        ],
        [_evidence_of(*row) for row in run("SELECT * FROM evidence ORDER BY found")],
        pardons=[Pardon(*row) for row in _rows(connection, "pardons")],
        handovers=[HandoverRecord(*row) for row in _rows(connection, "handovers")],
    )


def load_events(connection: sqlite3.Connection) -> Iterator[Event]:
    """All events, the oldest first, as they are read."""
    return map(event_of, connection.execute(f"{_select(connection, 'events', EVENT)} ORDER BY number"))


def _rows(connection: sqlite3.Connection, table: str) -> list[Any]:
    """The rows of a table that came later; none if it is not there yet."""
    known = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    return connection.execute(f"SELECT * FROM {table}").fetchall() if known else []


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
            f"INSERT INTO events ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [msgspec.structs.astuple(event) for event in state.events],
        )
        write_neighbours(connection, state.neighbours)
        write_evidence(connection, state.evidence)
        write_pardons(connection, state.pardons)
        write_handovers(connection, state.handovers)
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
    write_rows(connection, f"INSERT OR REPLACE INTO arms ({ARM}) VALUES {{rows}}", rows)


def write_neighbours(connection: sqlite3.Connection, records: list[NeighbourRecord]) -> None:
    """Write the neighbours' records over older ones."""
    rows = [(item.key, item.frame, item.heard, msgspec.json.encode(item.counts).decode()) for item in records]
    connection.executemany("INSERT OR REPLACE INTO hearings (key, frame, heard, counts) VALUES (?, ?, ?, ?)", rows)


def write_evidence(connection: sqlite3.Connection, evidence: list[Evidence]) -> None:
    """Write evidence that is not there yet."""
    rows = []
    for piece in evidence:
        first, second = (*piece.raw(), b"")[:2]  # no second frame where one is proof
        rows.append((piece.key, piece.kind, piece.network, piece.epoch, piece.seq, piece.found, first, second))
    connection.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def write_pardons(connection: sqlite3.Connection, pardons: list[Pardon]) -> None:
    """Write pardons over older ones."""
    rows = [msgspec.structs.astuple(pardon) for pardon in pardons]
    connection.executemany("INSERT OR REPLACE INTO pardons (key, epoch, seq) VALUES (?, ?, ?)", rows)


def write_handovers(connection: sqlite3.Connection, handovers: list[HandoverRecord]) -> None:
    """Write hand-overs of keys that have none yet."""
    rows = [msgspec.structs.astuple(item) for item in handovers]
    connection.executemany("INSERT OR IGNORE INTO handovers (key, frame) VALUES (?, ?)", rows)


def event_of(row: Any) -> Event:
    """The event of a row."""
    event_id, arm, round, chosen, state, value, settled, forced, context = row
    why = None if forced is None else Forced(forced)
    return Event(event_id, arm, round, chosen, EventState(state), value, settled, why, context)


def _evidence_of(
    key: str, kind: str, network: str, epoch: int, seq: int, found: float, first: bytes, second: bytes
) -> Evidence:
    frames = (first, second) if second else (first,)
    return Evidence.of(Lie(kind), network, key, frames, (epoch, seq), found)
