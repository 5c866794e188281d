"""A node without its HTTP: decisions, neighbours, time."""

import math
import os
import random
import sqlite3

import numpy as np
import pytest
from live import ARMS, Time, config_of, frame, host_of, key_of, learn, neighbour_of, report, say

from byzmab import Agent
from byzmab.core.errors import BadInput
from byzmab.node import decisions
from byzmab.node.decisions import Conflict, TooLate, UnknownEvent
from byzmab.node.host import Host
from byzmab.node.store import NodeStore
from byzmab.node.transport.memory import Faults, Hub, MemoryTransport
from byzmab.node.wire import Refusal, seal, unseal_report

FRAMES = int(os.environ.get("BYZMAB_FRAMES", "10000"))  # 100 000 in `make test-long`


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def host(tmp_path, time):
    """A node that hears agents 2, 3 and 4, and tells 2 and 3."""
    neighbours = [neighbour_of(2), neighbour_of(3), neighbour_of(4, tells=False)]
    config = config_of(1, tmp_path, neighbours, max_age=10.0, reward_wait=100.0, f=0, filter="trimmed", policy="ucb")
    host = host_of(config, 1, clock=time.clock())
    yield host
    host.close()


def neighbour(host, number):
    return host.neighbourhood.neighbours[f"agent-{number}"]


# decisions


def test_the_same_event_has_the_same_arm(host):
    first = host.select("checkout-1")
    assert all(host.select("checkout-1") == first for _ in range(5))
    host.reward("checkout-1", 1.0)
    assert host.select("checkout-1") == first
    assert host.decisions.counts.decisions == 1


def test_a_reward_counts_once(host):
    event, arm, *_ = host.select()
    for _ in range(3):
        host.reward(event, 0.25)
    with pytest.raises(Conflict, match=r"0\.25"):
        host.reward(event, 0.5)
    assert host.agent.tally(arm).pulls == 1 and host.agent.tally(arm).total == 0.25


def test_a_reward_counts_once_however_long_ago(host, monkeypatch):
    """Events that memory has let go are found on the disk, and not before they are there."""
    monkeypatch.setattr(decisions, "AT_HAND", 10)
    events = [host.select()[0] for _ in range(200)]
    for _ in range(3):
        for event in events:
            host.reward(event, 0.5)
    host.store.flush()
    for event in events:
        host.reward(event, 0.5)
        assert host.select(event).event_id == event
    assert sum(host.agent.report().pulls) == host.decisions.counts.decisions == 200


def test_a_reward_for_nothing_is_unknown(host):
    with pytest.raises(UnknownEvent, match="nothing"):
        host.reward("nothing", 1.0)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, "1", None])
def test_a_bad_reward_changes_nothing(host, value):
    event = host.select()[0]
    before = host.agent.to_json()
    with pytest.raises(BadInput, match="value"):
        host.reward(event, value)
    assert host.agent.to_json() == before


@pytest.mark.parametrize("event", ["", "x" * 129, "a/b", "a b", "é", "\n"])
def test_a_bad_event_id_is_refused(host, event):
    with pytest.raises(BadInput, match="event_id"):
        host.select(event)


def test_a_reward_that_never_comes_counts_as_no_pull(host, time):
    event, arm, *_ = host.select()
    time.now += 101
    host.tell()
    assert host.agent.tally(arm).pending == host.agent.tally(arm).pulls == 0
    with pytest.raises(TooLate):
        host.reward(event, 1.0)


def test_a_default_reward_counts_when_none_came(tmp_path, time):
    config = config_of(1, tmp_path, reward_wait=5.0, default_reward=0.25)
    host = host_of(config, 1, clock=time.clock())
    event, arm, *_ = host.select()
    time.now += 4
    late = host.select()[0]
    time.now += 2
    host.tell()
    assert (host.agent.tally(arm).pulls, host.agent.tally(arm).total) == (1, 0.25)
    with pytest.raises(TooLate):
        host.reward(event, 1.0)
    host.reward(late, 1.0)
    assert host.decisions.counts.expired == 1
    host.close()
    again = host_of(config, 1, clock=time.clock())
    with pytest.raises(TooLate):
        again.reward(event, 1.0)
    again.close()


def test_only_rewarded_pulls_are_told(tmp_path):
    hub = Hub()
    one = host_of(config_of(1, tmp_path, [neighbour_of(2)]), 1, hub)
    two = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub)
    learn(one, 6)
    for _ in range(5):
        one.select()
    one.tell()
    hub.carry()
    two.listen()
    told = two.heard["agent-1"]
    assert sum(told.pulls) == 6 and told.arms == list(ARMS)
    assert told.report.pulls.tolist() == one.agent.report().pulls.tolist()
    one.close()
    two.close()


