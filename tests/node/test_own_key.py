"""What others hear under one's own key: alarms that are true, and none that are false."""

import pytest
from live import NETWORK, Time, config_of, frame, host_of, key_of, learn, neighbour_of, say

from byzmab.node.clock import Clock
from byzmab.node.host import AHEAD
from byzmab.node.identity import public_bytes
from byzmab.node.own_key import REFUSED_FOR, Alarm
from byzmab.node.store import JITTER, epoch_at
from byzmab.node.transport.memory import Hub
from byzmab.node.wire import EvidenceMessage, Mark, Refusal, RefusalNotice, digest_of, seal, unseal, unseal_report

OWN = public_bytes(key_of(1).public)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def host(tmp_path, time):
    host = host_of(config_of(1, tmp_path, [neighbour_of(2), neighbour_of(3)]), 1, clock=time.clock())
    host.asked = []
    host.transport.send = lambda name, content: host.asked.append(unseal(content, OWN, NETWORK))
    learn(host, 8)
    host.tell()
    yield host
    host.close()


def show(host, *frames, by=2):
    message = EvidenceMessage(1, NETWORK, public_bytes(key_of(by).public), list(frames))
    say(host, by, seal(key_of(by), message))


def newest(host):
    return unseal_report(host.compose()[0][1], OWN, NETWORK)


def test_ones_own_words_raise_no_alarm(host):
    told = host.compose()[0][1]
    show(host, told)
    say(host, 2, frame(2, 1, marks=[Mark(OWN, host.epoch, host.seq, digest_of(told))]))
    assert not host.own.warnings() and not host.own.overtaken


@pytest.mark.parametrize(
    ("ahead", "alarm"), [(0, Alarm.FOREIGN), (1, Alarm.LOST), (JITTER - 1, Alarm.LOST), (JITTER, Alarm.FOREIGN)]
)
def test_a_mark_that_one_did_not_sign_is_asked_for_and_believed_only_with_its_frame(host, ahead, alarm):
    """An epoch that began before this one, by its clock, may be above it by the chance that is added to both."""
    epoch = host.epoch + ahead
    stolen = frame(1, 99, epoch=epoch)
    host.asked.clear()
    say(host, 2, frame(2, 1, marks=[Mark(OWN, epoch, 99, digest_of(stolen))]))
    assert [(one.about, one.versions) for one in host.asked] == [(OWN, [(epoch, 99)])]
    assert not host.own.warnings(), "a witness alone raises no alarm"
    show(host, stolen)
    assert +host.own.alarms == {alarm: 1}
    told = newest(host)
    assert told.epoch > epoch and told.reset == told.epoch and told.seq == 1
    assert newest(host).epoch == told.epoch, "once is enough"


def test_another_body_for_ones_own_number_raises_an_alarm(host):
    show(host, frame(1, 1, epoch=host.epoch))
    assert host.own.alarms[Alarm.FOREIGN] == 1


def test_an_epoch_that_no_neighbour_accepts_is_not_followed(host, time):
    """A thief and an accomplice cannot lure the owner beyond what its neighbours accept."""
    limit = epoch_at(time.now) + AHEAD
    show(host, frame(1, 1, epoch=limit + 1))
    assert host.own.alarms[Alarm.FOREIGN] == 1
    assert newest(host).epoch < limit
    show(host, frame(1, 1, epoch=2**63 - 1))
    assert newest(host).epoch < limit


