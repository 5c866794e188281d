"""Accidents that happen to people, and thieves of a key, with real processes: nobody honest is expelled, and the owner knows."""

import json
import shutil
import sys
import time
import urllib.request

import pytest
from command import Forked, byzmab
from live import NETWORK, Process, frame, free_port, key_of, neighbour_of
from waiting import until

from byzmab import Client
from byzmab.node.config import read_config, write_config
from byzmab.node.faults import TRY_AGAIN
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport

YEAR = 31_557_600 * 1_000_000  # in the microseconds of an epoch


class Village:
    """Agents 1, 2 and 3, who all hear each other; 2 and 3 listen."""

    def __init__(self, directory, **settings):
        self.ports = {number: free_port() for number in (2, 3)}
        self.nodes = {number: self._node(number, directory, settings) for number in (1, 2, 3)}
        for node in self.nodes.values():
            node.start()
        self.clients = {number: Client(node.url) for number, node in self.nodes.items()}
        self.victim, self.client = self.nodes[1], self.clients[1]
        self.learn(20)
        until(self.heard)

    def _node(self, number, directory, settings):
        others = [
            neighbour_of(other, endpoint=f"tcp/127.0.0.1:{self.ports[other]}" if number < other else None)
            for other in (1, 2, 3)
            if other != number
        ]
        listen = [f"tcp/127.0.0.1:{self.ports[number]}"] if number in self.ports else []
        return Process(number, directory, others, listen, report_every=0.1, catch_up=20.0, f=0, **settings)

    def learn(self, count):
        for _ in range(count):
            decision = self.client.select()
            self.client.reward(decision.event_id, 0.5)

    def seen(self, by):
        """What one of the others knows of agent 1."""
        return next(peer for peer in self.clients[by].neighbours() if peer.name == "agent-1")

    def heard(self):
        """Whether the others have the newest tallies of agent 1."""
        pulls = {arm.arm: arm.pulls for arm in self.client.arms().arms}
        return all(self.seen(by).pulls == pulls for by in (2, 3))

    def taken_in(self):
        """How many frames of each other agent 2 and 3 have taken in, accepted or refused."""
        return [
            peer.accepted + sum(peer.refusals.values())
            for by in (2, 3)
            for peer in sorted(self.clients[by].neighbours(), key=lambda peer: peer.name)
        ]

    def gossip(self, frames=20):
        """Wait until agents 2 and 3 have taken in so many more frames of each other and of agent 1.

        Every report carries marks of what its sender has heard, and proofs follow at once: by then all have seen them.
        """
        before = self.taken_in()
        until(lambda: min(now - then for now, then in zip(self.taken_in(), before, strict=True)) >= frames)

    def innocent(self):
        """Whether nobody holds anything against agent 1."""
        return not any(peer.expelled or peer.evidence or peer.impossible for peer in map(self.seen, (2, 3)))

    def metric(self, number, name):
        text = urllib.request.urlopen(f"{self.nodes[number].url}/metrics").read().decode()
        return float(next(line for line in text.splitlines() if line.startswith(name)).rpartition(" ")[2])

    def close(self):
        for client in self.clients.values():
            client.close()
        for node in self.nodes.values():
            if node.popen.poll() is None:
                node.kill()


@pytest.fixture
def village(tmp_path):
    village = Village(tmp_path)
    yield village
    village.close()


def refused(*arguments, code=2):
    """What byzmab node says when it does not do what it is told."""
    return byzmab("node", *arguments, code=code).stderr.strip().splitlines()[-1]


# accidents


def test_a_data_file_that_is_copied_back_expels_nobody(village):
    data = village.victim.directory / "agent-1"
    village.victim.kill()
    shutil.copytree(data, data.with_name("backup"))
    village.victim.start()
    village.learn(30)
    until(village.heard)
    village.victim.kill()
    shutil.rmtree(data)
    shutil.copytree(data.with_name("backup"), data)
    village.victim.start()
    village.learn(10)
    until(village.heard)
    village.gossip()
    assert village.innocent(), "it learned that its data is old, and announced that its tallies fell"
    assert any("brought back from a copy" in warning for warning in village.client.state().warnings)
    assert village.metric(1, 'byzmab_alarms{kind="lost"}') >= 1


