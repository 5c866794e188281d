"""Where a node keeps its state: one SQLite file, one writing thread, group commit.

What is acknowledged is on the disk: a change belongs to a batch, and is acknowledged only after that batch is committed
(WAL, synchronous=FULL). While one batch is being written the next one fills, so a commit carries the changes of all who
wait. A batch that cannot be written is kept and tried again; until then nothing is accepted.
"""

import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from byzmab.core.errors import BadInput
from byzmab.node.database import (
    EVENT,
    FILE,
    at_one_moment,
    check_present,
    check_version,
    connect,
    create,
    event_of,
    load_events,
    load_state,
    lock_database,
    lock_directory,
    prepare,
    readable,
    write_arms,
    write_evidence,
    write_facts,
    write_handovers,
    write_neighbours,
    write_pardons,
    write_rows,
)
from byzmab.node.evidence import Evidence
from byzmab.node.records import Arm, Event, HandoverRecord, NeighbourRecord, Pardon, State, new_state, to_json

REMEMBERED = 1_000_000  # settled events; a reward for an older one is unknown
PRUNED = 1_000  # events between two looks for what may be forgotten
FORGET = "DELETE FROM events WHERE number <= ? AND state > 0"
LAZY = 1.0  # seconds that changes nobody waits for may take
SETTLE = """WITH new (state, value, settled, event_id) AS (VALUES {rows})
UPDATE events SET state = new.state, value = new.value, settled = new.settled
FROM new WHERE events.event_id = new.event_id"""
JITTER = 1_000_000  # of an epoch: a second in its microseconds
MOST_AHEAD = 10 * 365.25 * 86_400  # seconds that an epoch may be above a clock: so a thief cannot take the last one
RETRY = 1.0  # seconds between two tries to write a batch that could not be written


def epoch_at(wall: float) -> int:
    """The lowest epoch that may begin at a time, given in seconds since 1970: its microseconds."""
    return int(wall * 1e6)


AHEAD = epoch_at(MOST_AHEAD)


def epoch_above(known: int, wall: float) -> int:
    """An epoch above all that are known, and not below the clock.

    Chance is added: who knows the same, a twin, or this node from a copy of its data and with its clock set back, takes
    another one.
    """
    return max(known + 1, epoch_at(wall)) + secrets.randbelow(JITTER)


class StoreTrouble(Exception):
    """State that cannot be written now; nothing that was acknowledged is lost."""


@dataclass
class Batch:
    """Changes that are committed together."""

    number: int
    chosen: list[Event] = field(default_factory=list)
    settled: list[tuple[int, float | None, float, str]] = field(default_factory=list)  # state, value, when, event
    tallies: dict[str, Arm] = field(default_factory=dict)  # the newest of each arm
    facts: dict[str, Any] = field(default_factory=dict)
    neighbours: dict[str, NeighbourRecord] = field(default_factory=dict)  # the newest of each key
    evidence: list[Evidence] = field(default_factory=list)
    pardons: list[Pardon] = field(default_factory=list)
    handovers: list[HandoverRecord] = field(default_factory=list)
    urgent: bool = False  # somebody waits for it
    since: float = 0.0  # monotonic time of its first change, 0 while it is empty