def test_a_burst_before_any_reward_spreads_over_the_arms(host):
    arms = [host.select()[1] for _ in range(40)]
    assert {arm: arms.count(arm) for arm in ARMS} == dict.fromkeys(ARMS, 10)


def test_arms_come_and_go_with_what_is_known_of_them(host):
    learn(host, 20)
    pulls = host.agent.tally("a").pulls
    waiting = next(event for event, arm, *_ in (host.select() for _ in range(100)) if arm == "a")
    host.set_arms(["b", "c", "d", "e"])
    assert host.select()[1] == "e"
    assert host.decisions.retired == ["a"]
    host.reward(waiting, 1.0)
    host.set_arms(["a", "b"])
    assert host.agent.tally("a").pulls == pulls + 1
    assert set(host.decisions.retired) == {"c", "d", "e"}


@pytest.mark.parametrize(
    "arms", [["a"], ["a", "a"], ["a", ""], ["a", "x" * 200], ["a", "\x00"], [str(n) for n in range(2000)]]
)
def test_bad_arms_change_nothing(host, arms):
    with pytest.raises(BadInput, match="arms"):
        host.set_arms(arms)
    assert host.agent.arms == ARMS


# neighbours


def test_a_report_heard_changes_the_belief(host):
    learn(host, 40)
    before = host.agent.belief()
    say(host, 2, frame(2, 1, (50,) * 4, (1.0, 0.0, 0.0, 0.0)))
    after = host.agent.belief()
    assert after.estimates[0] > before.estimates[0] and np.all(after.weights > before.weights)


def test_a_report_older_than_max_age_is_silence(host, time):
    learn(host, 40)
    before = host.agent.belief()
    say(host, 2, frame(2, 1, (50,) * 4))
    time.now += 6
    say(host, 3, frame(3, 1, (50,) * 4))
    time.now += 5
    host.select()
    assert host.agent.senders == ("agent-3",)
    time.now += 6
    host.tell()
    assert host.agent.senders == ()
    assert host.agent.belief().estimates.tolist() == before.estimates.tolist()


def test_the_senders_clock_does_not_matter(host, time):
    say(host, 2, frame(2, 1, time=1e12))
    say(host, 3, frame(3, 1, time=-1e12))
    assert set(host.agent.senders) == {"agent-2", "agent-3"}


@pytest.mark.parametrize("version", [(1, 5), (1, 4), (0, 9)])
def test_only_what_is_newer_counts(host, version):
    say(host, 2, frame(2, 5, (9,) * 4))
    epoch, seq = version
    say(host, 2, frame(2, seq, (8,) * 4, epoch=epoch) if version != (1, 5) else frame(2, 5, (9,) * 4))
    assert host.heard["agent-2"].pulls == [9] * 4
    assert neighbour(host, 2).counts["refused: not newer"] == 1
    say(host, 2, frame(2, 1, (20,) * 4, epoch=2))
    assert host.heard["agent-2"].pulls == [20] * 4


def insider_frames():
    """What somebody with a valid link may send, and why it is refused."""
    yield seal(key_of(3), report(3, 9)), Refusal.SIGNATURE  # another's frame over this link: a replay across links
    yield seal(key_of(2), report(3, 9)), Refusal.SENDER
    yield frame(2, 9)[:-1], Refusal.SIGNATURE
    yield frame(2, 9, network="other"), Refusal.NETWORK
    yield frame(2, 9, (1, 1, 1, -1)), Refusal.NUMBERS
    yield frame(2, 9, (1, 1, 1, 2**60)), Refusal.NUMBERS
    yield frame(2, 9, means=[0.5, 0.5, 0.5, math.nan]), Refusal.NUMBERS
    yield frame(2, 9, arms=["a", "a", "b", "c"]), Refusal.ARMS
    yield frame(2, 1), Refusal.OLD
    yield b"", Refusal.MALFORMED
    yield bytes(70_000), Refusal.OVERSIZED