def test_a_key_without_its_data_is_not_begun_anew_in_silence(village):
    data = village.victim.directory / "agent-1"
    village.victim.kill()
    shutil.rmtree(data)
    said = refused(village.victim.file)
    assert "is missing, but its key was used before" in said and "byzmab node init" in said
    byzmab("node", "init", village.victim.file)
    village.victim.start()
    village.learn(5)
    until(village.heard)
    village.gossip()
    assert village.innocent() and village.client.state().warnings == []
    village.victim.kill()
    assert "holds a node already" in refused("init", village.victim.file)


def test_an_empty_data_file_is_refused_and_left_alone(tmp_path):
    node = Process(1, tmp_path).start()
    node.kill()
    file = node.directory / "agent-1" / "node.db"
    file.write_bytes(b"")
    said = refused(node.file)
    assert "is empty; nothing was changed" in said and "byzmab node init" in said
    assert file.stat().st_size == 0
    (node.directory / "node.key.used").unlink()
    assert "is empty" in refused(node.file), "whether the key was used or not"


def test_a_foreign_data_file_is_refused(tmp_path):
    one, two = Process(1, tmp_path).start(), Process(2, tmp_path).start()
    one.kill()
    two.kill()
    shutil.rmtree(one.directory / "agent-1")
    shutil.copytree(two.directory / "agent-2", one.directory / "agent-1")
    assert f"belongs to key {key_of(2).public}" in refused(one.file)


def test_a_lock_that_a_node_holds_cannot_be_deleted_away(tmp_path):
    node = Process(1, tmp_path).start()
    (node.directory / "agent-1" / "node.lock").unlink()
    config = read_config(node.file)
    config.http.port = free_port()
    write_config(config, node.directory / "second.toml")
    assert "is in use by another node" in refused(node.directory / "second.toml", code=TRY_AGAIN)
    shutil.copytree(node.directory / "agent-1", node.directory / "copy")
    config.data = "copy"
    write_config(config, node.directory / "second.toml")
    assert "key file" in refused(node.directory / "second.toml", code=TRY_AGAIN), "nor with other data"
    shutil.copy(node.directory / "node.key", node.directory / "other.key")
    config.key, config.data = "other.key", "agent-1"
    write_config(config, node.directory / "second.toml")
    assert "data file" in refused(node.directory / "second.toml", code=TRY_AGAIN), "nor with a copy of the key"
    assert node.stop() == 0


def test_a_lost_volume_is_refused_where_only_the_volume_can_be_written(tmp_path):
    """As in a container: nothing can be written beside the key, and the data directory is all that survives."""
    node = Process(1, tmp_path)
    (node.directory / "node.key.used").mkdir()  # what cannot be written
    said = refused(node.file)
    assert "nothing can be written beside key file" in said and "byzmab node init" in said
    byzmab("node", "init", node.file)
    node.start()
    with Client(node.url) as client:
        client.select()
    assert node.stop() == 0
    node.start()
    node.kill()
    shutil.rmtree(node.directory / "agent-1")
    (node.directory / "agent-1.used").unlink()  # it is on the same volume
    assert "whether data was lost cannot be known" in refused(node.file)


# thieves and twins


class Thief:
    """Somebody who has the key of agent 1, or is agent 9, and reaches the ports of others."""

    def __init__(self, village, key=1):
        self.transport = ZenohTransport(NETWORK, key_of(key).public)
        self.transport.open(lambda name, content: None)
        for number, port in village.ports.items():
            self.transport.link(Link(f"agent-{number}", key_of(number).public, f"tcp/127.0.0.1:{port}"))

    def say(self, number, content):
        self.transport.send(f"agent-{number}", content)

    def close(self):
        self.transport.close()


@pytest.fixture
def thief(village):
    thief = Thief(village)
    yield thief
    thief.close()


def now():
    return int(time.time() * 1e6)