class NodeStore:
    """The state of one node on disk. The file of a key that was `used` before must be there already."""

    def __init__(self, directory: str | Path, network: str, public: str, used: bool = False) -> None:
        self.path = Path(directory) / FILE
        self.trouble: str | None = None  # why the last batch could not be written
        self.durable = 0  # the number of the newest batch that is on the disk
        self._batch = Batch(1)
        self._changed = threading.Condition()
        self._watch: Callable[[], None] = lambda: None
        self._observe: Callable[[float], None] = lambda seconds: None
        self._waiting_since = 0.0  # monotonic time of the oldest change that is not on the disk, 0 if all are
        self._closing = False
        with ExitStack() as stack:
            stack.enter_context(lock_directory(Path(directory)))
            if used or self.path.exists():
                check_present(self.path)
            else:
                create(self.path, new_state(network, public))
            stack.enter_context(lock_database(self.path))
            with readable(self.path):
                self._connection = stack.enter_context(closing(connect(self.path)))
                self._reader = stack.enter_context(closing(connect(self.path)))
                prepare(self._connection, self.path, network, public)
            self._open = stack.pop_all()  # connections are closed before the locks
        self._writer = threading.Thread(target=self._write, name="store", daemon=True)
        self._writer.start()

    # reading

    def load(self) -> State:
        """All of the state but events."""
        with readable(self.path), at_one_moment(self._reader):
            return load_state(self._reader)

    def event(self, event_id: str) -> Event | None:
        """The event of an id, or None if the disk does not hold it."""
        row = self._reader.execute(f"SELECT {EVENT} FROM events WHERE event_id = ?", (event_id,)).fetchone()
        return None if row is None else event_of(row)

    def oldest_pending(self, most: int) -> list[Event]:
        """The oldest events on the disk that wait for a reward, so many at most."""
        rows = self._reader.execute(f"SELECT {EVENT} FROM events WHERE state = 0 ORDER BY number LIMIT ?", (most,))
        return [event_of(row) for row in rows]

    def newest_choice(self) -> float:
        """When the newest event on the disk was chosen, 0 if there is none."""
        row = self._reader.execute("SELECT chosen FROM events ORDER BY number DESC LIMIT 1").fetchone()
        return 0.0 if row is None else float(row[0])

    # changing

    def raise_epoch(self, wall: float) -> int:
        """Begin an epoch that was never used; return it once it is on the disk. Call before the first signature.

        It is above the stored one, and not below the clock. So a restored copy of the file, or
        a new file, begins above all that was signed since, as long as the clock was not set back. If the clock was set
        back, the epoch is still one that was never used, but for a chance of one in a million.
        """
        epoch = epoch_above(int(self.load().facts["epoch"]), wall)
        with self.changing() as batch:
            batch.facts["epoch"] = epoch
        self.flush()
        return epoch

    @contextmanager
    def changing(self, urgent: bool = True) -> Iterator[Batch]:
        """Yield the batch that takes the next changes, under the lock: leave the block quickly."""
        with self._changed:
            batch = self._batch
            yield batch
            batch.since = batch.since or time.monotonic()
            if urgent and not batch.urgent:
                batch.urgent = True
                self._changed.notify_all()

    @property
    def pending(self) -> int:
        """The number of the batch that must be durable before the changes so far may be acknowledged."""
        return self._batch.number if self._batch.urgent else self._batch.number - 1

    @property
    def backlog(self) -> float:
        """Seconds for which the oldest change has waited to be on the disk."""
        since = self._waiting_since or self._batch.since
        return time.monotonic() - since if since else 0.0

    def watch(self, callback: Callable[[], None]) -> None:
        """Have `callback` called from the writing thread whenever `durable` or `trouble` changed."""
        self._watch = callback

    def observe(self, callback: Callable[[float], None]) -> None:
        """Have `callback` called from the writing thread with the seconds that each commit took."""
        self._observe = callback

    def flush(self) -> None:
        """Wait until all changes so far are on the disk, or raise StoreTrouble."""
        with self._changed:
            self._batch.urgent = self._batch.urgent or bool(self._batch.since)
            wanted = self.pending
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.durable >= wanted or self.trouble)
            if self.durable < wanted:
                raise StoreTrouble(self.trouble)

    def close(self) -> None:
        """Write what is left, then close the file."""
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
        self._writer.join()
        self._open.close()

    # the writing thread

    def _write(self) -> None:
        while (batch := self._next_batch()) is not None:
            while True:
                began = time.monotonic()
                self.trouble = self._commit(batch)
                self._observe(time.monotonic() - began)
                with self._changed:
                    self._waiting_since = batch.since if self.trouble else 0.0
                    self.durable = self.durable if self.trouble else batch.number
                    self._changed.notify_all()
                    closing = self._closing
                self._watch()
                if not self.trouble or closing:
                    break
                time.sleep(RETRY)

    def _next_batch(self) -> Batch | None:
        """Wait until a batch is urgent or old enough, and return it; None at the end, when all is written."""
        with self._changed:
            while True:
                batch, left = self._batch, None
                if batch.since and not batch.urgent:
                    left = batch.since + LAZY - time.monotonic()
                if batch.since and (batch.urgent or self._closing or (left is not None and left <= 0)):
                    self._batch, self._waiting_since = Batch(batch.number + 1), batch.since
                    return batch
                if self._closing:
                    return None
                self._changed.wait(left)

    def _commit(self, batch: Batch) -> str | None:
        """Write a batch; return None, or the reason why it could not be written."""
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            _apply(connection, batch)
            connection.execute("COMMIT")
        except Exception as error:  # whatever it is, those who wait must hear of it
            if connection.in_transaction:
                connection.rollback()
            return f"state cannot be written to {str(self.path)!r}: {error}"
        return None


def _apply(connection: sqlite3.Connection, batch: Batch) -> None:
    if batch.chosen:
        rows: list[tuple[Any, ...]] = [
            (event.event_id, event.arm, event.round, event.chosen, 0, event.forced, event.context)
            for event in batch.chosen
        ]
        columns = "event_id, arm, round, chosen, state, forced, context"
        write_rows(connection, f"INSERT INTO events ({columns}) VALUES {{rows}}", rows)
        newest = connection.execute("SELECT max(number) FROM events").fetchone()[0]
        if newest % PRUNED < len(rows):
            connection.execute(FORGET, (newest - REMEMBERED,))
    write_rows(connection, SETTLE, list(batch.settled))
    write_arms(connection, list(batch.tallies.values()))
    write_facts(connection, batch.facts)
    write_neighbours(connection, list(batch.neighbours.values()))
    write_evidence(connection, batch.evidence)
    write_pardons(connection, batch.pardons)
    write_handovers(connection, batch.handovers)


def export_state(directory: str | Path) -> Iterator[bytes]:
    """Yield the whole state in a data directory as JSON, in pieces, whether its node runs or not."""
    path = Path(directory) / FILE
    if not path.is_file():
        raise BadInput(f"data directory {str(directory)!r} holds no node; allowed: one that a node has used")
    with readable(path), closing(connect(path)) as connection:
        check_version(connection, path)
        with at_one_moment(connection):
            yield from to_json(load_state(connection), load_events(connection))


def import_state(directory: str | Path, network: str, public: str, state: State) -> None:
    """Make a data directory from an exported state, under the same key or a new one.

    The node may have gone on after the export, so its next epoch is one it cannot have used, and is announced as
    one in which the tallies began anew.
    """
    if state.facts["network"] != network:
        raise BadInput(f"node state belongs to network {state.facts['network']!r}, not {network!r}")
    begin(directory, msgspec.structs.replace(state, facts={**state.facts, "key": public}))


def begin(directory: str | Path, state: State) -> None:
    """Make a data directory that holds a state, in an epoch which announces that the tallies began anew."""
    path = Path(directory) / FILE
    with lock_directory(Path(directory)):
        if path.exists():
            raise BadInput(f"data directory {str(directory)!r} holds a node already; allowed: an empty one")
        epoch = max(state.facts["epoch"], epoch_at(time.time()))
        create(path, msgspec.structs.replace(state, facts={**state.facts, "epoch": epoch, "reset": epoch + 1}))
