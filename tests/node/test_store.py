"""What is acknowledged is on the disk, and what is on the disk is never silently lost."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from live import ARMS, NETWORK, Time, config_of, exported, frame, host_of, key_of, learn, neighbour_of, say, state_of

from byzmab.core.errors import BadInput
from byzmab.node import store as store_module
from byzmab.node.database import VERSION
from byzmab.node.decisions import UnknownEvent
from byzmab.node.records import FORMAT, Arm, Event, from_json, new_state, to_json
from byzmab.node.store import NodeStore, export_state, import_state

PUBLIC = key_of(1).public


def open_store(directory):
    return NodeStore(directory, NETWORK, PUBLIC)


def choose(store, number):
    with store.changing() as batch:
        batch.chosen.append(Event(f"event-{number}", "a", number, 0.0))
        batch.tallies["a"] = Arm("a", 0, True, 0, 0.0, number + 1)
    return store.pending


def test_a_flush_returns_when_all_is_on_the_disk(tmp_path):
    store = open_store(tmp_path)
    for number in range(20):
        choose(store, number)
    store.flush()
    with sqlite3.connect(tmp_path / "node.db") as other:
        assert other.execute("SELECT count(*) FROM events").fetchone() == (20,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_changes_that_come_during_a_commit_share_the_next(tmp_path):
    """Group commit: 64 who wait need far fewer than 64 commits."""
    store = open_store(tmp_path)
    batches = set()

    def client(number):
        for turn in range(8):
            batches.add(choose(store, number * 8 + turn))
            store.flush()

    clients = [threading.Thread(target=client, args=(number,)) for number in range(64)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    assert len(batches) < 256
    assert store.event("event-511") is not None
    store.close()


def test_every_start_begins_a_new_epoch(tmp_path):
    epochs = []
    for wall in (5.0, 9.0, 1.0):  # the last with its clock set back
        store = open_store(tmp_path)
        epochs.append(store.raise_epoch(wall))
        store.close()
    assert epochs == sorted(set(epochs)) and epochs[0] >= 5_000_000 and epochs[1] >= 9_000_000


def test_a_copy_brought_back_with_the_clock_set_back_begins_another_epoch(tmp_path):
    """Nobody can tell it then which epochs were used since; chance keeps it from them."""
    open_store(tmp_path).close()
    copy, used = (tmp_path / "node.db").read_bytes(), set()
    for _ in range(5):
        (tmp_path / "node.db").write_bytes(copy)
        for _ in range(3):
            store = open_store(tmp_path)
            used.add(store.raise_epoch(1.0))
            store.close()
    assert len(used) == 15


def test_an_epoch_is_on_the_disk_before_it_is_known(tmp_path):
    store = open_store(tmp_path)
    epoch = store.raise_epoch(1.0)
    with sqlite3.connect(tmp_path / "node.db") as other:
        assert other.execute("SELECT value FROM facts WHERE name = 'epoch'").fetchone() == (epoch,)
    store.close()


def test_a_data_directory_has_one_node(tmp_path):
    store = open_store(tmp_path)
    with pytest.raises(BadInput, match="in use by another node"):
        open_store(tmp_path)
    store.close()
    open_store(tmp_path).close()


@pytest.mark.parametrize("settings", [("other", PUBLIC), (NETWORK, key_of(2).public)])
def test_state_of_another_node_is_refused(tmp_path, settings):
    open_store(tmp_path).close()
    with pytest.raises(BadInput, match="belongs to"):
        NodeStore(tmp_path, *settings)


def test_tables_of_a_later_version_are_refused(tmp_path):
    open_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "node.db") as other:
        other.execute("PRAGMA user_version = 99")
    with pytest.raises(BadInput, match="version 99"):
        open_store(tmp_path)


@pytest.mark.parametrize("offset", [0, 20, 4096, 8192, 12288])
def test_a_corrupt_file_is_refused_and_left_alone(tmp_path, offset):
    store = open_store(tmp_path)
    for number in range(500):
        choose(store, number)
    store.close()
    file = tmp_path / "node.db"
    content = bytearray(file.read_bytes())
    content[offset : offset + 600] = os.urandom(600)
    file.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be used") as caught:
        open_store(tmp_path)
    assert "\n" not in str(caught.value)
    assert file.read_bytes() == content
    open_store(tmp_path / "other").close()  # and the lock was let go
    assert not caught.value.__cause__


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    store = open_store(tmp_path)
    for number in range(500):
        choose(store, number)
    store.close()
    file = tmp_path / "node.db"
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size // 2)
    with pytest.raises(BadInput, match="cannot be used"):
        open_store(tmp_path)


def test_a_directory_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="data directory"):
        open_store(tmp_path / "file" / "data")


def test_old_settled_events_are_forgotten_and_pending_ones_never(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "REMEMBERED", 50)
    monkeypatch.setattr(store_module, "PRUNED", 1)
    host = host_of(config_of(1, tmp_path), 1)
    waiting = host.select()[0]
    for _ in range(20):
        learn(host, 10)
        host.store.flush()
    with sqlite3.connect(host.store.path) as other:
        assert other.execute("SELECT count(*) FROM events").fetchone()[0] <= 61
    host.close()
    again = host_of(config_of(1, tmp_path), 1)
    again.reward(waiting, 1.0)
    again.close()


# a full disk: a limit on the size of files, in a process of its own

FULL = """
import resource, signal, sys
sys.path[:0] = [{tests!r}]
from live import config_of, host_of
from byzmab.node.store import StoreTrouble
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
host = host_of(config_of(1, {directory!r}), 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
acknowledged = []
try:
    while True:
        event, arm, *_ = host.select()
        host.reward(event, 1.0)
        host.store.flush()
        acknowledged.append(event)
except StoreTrouble as trouble:
    print(trouble)
try:
    host.select()
    raise AssertionError("a full disk chose")
except StoreTrouble:
    pass
if {space}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    while host.store.trouble:
        pass
    host.store.flush()
    event, arm, *_ = host.select()
    host.reward(event, 1.0)
    host.store.flush()
    acknowledged += ["unanswered", event]
print(len(acknowledged))
host.close()
"""


@pytest.mark.parametrize("space", [False, True], ids=["for good", "for a while"])
def test_a_full_disk_is_said_and_costs_nothing_acknowledged(tmp_path, space):
    script = FULL.format(tests=str(Path(__file__).parents[1]), directory=str(tmp_path), space=space)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    said, acknowledged = done.stdout.splitlines()
    assert "state cannot be written" in said
    host = host_of(config_of(1, tmp_path), 1)
    assert sum(host.agent.report().pulls) == int(acknowledged)
    host.close()


# restart


def test_a_restarted_node_goes_on_as_if_it_had_never_stopped(tmp_path):
    time = Time()
    config = config_of(1, tmp_path, [neighbour_of(2)], seed=7)
    host = host_of(config, 1, clock=time.clock())
    twin = host_of(config_of(1, tmp_path / "twin", [neighbour_of(2)], seed=7), 1, clock=time.clock())
    for node in (host, twin):
        learn(node, 30, lambda arm: 1.0 if arm == "b" else 0.25)
        say(node, 2, frame(2, 4, (9, 9, 9, 9), (0.9, 0.1, 0.1, 0.1)))
        node.set_arms(["b", "c", "e"])
    open_events = {node: node.select()[0] for node in (host, twin)}
    host.close()
    again = host_of(config, 1, clock=time.clock())
    assert again.agent.to_json() == twin.agent.to_json()
    assert again.epoch > host.epoch and again.seq == 0
    assert again.neighbourhood.neighbours["agent-2"].newest.signed.version == (1, 4)
    again.reward(open_events[host], 0.5)
    twin.reward(open_events[twin], 0.5)
    assert [again.select()[1] for _ in range(20)] == [twin.select()[1] for _ in range(20)]
    say(again, 2, frame(2, 4, (9, 9, 9, 9), (0.9, 0.1, 0.1, 0.1)))  # a replay from before the restart
    assert again.neighbourhood.neighbours["agent-2"].counts["refused: not newer"] == 1
    again.close()
    twin.close()


# export and import


def test_an_exported_node_goes_on_elsewhere(tmp_path):
    config = config_of(1, tmp_path, [neighbour_of(2)], seed=3)
    host = host_of(config, 1)
    learn(host, 20)
    say(host, 2, frame(2, 1))
    say(host, 2, frame(2, 1, (1, 1, 1, 1), epoch=2))  # an impossible history
    settled, waiting = host.select()[0], host.select()[0]
    host.reward(settled, 1.0)
    host.tell()
    text = exported(config.data)  # while it runs
    expected = host.agent.to_json()
    host.close()
    moved = config_of(1, tmp_path / "elsewhere", [neighbour_of(2)], seed=3)
    import_state(moved.data, NETWORK, key_of(1).public, from_json(text))
    again = host_of(moved, 1)
    assert again.agent.to_json() == expected
    assert again.epoch >= again.own.reset > host.epoch
    assert len(again.neighbourhood.neighbours["agent-2"].evidence) == 1
    again.reward(settled, 1.0)  # known, and not counted twice
    again.reward(waiting, 1.0)
    with pytest.raises(UnknownEvent):
        again.reward("never", 1.0)
    assert sum(again.agent.report().pulls) == 22
    again.close()


def test_the_format_of_an_export_stays_as_it_is(tmp_path):
    """Or it is another format: exports of older ones are read, and older programs refuse ours."""
    config = config_of(1, tmp_path, [neighbour_of(2)])
    host = host_of(config, 1)
    say(host, 2, frame(2, 1))
    host.close()
    state = json.loads(exported(config.data))
    assert set(state) == {"facts", "arms", "events", "hearings", "evidence", "format", "pardons", "handovers"}
    assert set(state["arms"][0]) == {"arm", "place", "in_use", "pulls", "total", "pending"}
    assert set(state["hearings"][0]) == {"key", "frame", "heard", "counts"}


def test_state_is_never_imported_over_other_state(tmp_path):
    config = config_of(1, tmp_path)
    host_of(config, 1).close()
    with pytest.raises(BadInput, match="holds a node already"):
        import_state(config.data, NETWORK, key_of(1).public, state_of(config.data))
    with pytest.raises(BadInput, match="belongs to network"):
        import_state(tmp_path / "new", "other", key_of(1).public, state_of(config.data))


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{}", b'{"format": 1}', b'{"facts": {}, "arms": [], "events": [], "hearings": [], "evidence": []}'],
)
def test_a_broken_export_is_named(text):
    with pytest.raises(BadInput, match="node state"):
        from_json(text)


def test_a_directory_without_a_node_has_nothing_to_export(tmp_path):
    with pytest.raises(BadInput, match="holds no node"):
        state_of(tmp_path)


# versions

SCHEMAS = {2: "22a2e55289f960e7"}  # the tables of each version: a change of them needs a new one


def schema_of(path):
    with sqlite3.connect(path) as other:
        rows = other.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()
    return hashlib.sha256(" ".join(" ".join(sql.split()) for (sql,) in rows).encode()).hexdigest()[:16]


def test_a_change_of_tables_is_a_new_version(tmp_path):
    """Else an older program would go on with data that it does not understand."""
    open_store(tmp_path).close()
    assert {VERSION: schema_of(tmp_path / "node.db")} == SCHEMAS


def test_data_of_version_1_is_brought_up_to_date_and_then_refused_by_older_programs(tmp_path):
    open_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "node.db") as other:
        for table in ("pardons", "handovers"):
            other.execute(f"DROP TABLE {table}")
        other.execute("DROP INDEX settled")
        other.execute("ALTER TABLE events DROP COLUMN context")
        other.execute("ALTER TABLE arms DROP COLUMN statistics")
        other.execute("PRAGMA user_version = 1")
    assert state_of(tmp_path).pardons == [], "it is read as it is"
    store = open_store(tmp_path)
    assert store.event("none") is None and store.load().pardons == []
    store.close()
    with sqlite3.connect(tmp_path / "node.db") as other:
        assert other.execute("PRAGMA user_version").fetchone() == (VERSION,)
        other.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(BadInput, match=f"version {VERSION + 1}; this byzmab knows up to {VERSION}"):
        state_of(tmp_path)


def test_an_export_of_a_later_format_is_refused():
    text = json.dumps({**json.loads(b"".join(to_json(new_state(NETWORK, PUBLIC), []))), "format": FORMAT + 1})
    with pytest.raises(BadInput, match=f"format {FORMAT + 1} is not understood"):
        from_json(text.encode())


def test_settings_that_differ_from_the_last_start_are_logged(tmp_path, caplog, monkeypatch):
    """As defaults do after an upgrade: nothing in the file has changed."""
    config = config_of(1, tmp_path)
    host_of(config, 1).close()
    host_of(config, 1).close()
    assert not any("settings differ" in record.message for record in caplog.records)
    monkeypatch.setattr("byzmab.core.recommended.POLICY", "ucb")
    host_of(config_of(1, tmp_path, kappa=1.25), 1).close()
    (record,) = (record for record in caplog.records if "settings differ" in record.message)
    assert record.changed["policy"] == ["moss", "ucb"] and record.changed["kappa"] == [1.5, 1.25]


def test_an_export_is_read_and_written_in_pieces(tmp_path):
    """However many events there are: one is in memory at a time."""
    store = open_store(tmp_path)
    for number in range(500):
        choose(store, number)
    store.flush()
    pieces = list(export_state(tmp_path))
    assert len(pieces) > 500 and max(map(len, pieces)) < 1_000
    assert [event.event_id for event in from_json(b"".join(pieces)).events] == [f"event-{n}" for n in range(500)]
    store.close()


def test_old_events_are_forgotten_without_looking_at_those_that_wait(tmp_path):
    """Millions may wait: the search for what may be forgotten uses an index of settled events."""
    open_store(tmp_path).close()
    with sqlite3.connect(tmp_path / "node.db") as other:
        plan = other.execute(f"EXPLAIN QUERY PLAN {store_module.FORGET}", (1,)).fetchall()
    assert "INDEX settled" in plan[0][-1]


def test_arms_that_were_used_once_are_not_written_with_every_change(tmp_path):
    host = host_of(config_of(1, tmp_path), 1)
    host.set_arms([*ARMS[:3], *(f"old-{number}" for number in range(50))])
    host.store.flush()
    host.set_arms([*ARMS[:3], "new"])
    assert len(host.store._batch.tallies) == 51, "the new one, and 50 that are retired now"
    host.store.flush()
    host.set_arms([*ARMS[:3], "newer"])
    assert set(host.store._batch.tallies) == {"new", "newer"}
    host.close()
    again = host_of(config_of(1, tmp_path), 1)
    assert set(again.decisions.retired) == {"d", "new", *(f"old-{number}" for number in range(50))}
    again.close()