def test_a_stolen_word_at_a_high_epoch_raises_an_alarm_and_does_not_silence_the_owner(village, thief):
    epoch = now() + 5 * YEAR

    def stolen():
        thief.say(2, frame(1, 1, (999,) * 4, epoch=epoch, reset=epoch))
        return village.seen(2).epoch >= epoch

    until(stolen)
    until(lambda: village.client.state().epoch > epoch)
    village.learn(5)
    until(village.heard)
    assert village.innocent()
    assert any("was not signed by it" in warning for warning in village.client.state().warnings)
    ready = json.load(urllib.request.urlopen(f"{village.victim.url}/readyz"))
    assert ready["status"] == "degraded" and ready["warnings"] == village.client.state().warnings
    assert village.metric(1, 'byzmab_alarms{kind="foreign"}') >= 1
    assert '"alarm": "foreign"' in village.victim.log.read_text()
    thief.say(2, frame(1, 1, epoch=2**63 - 1))
    until(lambda: village.seen(2).refusals.get("epoch ahead"))
    assert village.seen(2).epoch < 2**62, "the last epoch of all is no one's"


def test_a_twin_is_noticed_and_expels_nobody(village):
    twin = village.victim.directory / "twin"
    twin.mkdir()
    shutil.copy(village.victim.directory / "node.key", twin / "node.key")
    shutil.copytree(village.victim.directory / "agent-1", twin / "agent-1")
    config = read_config(village.victim.file)
    config.key, config.data, config.http.port = "node.key", "agent-1", free_port()
    write_config(config, twin / "node.toml")
    second = Forked(["node", twin / "node.toml"], twin / "log")
    try:
        until(lambda: any("another process has the key" in said for said in village.client.state().warnings))
        village.gossip(40)
        assert not any(village.seen(by).expelled for by in (2, 3))
    finally:
        second.kill()
        second.wait()


def test_the_accused_is_told_and_a_pardon_brings_it_back(village, thief):
    epoch = now() + YEAR

    def framed():
        for body in range(2):
            thief.say(2, frame(1, 1, (999, 999, 999, 999 + body), epoch=epoch, reset=epoch))
        return all(village.seen(by).expelled for by in (2, 3))

    until(framed)
    until(lambda: any("others hold proof" in warning for warning in village.client.state().warnings))
    assert village.metric(1, 'byzmab_alarms{kind="accused"}') == 1
    assert village.metric(2, "byzmab_f") == 0
    village.learn(3)
    byzmab("node", "pardon", village.nodes[2].file, key_of(1).public)
    village.nodes[3].kill()
    byzmab("node", "pardon", village.nodes[3].file, "agent-1")
    village.nodes[3].start()
    until(village.heard)
    assert not any(village.seen(by).expelled for by in (2, 3))
    byzmab("node", "pardon", village.victim.file, key_of(1).public)
    assert village.client.state().warnings == []
    assert "'mallory' is no neighbour" in refused("pardon", village.nodes[2].file, "mallory")


def test_a_key_is_changed_with_its_tallies_and_no_neighbour_is_restarted(village):
    directory = village.victim.directory
    key_of(7).save(directory / "new.key")
    byzmab("node", "handover", village.victim.file, directory / "new.key")
    until(lambda: all(village.seen(by).key == key_of(7).public for by in (2, 3)))
    village.victim.stop()
    byzmab("node", "export", village.victim.file, "--out", directory / "state.json")
    config = read_config(village.victim.file)
    config.key, config.data = "new.key", "new-data"
    write_config(config, village.victim.file)
    byzmab("node", "import", village.victim.file, directory / "state.json")
    village.victim.start()
    assert village.client.state().key == key_of(7).public
    assert sum(arm.pulls for arm in village.client.arms().arms) == 20
    village.learn(5)
    until(village.heard)
    assert village.innocent()
    village.nodes[2].stop()
    village.nodes[2].start()
    village.learn(5)
    until(village.heard)
    assert village.seen(2).key == key_of(7).public, "though its file has the old key"


# insiders