def test_an_epoch_too_far_ahead_is_refused_from_anybody(host, time):
    say(host, 2, frame(2, 1, epoch=epoch_at(time.now) + AHEAD + 10_000_000_000))
    assert host.neighbourhood.neighbours["agent-2"].counts["refused: epoch ahead"] == 1
    say(host, 2, frame(2, 1, epoch=epoch_at(time.now) + AHEAD // 2))
    assert "agent-2" in host.agent.senders


def test_a_clock_that_is_behind_hears_those_whose_clock_is_right(tmp_path, time):
    """A machine that boots in 1970 still knows when it last began an epoch."""
    config = config_of(1, tmp_path, [neighbour_of(2)])
    time.now = 1.8e9
    host_of(config, 1, clock=time.clock()).close()
    time.now = 10.0
    host = host_of(config, 1, clock=time.clock())
    say(host, 2, frame(2, 1, epoch=epoch_at(1.8e9)))
    assert host.agent.senders == ("agent-2",)
    host.close()


def test_frames_of_others_or_forged_ones_raise_no_alarm(host):
    show(host, frame(2, 1, epoch=host.epoch + 5), frame(3, 1))
    show(host, seal(key_of(2), unseal_report(frame(1, 1, epoch=host.epoch + 5), OWN, NETWORK)))
    assert not host.own.warnings()


def test_a_clock_set_back_after_the_data_was_lost_reuses_no_epoch_if_a_neighbour_remembers(tmp_path):
    """Both accidents at once: what the neighbour heard is learned before the first report."""
    hub, late, early = Hub(), Time(), Time()
    late.now, early.now = 2_000_000.0, 1_000_000.0
    config = config_of(1, tmp_path / "lost", [neighbour_of(2)])
    two = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub, clock=late.clock())
    one = host_of(config, 1, hub, clock=late.clock())
    learn(one, 8)
    one.tell()
    hub.carry()
    two.listen()
    used = one.epoch
    one.close()
    again = host_of(config_of(1, tmp_path / "anew", [neighbour_of(2)]), 1, hub, clock=early.clock())
    assert again.epoch < used and again.unanswered == {"agent-2"}
    again.ask_about_self()
    for host in (two, again):
        hub.carry()
        host.listen()
    assert again.unanswered == set()
    again.tell()
    hub.carry()
    two.listen()
    neighbour = two.neighbourhood.neighbours["agent-1"]
    assert neighbour.newest.signed.epoch > used and not neighbour.evidence
    for host in (two, again):
        host.close()


def test_proof_against_oneself_is_remembered_until_it_is_pardoned(tmp_path):
    config = config_of(1, tmp_path, [neighbour_of(2)])
    host = host_of(config, 1)
    show(host, frame(1, 5), frame(1, 5, (3, 3, 3, 4)))
    show(host, frame(1, 5), frame(1, 5, (3, 3, 3, 4)))
    assert host.own.alarms[Alarm.ACCUSED] == len(host.own.accusations) == 1
    host.close()
    host = host_of(config, 1)
    assert host.own.alarms[Alarm.ACCUSED] == 1
    host.pardon(key_of(1).public)
    assert not host.own.warnings()
    host.close()
    host = host_of(config, 1)
    show(host, frame(1, 5), frame(1, 5, (3, 3, 3, 4)))
    assert not host.own.warnings()
    host.close()


def test_a_neighbour_that_knows_nothing_of_the_key_says_so(tmp_path):
    hub = Hub()
    one = host_of(config_of(1, tmp_path, [neighbour_of(2)]), 1, hub)
    two = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub)
    one.ask_about_self()
    for host in (two, one):
        hub.carry()
        host.listen()
    assert one.unanswered == set() and not one.own.warnings()
    one.close()
    two.close()


# refusals


def notice(sender, reason=Refusal.AHEAD):
    return seal(key_of(sender), RefusalNotice(1, NETWORK, public_bytes(key_of(sender).public), reason))


def test_a_clock_years_ahead_raises_an_alarm_with_those_who_refuse(tmp_path):
    """They say so, now and then; and when they refuse no more the alarm ends."""
    hub, now = Hub(), Time()
    ahead = Clock(lambda: now.now + 20 * 365.25 * 86_400, lambda: now.now)
    hosts = [
        host_of(
            config_of(number, tmp_path, [neighbour_of(other) for other in (1, 2, 3) if other != number]),
            number,
            hub,
            clock=ahead if number == 1 else now.clock(),
        )
        for number in (1, 2, 3)
    ]
    host = hosts[0]
    learn(host, 8)

    def gossip():
        now.now += 1
        for each in hosts:
            each.tell()
        hub.carry()
        for each in hosts:
            each.listen()
        hub.carry()
        host.listen()

    gossip()
    assert host.own.alarms[Alarm.REFUSED] == 2
    assert host.own.warnings() == ["neighbours refuse this node's reports (epoch ahead): agent-2, agent-3"]
    for _ in range(10):
        gossip()
    for other in hosts[1:]:
        assert other.neighbourhood.neighbours["agent-1"].counts["refused: epoch ahead"] == 11
        assert other.courier.bytes["agent-1"] > 0 and not other.own.warnings()
    now.now += REFUSED_FOR
    host.compose()
    assert not host.own.warnings()
    for each in hosts:
        each.close()


def test_so_few_neighbours_that_all_may_lie_raise_no_alarm(tmp_path):
    host = host_of(config_of(1, tmp_path, [neighbour_of(number) for number in range(2, 7)], f=1), 1)
    say(host, 2, notice(2))
    say(host, 2, notice(2))
    assert not host.own.warnings()
    say(host, 3, notice(3, Refusal.OLD))
    assert not host.own.warnings(), "which is no accident"
    say(host, 3, notice(3, Refusal.ARMS))
    assert host.own.alarms[Alarm.REFUSED] == 2
    host.close()
