"""Insiders who keep to all rules and are expensive: they cost no more than their share, and nobody waits for them."""

import random
from itertools import count, islice

import numpy as np
import pytest
from live import ARMS, NETWORK, Process, Time, config_of, frame, free_port, host_of, key_of, neighbour_of, say
from waiting import until

from byzmab import Client
from byzmab.core.contexts import model
from byzmab.node.budget import DEAREST, IN_ADVANCE, SHARE
from byzmab.node.evidence import Lie, impossible_arm
from byzmab.node.identity import public_bytes
from byzmab.node.packing import pack
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport
from byzmab.node.wire import EvidenceMessage, Mark, Request, SignedContextReport, seal, unseal

OTHERS = [f"other-{number}" for number in range(300)]


def shuffled(seq, arms=(*ARMS, *OTHERS), pulls=None):
    """A possible report at contexts of two dimensions, its arms in another order each time."""
    told = random.Random(seq).sample(list(arms), len(arms))
    pulls = seq if pulls is None else pulls
    statistics = pack(np.zeros((1, 2)), np.eye(2)[None] * pulls / 2) * len(told)
    header = 1, NETWORK, public_bytes(key_of(9).public), 1, seq, 0.0, 0, told, [pulls] * len(told)
    return seal(key_of(9), SignedContextReport(*header, 2, statistics, []))


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def host(tmp_path, time):
    config = config_of(1, tmp_path, [neighbour_of(2), neighbour_of(9)], report_every=0.1)
    host = host_of(config, 1, clock=time.clock())
    yield host
    host.close()


def spend(neighbour, host):
    for _ in range(6):
        neighbour.budget.charge(DEAREST, host.clock.steady())


def test_what_exceeds_a_neighbours_budget_is_dropped_and_counted_and_others_are_served(host, time):
    neighbour = host.neighbourhood.neighbours["agent-9"]
    say(host, 9, frame(9, 1))
    spend(neighbour, host)
    say(host, 9, frame(9, 2))
    say(host, 2, frame(2, 1))
    assert neighbour.counts["refused: flood"] == 1 and host.heard["agent-9"].seq == 1
    assert "agent-2" in host.heard
    time.now += 5
    say(host, 9, frame(9, 3))
    assert host.heard["agent-9"].seq == 3, "its share comes back with time"


def test_nobody_owes_so_much_that_it_is_silenced_for_long(host, time):
    """What is compiled at the first frame is not the neighbour's fault."""
    neighbour = host.neighbourhood.neighbours["agent-9"]
    neighbour.budget.charge(1000.0, host.clock.steady())
    say(host, 9, frame(9, 1))
    assert "agent-9" in host.heard
    for _ in range(5):
        spend(neighbour, host)
    time.now += IN_ADVANCE / SHARE + 1
    say(host, 9, frame(9, 2))
    assert host.heard["agent-9"].seq == 2


def test_a_frame_at_a_time_is_handled_where_time_is_up(host):
    for seq in range(1, 6):
        host.deliver("agent-9", frame(9, seq))
    assert host.listen(0.0)
    assert len(host.neighbourhood.neighbours["agent-9"].inbox) == 4


def test_the_end_does_not_wait_for_frames(tmp_path):
    host = host_of(config_of(1, tmp_path, [neighbour_of(9)]), 1)
    for seq in range(1, 6):
        host.deliver("agent-9", frame(9, seq))
    host.close()
    assert host.neighbourhood.neighbours["agent-9"].newest is None


