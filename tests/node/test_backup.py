"""A backup made while a node works holds one moment; what is restored from it goes on without harm to anybody."""

import shutil
import sqlite3
import stat
import threading
from contextlib import closing

import pytest
from command import byzmab
from live import NETWORK, Process, config_of, free_port, host_of, key_of, learn, neighbour_of, state_of
from waiting import until

from byzmab import BadInput, Client
from byzmab.node.backup import back_up, restore


def counts(copy):
    """Pulls and pending decisions of all arms in a copy, and of its events."""
    with closing(sqlite3.connect(copy)) as file:
        tally = file.execute("SELECT sum(pulls), sum(pending) FROM arms").fetchone()
        events = file.execute("SELECT sum(state > 0), sum(state = 0) FROM events").fetchone()
        return tally, events


def test_the_documented_restore_brings_all_back_and_no_epoch_is_used_twice(tmp_path):
    """Two nodes hear each other; one is backed up at work, goes on, loses its disk and is restored."""
    port = free_port()
    settings = {"report_every": 0.1, "f": 0, "catch_up": 20.0}
    other = Process(2, tmp_path, [neighbour_of(1)], [f"tcp/127.0.0.1:{port}"], **settings).start()
    node = Process(1, tmp_path, [neighbour_of(2, endpoint=f"tcp/127.0.0.1:{port}")], **settings).start()
    data, copy = node.directory / "agent-1", tmp_path / "copy.db"
    with Client(node.url) as client, Client(other.url) as witness:
        ended = threading.Event()

        def work():
            while not ended.is_set():
                client.reward(client.select().event_id, 0.5)

        def seen():
            return witness.neighbours()[0]

        application = threading.Thread(target=work)
        application.start()
        until(lambda: (seen().seq or 0) > 2)
        byzmab("node", "backup", node.file, copy)
        before = client.state().epoch
        until(lambda: (seen().epoch, seen().seq) > (before, 5))
        ended.set()
        application.join()
        last = seen()
        node.kill()

        tally, events = counts(copy)
        assert tally == events and tally[0] > 0, "one moment: tallies are those of the events"
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600

        shutil.rmtree(data)  # the disk is lost
        byzmab("node", "import", node.file, copy)
        with closing(sqlite3.connect(data / "node.db")) as file:
            assert dict(file.execute("SELECT name, value FROM facts"))["epoch"] >= last.epoch
        node.start()
        assert client.state().epoch > last.epoch
        assert sum(arm.pulls for arm in client.arms().arms) == tally[0]
        until(lambda: seen().epoch > last.epoch and sum(seen().pulls.values()) == tally[0])
        assert not seen().evidence and not seen().expelled and seen().impossible == 0
    assert node.stop() == other.stop() == 0


@pytest.fixture
def used(tmp_path):
    """The data directory of a node that made ten decisions."""
    config = config_of(1, tmp_path)
    host = host_of(config, 1)
    learn(host, 10)
    host.close()
    return tmp_path / "agent-1"


def test_a_copy_from_the_future_is_not_followed_by_an_epoch_it_has_used(used, tmp_path):
    """A clock that was ahead at the time of the backup: the copy's epoch counts, not the clock."""
    with closing(sqlite3.connect(used / "node.db")) as file, file:
        file.execute("UPDATE facts SET value = ? WHERE name = 'epoch'", (2**60,))
    back_up(used, tmp_path / "copy.db")
    restore(tmp_path / "new", NETWORK, key_of(1).public, tmp_path / "copy.db")
    facts = state_of(tmp_path / "new").facts
    assert facts["epoch"] >= 2**60 and facts["reset"] == facts["epoch"] + 1


def test_what_is_no_backup_of_this_network_makes_no_data_directory(used, tmp_path):
    copy = tmp_path / "copy.db"
    back_up(used, copy)
    with pytest.raises(BadInput, match="belongs to network test, not other"):
        restore(tmp_path / "new", "other", key_of(1).public, copy)
    broken = bytearray(copy.read_bytes())
    broken[4096:8192] = b"\xff" * 4096
    copy.write_bytes(broken)
    with pytest.raises(BadInput, match="cannot be used"):
        restore(tmp_path / "new", NETWORK, key_of(1).public, copy)
    copy.write_bytes(broken[:100])
    with pytest.raises(BadInput, match="cannot be used"):
        restore(tmp_path / "new", NETWORK, key_of(1).public, copy)
    assert not [path for path in (tmp_path / "new").iterdir() if path.name != "node.lock"]


def test_a_backup_that_fails_leaves_the_older_one(used, tmp_path):
    copy = tmp_path / "copy.db"
    back_up(used, copy)
    good = copy.read_bytes()
    broken = bytearray((used / "node.db").read_bytes())
    broken[4096:8192] = b"\xff" * 4096
    (used / "node.db").write_bytes(broken)
    with pytest.raises(BadInput, match="cannot be copied"):
        back_up(used, copy)
    assert copy.read_bytes() == good and {path.name for path in tmp_path.iterdir()} == {"copy.db", "agent-1"}
    with pytest.raises(BadInput, match="No such file or directory"):
        back_up(used, tmp_path / "nowhere" / "copy.db")
    with pytest.raises(BadInput, match="holds no node"):
        back_up(tmp_path / "nothing", copy)