@pytest.mark.parametrize(
    ("content", "reason"), [*insider_frames()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_insider_changes_no_belief(host, content, reason):
    learn(host, 20)
    say(host, 2, frame(2, 5))
    before = host.agent.to_json()
    say(host, 2, content)
    if reason is Refusal.NUMBERS:
        assert neighbour(host, 2).expelled, "it is proof"
    else:
        assert host.agent.to_json() == before
    assert neighbour(host, 2).counts[f"refused: {reason}"] == neighbour(host, 2).counts["refused"] == 1
    assert host.select()[1] in ARMS


def test_mutated_frames_change_nothing(host):
    learn(host, 20)
    honest = frame(2, 5)
    say(host, 2, honest)
    before, chance = host.agent.to_json(), random.Random(3)
    for _ in range(FRAMES):
        content = bytearray(honest)
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        say(host, 2, bytes(content))
    assert host.agent.to_json() == before
    assert neighbour(host, 2).counts["refused"] == FRAMES


def test_arms_that_only_one_side_knows_are_ignored(host):
    learn(host, 20)
    say(host, 2, frame(2, 1, (7, 7), (0.5, 0.5), arms=["b", "z"]))
    assert host.agent.explain()["agent-2"] == {"a": "silent", "b": "kept", "c": "silent", "d": "silent"}


def test_a_frame_from_a_stranger_is_counted_and_nothing_else(host):
    host.deliver("mallory", frame(2, 1))
    host.listen()
    assert host.strangers == 1 and host.agent.senders == ()


def test_whom_we_do_not_hear_is_not_heard(tmp_path):
    host = host_of(config_of(1, tmp_path, [neighbour_of(2, hears=False)]), 1)
    say(host, 2, frame(2, 1))
    assert host.agent.senders == () and neighbour(host, 2).counts["refused: not a neighbour"] == 1
    host.close()


def test_a_flood_is_cut_off_and_the_rest_is_served(host):
    for _ in range(1_000):
        host.deliver("agent-2", b"x" * 100)
    host.deliver("agent-3", frame(3, 1))
    assert host.listen(0.0) and host.listen(0.0), "one frame each"
    assert host.agent.senders == ("agent-3",)  # neighbours take turns
    host.listen()
    assert neighbour(host, 2).counts["refused: flood"] > 700
    assert neighbour(host, 2).counts["refused"] == 1_000


def test_what_the_filter_did_is_counted_per_neighbour(tmp_path):
    host = host_of(config_of(1, tmp_path, [neighbour_of(n) for n in range(2, 7)], f=1, filter="trimmed"), 1)
    learn(host, 40)
    for number, mean in ((2, 0.0), (3, 0.4), (4, 0.6), (5, 1.0)):
        say(host, number, frame(number, 1, (99,) * 4, (mean,) * 4))
    for _ in range(3):
        host.tell()
    assert [neighbour(host, n).counts["trimmed"] for n in range(2, 7)] == [12, 0, 0, 12, 0]
    assert [neighbour(host, n).counts["kept"] for n in range(2, 7)] == [0, 12, 12, 0, 0]
    assert neighbour(host, 6).counts["silent"] == 12
    host.close()


# telling


def test_no_place_in_time_is_signed_twice(tmp_path):
    versions, config = set(), config_of(1, tmp_path, [neighbour_of(2)])
    for _ in range(3):
        host = host_of(config, 1)
        for _ in range(4):
            [(name, content)] = host.compose()
            told = unseal_report(content, bytes.fromhex(key_of(1).public[8:]), config.network)
            assert name == "agent-2" and told.version not in versions
            versions.add(told.version)
        host.close()
    assert len(versions) == 12


def test_everyone_is_told_the_same_frame(host):
    outgoing = host.compose()
    assert [name for name, _ in outgoing] == ["agent-2", "agent-3"]
    assert len({content for _, content in outgoing}) == 1


def test_over_a_bad_network_the_newest_report_still_wins(tmp_path):
    """Frames that are lost, doubled, late and out of order."""
    hub = Hub(Faults(drop=0.3, duplicate=0.3, delay=4, reorder=True), seed=2)
    one = host_of(config_of(1, tmp_path, [neighbour_of(2)]), 1, hub)
    two = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub)
    newest = (0, 0)
    for _ in range(80):
        learn(one, 2)
        one.tell()
        hub.carry()
        two.listen()
        if "agent-1" in two.heard:
            assert two.heard["agent-1"].version >= newest
            newest = two.heard["agent-1"].version
    assert newest[1] > 70
    assert not neighbour(two, 1).evidence and neighbour(two, 1).counts["refused: not newer"] > 5
    one.close()
    two.close()


def test_a_partition_ends(tmp_path):
    hub = Hub()
    one = host_of(config_of(1, tmp_path, [neighbour_of(2)]), 1, hub)
    two = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub)

    def exchange():
        one.tell()
        hub.carry()
        two.listen()
        return len(two.heard)

    hub.partition([key_of(1).public])
    assert exchange() == 0
    assert two.select()[1] in ARMS  # alone, but alive
    hub.partition()
    assert exchange() == 1
    one.close()
    two.close()


