"""A network of real processes on loopback: started, hurt, mended and stopped."""

import json

import pytest
from waiting import LONG, until

from byzmab import BadInput
from byzmab.experiment.experiment import Experiment
from byzmab.node.client import Client
from byzmab.node.config import read_config
from byzmab.node.evidence import Lie
from byzmab.testbed.network import Network
from byzmab.testbed.provision import Options
from byzmab.testbed.traffic import Traffic


def started(agents, folder):
    """Nodes, of which the first lies; equivocators are kept, so that it can go on lying."""
    experiment = Experiment(agents=agents, byzantine=1, attack="extreme")
    return Network(experiment, folder / "data", Options("keep", report_every=0.1))


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with started(6, tmp_path_factory.mktemp("network")) as network:
        yield network


def client(network, number):
    return Client(network.member(number).url, timeout=LONG, retries=2)


def peer(network, number, of):
    return next(peer for peer in client(network, number).neighbours() if peer.name == network.member(of).name)


def is_heard(network, number, by, since=None):
    """Whether a fresh report of one agent has reached another; with `since`, one after that (epoch, seq)."""
    seen = peer(network, by, of=number)
    return seen.age is not None and seen.age < 1.0 and (since is None or (seen.epoch, seen.seq) > since)


def version(network, number, by):
    """The (epoch, seq) that one agent has last heard from another; the first is waited for."""
    until(lambda: peer(network, by, of=number).seq is not None)
    seen = peer(network, by, of=number)
    return seen.epoch, seen.seq


def test_all_nodes_hear_each_other_over_tls(network):
    for number in range(1, 7):
        others = [other for other in range(1, 7) if other != number]
        until(lambda number=number, others=others: all(is_heard(network, other, number) for other in others))
    config = read_config(network.member(3).file)
    assert config.links.tls is not None and all(endpoint.startswith("tls/") for endpoint in config.links.listen)


def test_applications_decide_and_a_liar_is_caught_with_proof(network):
    with Traffic(network, rate=20.0) as traffic:
        until(lambda: all(application.decisions >= 30 for application in traffic.applications))
    summary = traffic.summary()
    for row in summary["agents"]:
        assert row["regret"] >= 0 and row["solo_regret"] >= 0 and row["state"] == "up"
        if not row["lies"]:
            caught = {piece["against"] for piece in row["evidence"] if piece["kind"] == "equivocation"}
            assert caught == {"agent-1"}, "the liar, and nobody else"
            assert row["expelled"] == []
    evidence = peer(network, 3, of=1).evidence
    assert any(piece.kind is Lie.EQUIVOCATION for piece in evidence)
    assert json.loads(json.dumps(summary)) == summary


def test_a_node_that_is_cut_off_still_decides_and_comes_back(network):
    version(network, 4, by=3)  # it is heard before it is cut off
    network.partition(4)
    try:
        assert network.state(4) == "cut off"
        until(lambda: peer(network, 3, of=4).age > 0.8)
        before, others = version(network, 4, by=3), [version(network, other, by=3) for other in (2, 5)]
        for other, (epoch, seq) in zip((2, 5), others, strict=True):  # meanwhile others are heard ten times
            until(lambda other=other, later=(epoch, seq + 10): version(network, other, by=3) >= later)
        assert version(network, 4, by=3) == before, "nothing passes"
        assert client(network, 4).neighbours() == []
        assert client(network, 4).select().arm in network.deployment.plan.arms
    finally:
        network.heal(4)
    until(lambda: is_heard(network, 4, by=3, since=before) and is_heard(network, 3, by=4))


def test_a_killed_node_goes_on_from_its_data_in_a_new_epoch(network):
    with client(network, 5) as application:
        decision = application.select()
        application.reward(decision.event_id, 1.0)
        before = application.state()
    heard = version(network, 5, by=3)
    network.kill(5)
    assert network.state(5) == "down"
    assert client(network, 3).select().arm, "others decide"
    network.restart(5)
    after = client(network, 5).state()
    assert after.epoch > before.epoch
    assert [(arm.arm, arm.pulls) for arm in after.arms] == [(arm.arm, arm.pulls) for arm in before.arms]
    until(lambda: is_heard(network, 5, by=3, since=heard) and is_heard(network, 3, by=5))


def test_a_hung_node_delays_nobody_and_is_heard_again_when_it_wakes(network):
    heard = version(network, 6, by=3)
    network.freeze(6)
    try:
        assert network.state(6) == "hung"
        other = version(network, 2, by=3)
        for _ in range(20):  # a node that waited for the hung one would not answer
            Client(network.member(3).url, timeout=LONG, retries=0).select()
        until(lambda: is_heard(network, 2, by=3, since=other))  # others are heard meanwhile
    finally:
        network.thaw(6)
    until(lambda: is_heard(network, 6, by=3, since=heard))


def test_liars_change_how_they_lie_while_they_run(network):
    network.set_attack("starve")
    until(lambda: set(peer(network, 3, of=1).pulls.values()) == {0})
    network.set_attack("extreme")
    until(lambda: set(peer(network, 3, of=1).means.values()) == {0.0, 1.0})
    with pytest.raises(BadInput, match="attack 'nonsense' is not known"):
        network.set_attack("nonsense")


def test_proven_liars_are_expelled_and_taken_back_while_nodes_run(network):
    network.set_attack("extreme")
    for number, decisions in ((3, 6), (4, 12)):  # then they are told different counts
        with client(network, number) as application:
            for _ in range(decisions):
                application.reward(application.select().event_id, 1.0)
    until(lambda: peer(network, 3, of=1).evidence)
    assert not peer(network, 3, of=1).expelled
    network.set_equivocators("expel")
    until(lambda: peer(network, 3, of=1).expelled)
    network.set_equivocators("keep")
    until(lambda: not peer(network, 3, of=1).expelled)
    heard = version(network, 1, by=3)
    until(lambda: is_heard(network, 1, by=3, since=heard))  # it counts again
    with pytest.raises(BadInput, match="equivocators 'later' is not allowed; allowed: expel, keep"):
        network.set_equivocators("later")


def test_an_honest_agent_is_turned_into_a_liar_and_back(tmp_path):
    with started(5, tmp_path) as network:  # its own: what the liar signed is held against it for ever
        network.turn(4)
        assert network.lies(4) and not network.lies(3)
        until(lambda: set(peer(network, 3, of=4).means.values()) == {0.0, 1.0})
        network.turn(4)
        assert not network.lies(4)
        with client(network, 4) as application:
            for _ in range(4):
                application.reward(application.select().event_id, 1.0)
        until(lambda: set(peer(network, 3, of=4).means.values()) != {0.0, 1.0})


def test_unknown_agents_are_named(network):
    with pytest.raises(BadInput, match="agent 7 does not exist; allowed: 1 to 6"):
        network.kill(7)
