"""kill -9 at any moment, under traffic: nothing acknowledged is lost, nothing counts twice, nothing is signed twice.

BYZMAB_KILLS=100 in `make test-long`.
"""

import os
import random
import sqlite3
import threading
from itertools import pairwise

from live import NETWORK, Process, free_port, key_of, neighbour_of
from waiting import LONG, until

from byzmab import Client
from byzmab.node.evidence import impossible_arm
from byzmab.node.identity import public_bytes
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport
from byzmab.node.wire import digest_of, unseal_report

KILLS = int(os.environ.get("BYZMAB_KILLS", "8"))


class Application(threading.Thread):
    """Asks and rewards as fast as it can, and remembers what was acknowledged."""

    def __init__(self, url, number):
        super().__init__(daemon=True)
        self.client, self.number = Client(url, timeout=LONG, retries=60), number
        self.chosen, self.rewarded, self.ended = {}, {}, threading.Event()

    def run(self):
        chance = random.Random(self.number)
        while not self.ended.is_set():
            decision = self.client.select(f"app-{self.number}-{len(self.chosen)}")
            self.chosen[decision.event_id] = decision.arm
            if chance.random() < 0.9:
                value = chance.random()
                self.client.reward(decision.event_id, value)
                self.rewarded[decision.event_id] = value


def rewards_of(crowd):
    """How many rewards were acknowledged so far."""
    return sum(len(application.rewarded) for application in crowd)


def test_kill_9_loses_nothing_counts_nothing_twice_and_signs_nothing_twice(tmp_path):
    port = free_port()
    neighbour = neighbour_of(2, endpoint=f"tcp/127.0.0.1:{port}")
    node = Process(1, tmp_path, [neighbour], report_every=0.02, catch_up=0.0).start()
    frames, public = [], public_bytes(key_of(1).public)
    ear = ZenohTransport(NETWORK, key_of(2).public, (f"tcp/127.0.0.1:{port}",))
    ear.open(lambda name, content: frames.append(content))
    ear.link(Link("agent-1", key_of(1).public))
    crowd = [Application(node.url, number) for number in range(4)]
    chance = random.Random(7)
    for application in crowd:
        application.start()
    for number in range(KILLS):
        said, counted = len(frames), rewards_of(crowd)
        more = chance.randint(6, 100)  # it is killed while the next ones are under way
        until(lambda counted=counted, more=more: rewards_of(crowd) >= counted + more, every=0.001)
        if number % 3:  # others may be killed before their first report
            until(lambda said=said: len(frames) > said, every=0.001)
        node.kill()
        node.start()
    for application in crowd:
        application.ended.set()
        application.join(LONG)
        assert not application.is_alive()
    state = crowd[0].client.state()
    assert node.stop() == 0
    ear.close()

    with sqlite3.connect(tmp_path / "process-1" / "agent-1" / "node.db") as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        events = {row[0]: row[1:] for row in file.execute("SELECT event_id, arm, state, value FROM events")}
        tallies = {row[0]: row[1:] for row in file.execute("SELECT arm, pulls, total, pending FROM arms")}
    chosen = {event: arm for application in crowd for event, arm in application.chosen.items()}
    rewarded = {event: value for application in crowd for event, value in application.rewarded.items()}
    assert len(rewarded) > 5 * KILLS
    assert {event: events[event][0] for event in chosen} == chosen
    assert {event: events[event][2] for event in rewarded} == rewarded
    for arm, (pulls, total, pending) in tallies.items():
        values = [value for name, state, value in events.values() if name == arm and state == 1]
        assert pulls == len(values) and abs(total - sum(values)) < 1e-6
        assert pending == sum(name == arm and state == 0 for name, state, _ in events.values())

    reports = [unseal_report(content, public, NETWORK) for content in frames]
    assert len({report.epoch for report in reports}) > KILLS / 2
    assert state.epoch >= max(report.epoch for report in reports)
    bodies = {}
    for report, content in zip(reports, frames, strict=True):
        assert bodies.setdefault(report.version, digest_of(content)) == digest_of(content)
    reports.sort(key=lambda report: report.version)
    for before, after in pairwise(reports):
        assert impossible_arm(before, after) is None  # what was told was on the disk
