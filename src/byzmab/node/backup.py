"""Online backup: a copy of a node's data file made while it runs, and the data directory that begins from a copy."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.node.database import FILE, lock_directory, prepare, readable, write_facts, write_whole
from byzmab.node.faults import refusal
from byzmab.node.store import epoch_at

MAGIC = b"SQLite format 3\0"  # how a data file begins


def back_up(directory: str | Path, target: Path) -> None:
    """Copy the data file of a node to another file, in place of an older copy there; the node may run meanwhile.

    SQLite's backup API copies what was on the disk at one moment, while the node goes on writing.
    """
    source = Path(directory) / FILE
    if not source.is_file():
        raise BadInput(f"data directory {str(directory)!r} holds no node; allowed: one that a node has used")
    try:
        with closing(sqlite3.connect(source)) as running:
            write_whole(target, lambda copy: _copy(running, copy))
    except sqlite3.Error as error:
        raise refusal(f"data file {str(source)!r} cannot be copied to {str(target)!r}: {error}", error) from None


def is_backup(path: Path) -> bool:
    """Whether a file is a copy of a data file; otherwise it may be an export."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise refusal(f"state file {str(path)!r} cannot be read: {error.strerror}", error) from None


def restore(directory: str | Path, network: str, public: str, copy: Path) -> None:
    """Make an empty data directory from a copy, in an epoch which announces that the tallies began anew.

    The node may have gone on after the copy was made. So its next epoch is above the copy's and not below the clock.
    """
    path = Path(directory) / FILE

    def fill(new: sqlite3.Connection) -> None:
        with readable(copy), closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as backup:
            _copy(backup, new)
            [known] = new.execute("SELECT value FROM facts WHERE name = 'epoch'").fetchone() or (0,)
            epoch = max(known, epoch_at(time.time()))
            write_facts(new, {"key": public, "epoch": epoch, "reset": epoch + 1})
            prepare(new, copy, network, public)

    with lock_directory(Path(directory)):
        if path.exists():
            raise BadInput(f"data directory {str(directory)!r} holds a node already; allowed: an empty one")
        write_whole(path, fill)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a whole database, checked, as a single file without a log beside it."""
    source.backup(target)
    target.execute("PRAGMA journal_mode = DELETE")
    found = target.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError(found.replace("\n", " "))