# neighbours that change


def test_neighbours_are_added_removed_and_rekeyed_at_once(host):
    for number in (2, 3):
        say(host, number, frame(number, 7))
    host.set_neighbours((neighbour_of(2), neighbour_of(5), neighbour_of(6, name="agent-3")))
    assert host.agent.senders == ("agent-2",)  # 3 has a new key, and what the old one said is gone
    assert set(host.neighbourhood.neighbours) == {"agent-2", "agent-5", "agent-3"}
    say(host, 3, frame(3, 8))
    assert host.agent.senders == ("agent-2",)
    host.deliver("agent-3", frame(6, 1))
    host.deliver("agent-5", frame(5, 1))
    host.deliver("agent-4", frame(4, 1))
    host.listen()
    assert set(host.agent.senders) == {"agent-2", "agent-3", "agent-5"}
    assert host.strangers == 1


def test_a_report_on_no_arm_is_silence_and_keeps_nobody_from_hearing_or_starting(tmp_path):
    """A liar may sign it: to an agent a report without names is one on all of its own arms."""
    config = config_of(1, tmp_path, [neighbour_of(2), neighbour_of(3)], filter="trimmed", policy="ucb")
    host = host_of(config, 1)
    say(host, 2, frame(2, 1))
    host.deliver("agent-2", frame(2, 2, (), (), arms=[]))
    say(host, 3, frame(3, 1))
    assert host.agent.senders == ("agent-3",) and neighbour(host, 2).newest.signed.seq == 2
    host.close()
    host = host_of(config, 1)
    assert host.agent.senders == ("agent-3",)
    say(host, 2, frame(2, 3))
    assert set(host.agent.senders) == {"agent-2", "agent-3"}
    host.close()


def test_a_key_that_comes_back_is_remembered(host):
    say(host, 2, frame(2, 7))
    host.set_neighbours((neighbour_of(3),))
    host.set_neighbours((neighbour_of(2, name="bob"), neighbour_of(3)))
    host.deliver("bob", frame(2, 6))
    host.listen()
    assert host.neighbourhood.neighbours["bob"].counts["refused: not newer"] == 1


@pytest.mark.parametrize("stored", [frame(2, 5, (1, 1, 1, -1)), b"no frame"], ids=["numbers", "none"])
def test_a_stored_report_that_is_refused_now_keeps_no_node_from_starting(tmp_path, stored):
    """A version before may have accepted it; what is newer is heard again."""
    config = config_of(1, tmp_path, [neighbour_of(2)], filter="trimmed", policy="ucb")
    host = host_of(config, 1)
    say(host, 2, frame(2, 5))
    host.close()
    with sqlite3.connect(tmp_path / "agent-1" / "node.db") as file:
        file.execute("UPDATE hearings SET frame = ?", (stored,))
    host = host_of(config, 1)
    assert (host.agent.senders, neighbour(host, 2).counts["accepted"]) == ((), 1)
    say(host, 2, frame(2, 6))
    assert host.agent.senders == ("agent-2",)
    host.close()


def test_ones_own_key_is_no_neighbours(host, tmp_path):
    with pytest.raises(BadInput, match="own key"):
        host.set_neighbours((neighbour_of(1, name="me"),))
    assert set(host.neighbourhood.neighbours) == {"agent-2", "agent-3", "agent-4"}
    store = NodeStore(tmp_path / "x", "test", key_of(1).public)
    with pytest.raises(BadInput, match="own key"):
        config = config_of(1, tmp_path, [neighbour_of(1, name="me")])
        Host(config, key_of(1), store, MemoryTransport(Hub(), key_of(1).public))
    store.close()


def test_a_host_decides_like_its_agent_alone(tmp_path):
    """Nothing of the store or the wire leaks into decisions."""
    agent = Agent(list(ARMS), f=1, seed=9, policy="thompson")
    host = host_of(config_of(1, tmp_path, [neighbour_of(2)], f=1, seed=9, policy="thompson"), 1)
    for turn in range(60):
        event, arm, *_ = host.select()
        assert arm == agent.select()
        agent.reward(arm, turn % 3 / 2)
        host.reward(event, turn % 3 / 2)
    host.close()