def test_shuffled_arms_are_aligned_and_compared_at_once(tmp_path, monkeypatch, time):
    """And only those in use here: the work does not grow with arms that nobody else has."""
    host = host_of(
        config_of(1, tmp_path, [neighbour_of(9)], context=2, arms=(*ARMS, *OTHERS[:50])), 1, clock=time.clock()
    )
    compared = []
    check = model.check_growth

    def counting(before, after):
        compared.append(after.arms)
        check(before, after)

    monkeypatch.setattr(model, "check_growth", counting)
    for seq in range(1, 6):
        time.now += 20  # the first frame may compile
        say(host, 9, shuffled(seq))
    assert host.neighbourhood.neighbours["agent-9"].counts["accepted"] == 5
    assert [set(arms) for arms in compared] == [{*ARMS, *OTHERS[:50]}] * 4
    time.now += 20
    say(host, 9, shuffled(6, pulls=3))
    assert host.neighbourhood.neighbours["agent-9"].proof.kind is Lie.SEQUENCE, "a lie is found in any order"
    host.close()


def test_the_arm_of_a_lie_is_found_among_many():
    before, after = (unseal(shuffled(seq), public_bytes(key_of(9).public), NETWORK) for seq in (1, 2))
    assert impossible_arm(before, after) is None
    assert impossible_arm(after, before) in {*ARMS, *OTHERS}
    assert impossible_arm(after, before, ["b"]) == "b" and impossible_arm(after, before, ["nobody's"]) is None


def test_what_a_witness_was_asked_to_show_is_at_the_expense_of_its_signer(host, time):
    """Else a liar could have an honest neighbour that shows its many reports silenced."""
    neighbours, asked = host.neighbourhood.neighbours, []
    host.transport.send = lambda name, content: asked.append(unseal(content, public_bytes(key_of(1).public), NETWORK))
    say(host, 9, frame(9, 5))
    digest = bytes(32)
    marks = [Mark(public_bytes(key_of(9).public), 1, seq, digest) for seq in (1, 2)]
    say(host, 2, frame(2, 1, marks=marks))
    assert [body.versions for body in asked if isinstance(body, Request)] == [[(1, 1), (1, 2)]]
    before = {name: neighbours[name].budget._free_at for name in ("agent-2", "agent-9")}
    answer = EvidenceMessage(1, NETWORK, public_bytes(key_of(2).public), [frame(9, 1), frame(9, 2)])
    say(host, 2, seal(key_of(2), answer))
    signer, witness = (neighbours[name].budget._free_at - before[name] for name in ("agent-9", "agent-2"))
    assert signer > witness
    before = neighbours["agent-9"].budget._free_at
    say(host, 2, seal(key_of(2), answer))
    assert neighbours["agent-9"].budget._free_at == before, "what nobody asked for is at the expense of who shows it"


def test_requests_about_a_neighbour_wait_until_it_has_time_left(host, time):
    asked = []
    host.transport.send = lambda name, content: asked.append(name)
    say(host, 9, frame(9, 5))
    spend(host.neighbourhood.neighbours["agent-9"], host)
    say(host, 2, frame(2, 1, marks=[Mark(public_bytes(key_of(9).public), 1, 1, bytes(32))]))
    assert asked == []
    time.now += 10
    host.listen()
    assert asked == ["agent-2"]


def test_a_flood_of_expensive_histories_delays_neither_health_nor_the_end(tmp_path):
    """Hundreds of arms in another order each time: each is possible, and none is worth more than its share."""
    port = free_port()
    node = Process(1, tmp_path, [neighbour_of(9)], [f"tcp/127.0.0.1:{port}"], context=2, arms=(*ARMS, *OTHERS[:50]))
    node.start()
    insider = ZenohTransport(NETWORK, key_of(9).public)
    insider.open(lambda name, content: None)
    insider.link(Link("agent-1", key_of(1).public, f"tcp/127.0.0.1:{port}"))
    frames = (shuffled(seq) for seq in count(1))
    with Client(node.url) as client:

        def heard():
            for content in islice(frames, 100):
                insider.send("agent-1", content)
            return client.neighbours()[0].accepted

        until(heard)
        assert heard() and client.select(context=[0.5, 0.5]).arm
    assert node.ready() and node.stop() == 0
    insider.close()
    assert "stopped before all links" not in node.log.read_text()