@pytest.mark.parametrize("way", ["a word common to all before each report", "numbers per receiver"])
def test_an_insider_cannot_tell_two_neighbours_different_things_unseen(village, way):
    """Agent 1 is now the insider: its process is gone, and its key says what it likes."""
    village.victim.kill()
    insider, epoch = Thief(village), now()
    seq = 0

    def lie():
        nonlocal seq
        for _ in range(5):
            seq += 2
            odd, even = (seq - 1, seq) if way == "numbers per receiver" else (seq, seq)
            insider.say(2, frame(1, odd, (seq,) * 4, (0.9,) * 4, epoch=epoch, reset=epoch))
            insider.say(3, frame(1, even, (seq,) * 4, (0.1,) * 4, epoch=epoch, reset=epoch))
        if way != "numbers per receiver":
            for number in (2, 3):
                insider.say(number, frame(1, seq + 1, (seq + 20,) * 4, (0.5,) * 4, epoch=epoch, reset=epoch))
        return all(village.seen(by).expelled for by in (2, 3))

    until(lie)
    kinds = {piece.kind for by in (2, 3) for piece in village.seen(by).evidence}
    if way == "numbers per receiver":
        assert kinds == {"sequence"}
    proof = village.victim.directory / "peers.json"
    proof.write_bytes(urllib.request.urlopen(f"{village.nodes[2].url}/v1/neighbours").read())
    assert key_of(1).public in byzmab("evidence", "verify", proof).stdout
    insider.close()


# time and settings

STEPPED = """
import time
from pathlib import Path
real, step = time.time, Path({file!r})
time.time = lambda: real() + float(step.read_text())
"""


def stepped_node(tmp_path, monkeypatch, seconds, *neighbours, **settings):
    """A node whose wall clock is so many seconds ahead, as a file says, which is returned, too."""
    step = tmp_path / "step"
    step.write_text(str(seconds))
    (tmp_path / "sitecustomize.py").write_text(STEPPED.format(file=str(step)))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{':'.join(sys.path)}")
    node = Process(1, tmp_path, *neighbours, report_every=0.1, **settings)
    node.from_nothing = True
    return node, step


def test_a_clock_years_ahead_at_one_start_is_told_and_repaired_without_losing_tallies(tmp_path, monkeypatch):
    port = free_port()
    other = Process(2, tmp_path, [neighbour_of(1)], [f"tcp/127.0.0.1:{port}"], report_every=0.1, f=0).start()
    there = neighbour_of(2, endpoint=f"tcp/127.0.0.1:{port}")
    node, step = stepped_node(tmp_path, monkeypatch, 20 * YEAR / 1e6, [there], f=0)
    node.start()
    with Client(node.url) as client, Client(other.url) as witness:
        client.rewards([(decision.event_id, 0.5) for decision in client.select_many(20)])
        pulls = {arm.arm: arm.pulls for arm in client.arms().arms}
        until(lambda: witness.neighbours()[0].refusals.get("epoch ahead"))
        until(lambda: client.state().warnings)
        ready = json.load(urllib.request.urlopen(f"{node.url}/readyz"))
        assert ready["status"] == "degraded" and "refuse this node's reports (epoch ahead)" in ready["warnings"][0]
        step.write_text("0")
        assert node.stop() == 0
        byzmab("node", "lower-epoch", node.file)
        assert "not ten years above the clock" in refused("lower-epoch", node.file), "once is enough"
        node.start()
        until(lambda: witness.neighbours()[0].pulls == pulls)
        assert client.state().warnings == [] and not witness.neighbours()[0].evidence
        assert client.state().epoch < now() + YEAR
    assert node.stop() == 0 and other.stop() == 0


def test_reward_deadlines_survive_a_step_of_the_wall_clock(tmp_path, monkeypatch):
    """A day forward, and a day back, while it runs and while it does not."""
    node, step = stepped_node(tmp_path, monkeypatch, 0, reward_wait=3600.0)
    node.start()
    with Client(node.url) as client:

        def reports():
            """Wait for ten reports: after each, overdue events are given up."""
            before = client.state().seq
            until(lambda: client.state().seq >= before + 10)

        waiting = client.select().event_id
        step.write_text("86400")
        reports()
        assert client.state().pending == 1
        node.kill()
        node.start()
        reports()
        assert client.state().pending == 1, "the stepped clock is no reason to give up, after a restart neither"
        client.reward(waiting, 1.0)
        node.kill()
        node.config.reward_wait = 2.0
        write_config(node.config, node.file)
        node.start()
        client.select()
        step.write_text("-86400")
        until(lambda: client.state().expired == 1)
    assert node.stop() == 0
