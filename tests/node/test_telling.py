"""With `report_growth` a node is quiet until it has something to say, and yet neither silent nor unobserved."""

import re

import pytest
from live import ARMS, Time, config_of, frame, host_of, learn, neighbour_of, report, say

from byzmab.core.errors import BadInput
from byzmab.node.metrics import Metrics
from byzmab.node.transport.memory import Hub
from byzmab.node.wire import Refusal, SignedReport, unseal


@pytest.fixture
def network(tmp_path):
    """Makes hosts on one hub, with one clock; closes them."""
    time, hub, hosts = Time(), Hub(), []

    def make(number, others, **settings):
        chosen = {"report_growth": 0.1, "max_age": 60.0, **settings}
        report_for = chosen.pop("report_for", None)
        config = config_of(number, tmp_path, [neighbour_of(other) for other in others], **chosen)
        hosts.append(host_of(config, number, hub, clock=time.clock(), report_for=report_for))
        return hosts[-1]

    make.time, make.hub = time, hub
    yield make
    for host in hosts:
        host.close()


def tell(network, *hosts):
    """Let hosts tell what is due, and everybody hear it; return how many frames each sent."""
    sent = []
    for host in hosts:
        outgoing = host.compose()
        host.store.flush()
        host.post(outgoing)
        sent.append(len(outgoing))
    network.hub.carry()
    for host in hosts:
        host.listen()
    return sent


def test_a_report_is_sent_only_once_an_arm_has_grown_by_the_share(network):
    host = network(1, [2])
    assert tell(network, host) == [1]  # nobody has heard of it yet
    learn(host, 4)  # each arm for the first time
    assert tell(network, host) == [1]
    assert tell(network, host) == [0]
    learn(host, 396)
    assert tell(network, host) == [1]
    told = dict(zip(ARMS, host.agent.report().pulls, strict=True))
    sent_after = 0
    while not sent_after:
        learn(host, 1)
        (sent_after,) = tell(network, host)
        grown = {arm: count / told[arm] for arm, count in zip(ARMS, host.agent.report().pulls, strict=True)}
        assert bool(sent_after) == (max(grown.values()) >= 1.1)


def test_without_the_setting_every_report_is_sent(network):
    host = network(1, [2], report_growth=None)
    assert [tell(network, host) for _ in range(3)] == [[1], [1], [1]]


def test_a_heartbeat_keeps_a_quiet_neighbour_from_looking_silent(network):
    one, two = network(1, [2]), network(2, [1])
    learn(one, 10)
    tell(network, one, two)
    frames = 0
    for _ in range(300):
        network.time.now += 1.0
        frames += tell(network, one, two)[0]
        two.select()
        assert two.agent.senders == ("agent-1",)
    assert frames == 300 / 20  # a third of max_age


def test_who_is_gone_falls_silent_all_the_same(network):
    one, two = network(1, [2]), network(2, [1])
    learn(one, 10)
    tell(network, one, two)
    network.time.now += 61.0
    two.select()
    assert two.agent.senders == ()


def test_quiet_uses_up_no_version_and_nothing_old_is_taken_again(network):
    one, two = network(1, [2]), network(2, [1])
    learn(one, 40)
    ((_, told),) = one.compose()
    version = (one.epoch, one.seq)
    assert one.compose() == []
    assert (one.epoch, one.seq) == version
    for _ in range(2):
        say(two, 1, told)
    counts = two.neighbourhood.neighbours["agent-1"].counts
    assert (counts["accepted"], counts[f"refused: {Refusal.OLD}"]) == (1, 1)


def test_who_equivocates_among_quiet_neighbours_is_proven_to_lie(network):
    one, two = network(1, [2, 3]), network(2, [1, 3])
    tell(network, one, two)
    say(one, 3, frame(3, 1, (5, 5, 5, 5)))
    say(two, 3, frame(3, 1, (6, 6, 6, 6)))
    for _ in range(3):  # marks wait for the next report, at most until the heartbeat
        network.time.now += 20.0
        tell(network, one, two)
    assert all(host.neighbourhood.neighbours["agent-3"].expelled for host in (one, two))


def test_new_arms_and_new_neighbours_are_told_at_once(network):
    host = network(1, [2])
    learn(host, 40)
    tell(network, host)
    assert tell(network, host) == [0]
    host.set_arms([*ARMS, "e"])
    assert tell(network, host) == [1]
    host.set_neighbours((neighbour_of(2), neighbour_of(3)))
    assert tell(network, host) == [2]
    assert tell(network, host) == [0]


def test_a_liar_tells_whenever_it_likes(network):
    liar = network(1, [2], report_for=lambda host, receiver: report(1, 1).report)
    assert [tell(network, liar) for _ in range(3)] == [[1], [1], [1]]


def test_metrics_count_the_bytes_of_every_link(network):
    one, two = network(1, [2]), network(2, [1])
    learn(one, 10)
    outgoing = one.compose()
    one.store.flush()
    one.post(outgoing)
    network.hub.carry()
    two.listen()
    ((_, told),) = outgoing
    assert isinstance(unseal(told, one.own.public, "test"), SignedReport)
    sent, received = Metrics(one).text().decode(), Metrics(two).text().decode()
    assert f'byzmab_sent_bytes_total{{neighbour="agent-2"}} {len(told)}.0' in sent
    assert re.search(rf'byzmab_received_bytes_total{{neighbour="agent-1"}} {len(told)}\.0', received)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"heartbeat": 5.0, "report_growth": None}, "heartbeat needs report_growth"),
        ({"heartbeat": 60.0}, "heartbeat 60.0 is not allowed; allowed: less than max_age, 60.0"),
    ],
)
def test_a_heartbeat_that_does_not_help_is_refused(settings, sentence, tmp_path):
    with pytest.raises(BadInput, match=sentence):
        config_of(1, tmp_path, **{"report_growth": 0.1, **settings})
