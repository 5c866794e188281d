"""Lies that can be proved, and those that cannot."""

import base64
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import ARMS, NETWORK, Time, config_of, frame, host_of, key_of, learn, neighbour_of, report, say
from typer.testing import CliRunner

from byzmab.cli.main import app
from byzmab.core.errors import BadInput
from byzmab.node.config import ROOM, check_arms
from byzmab.node.evidence import Evidence, Lie, explain, impossible_arm, read_evidence
from byzmab.node.identity import public_bytes
from byzmab.node.store import AHEAD, epoch_at
from byzmab.node.transport.base import MOST_BYTES
from byzmab.node.transport.memory import Hub
from byzmab.node.wire import MOST_REPORT, EvidenceMessage, Handover, Mark, digest_of, seal, seal_handover


def piece(kind, first, second, key=1):
    return Evidence.of(kind, NETWORK, key_of(key).public, (first, second), (1, 5), 0.0)


def test_two_bodies_for_one_place_are_proof():
    said = explain(piece(Lie.EQUIVOCATION, frame(1, 5), frame(1, 5, (3, 3, 3, 4))))
    assert said == f"{key_of(1).public} signed two different reports as epoch 1, number 5"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (frame(1, 5), frame(1, 5)),
        (frame(1, 5), frame(1, 6, (3, 3, 3, 4))),
        (frame(1, 5), frame(2, 5, (3, 3, 3, 4))),
        (frame(1, 5), frame(1, 5, (3, 3, 3, 4))[:-1] + b"\x00"),
        (frame(1, 5), b""),
        (frame(1, 5, network="other"), frame(1, 5)),
    ],
)
def test_nobody_is_accused_falsely(first, second):
    with pytest.raises(BadInput, match="proves nothing"):
        explain(piece(Lie.EQUIVOCATION, first, second))


def test_evidence_against_one_key_is_none_against_another():
    with pytest.raises(BadInput, match="bad signature"):
        explain(piece(Lie.EQUIVOCATION, frame(1, 5), frame(1, 5, (3, 3, 3, 4)), key=2))


@given(
    rewards=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), max_size=60),
    cut=st.integers(0, 60),
)
def test_an_honest_history_is_always_possible(rewards, cut):
    """Whatever rewards come, and however tallies are rounded."""

    def told(rows, seq):
        sums, counts = [0.0] * 4, [0] * 4
        for arm, value in rows:
            sums[arm] += value
            counts[arm] += 1
        means = [total / count if count else 0.0 for total, count in zip(sums, counts, strict=True)]
        return report(1, seq, counts, means)

    assert impossible_arm(told(rewards[:cut], 1), told(rewards, 2)) is None


@pytest.mark.parametrize(
    ("pulls", "means", "possible"),
    [
        (10, 0.5, True),
        (9, 0.5, False),  # pulls fell
        (11, 0.5 + 0.5 / 11, True),  # one reward of 1
        (11, 0.56, False),  # more than one reward of 1
        (11, 5 / 11, True),  # one reward of 0
        (11, 0.44, False),  # less than nothing came
        (10, 0.51, False),  # moved without a pull
    ],
)
def test_a_tally_moves_by_what_came(pulls, means, possible):
    before, after = report(1, 1, (10,) * 4, (0.5,) * 4), report(1, 2, (pulls,) * 4, (means,) * 4)
    assert (impossible_arm(before, after) is None) is possible
    if not possible:
        said = explain(piece(Lie.IMPOSSIBLE, seal(key_of(1), before), seal(key_of(1), after)))
        assert "a suspicion, no proof" in said


def test_an_announced_reset_makes_everything_possible_once():
    before = report(1, 9, (10,) * 4, epoch=4)
    assert impossible_arm(before, report(1, 1, (0,) * 4, epoch=5)) == "a"
    assert impossible_arm(before, report(1, 1, (0,) * 4, epoch=5, reset=5)) is None
    assert impossible_arm(report(1, 1, (10,) * 4, epoch=5, reset=5), report(1, 2, (0,) * 4, epoch=5, reset=5)) == "a"


def network(tmp_path, count=4, time=None, **settings):
    """Hosts 1..count that all hear each other; agent 9 is the liar among their neighbours."""
    hub, time = Hub(), time or Time()
    hosts = []
    for number in range(1, count + 1):
        others = [neighbour_of(other) for other in [*range(1, count + 1), 9] if other != number]
        hosts.append(host_of(config_of(number, tmp_path, others, **settings), number, hub, clock=time.clock()))
        learn(hosts[-1], 8)
    return hub, hosts


def round_trip(hub, hosts):
    for host in hosts:
        host.tell()
    for _ in range(4):  # evidence messages are answered by others
        hub.carry()
        for host in hosts:
            host.listen()


def close(hosts):
    for host in hosts:
        host.close()


@pytest.mark.parametrize("policy", ["expel", "keep"])
def test_who_tells_two_receivers_different_things_is_found_out(tmp_path, policy):
    hub, hosts = network(tmp_path, equivocators=policy)
    for host in hosts[:2]:
        say(host, 9, frame(9, 1))
    say(hosts[2], 9, frame(9, 1, (3, 3, 3, 3), (0.5, 0.5, 0.5, 1.0)))
    round_trip(hub, hosts)
    for host in hosts:  # the fourth never heard the liar, and is shown the proof
        neighbour = host.neighbourhood.neighbours["agent-9"]
        assert [item.kind for item in neighbour.evidence] == [Lie.EQUIVOCATION]
        assert key_of(9).public in explain(neighbour.evidence[0])
        assert neighbour.expelled is (policy == "expel")
        assert ("agent-9" in host.agent.senders) is (policy == "keep" and host is not hosts[3])
        assert not any(other.evidence for name, other in host.neighbourhood.neighbours.items() if name != "agent-9")
    say(hosts[0], 9, frame(9, 2))
    assert ("agent-9" in hosts[0].agent.senders) is (policy == "keep")
    close(hosts)


def test_a_second_body_for_one_place_is_never_heard(tmp_path):
    """Even where equivocators are kept, what came first counts."""
    _, hosts = network(tmp_path, 1, equivocators="keep")
    say(hosts[0], 9, frame(9, 1, (5, 5, 5, 5)))
    say(hosts[0], 9, frame(9, 1, (7, 7, 7, 7)))
    assert hosts[0].neighbourhood.neighbours["agent-9"].proof
    assert hosts[0].agent._inbox["agent-9"].pulls.tolist() == [5.0] * 4
    close(hosts)


def test_false_witnesses_do_not_keep_a_node_busy(tmp_path):
    hub, hosts = network(tmp_path, 2)
    round_trip(hub, hosts)
    public = bytes.fromhex(key_of(2).public.partition(":")[2])
    sent = []
    hosts[0].transport.send = lambda name, content: sent.append(name)
    for seq in range(1, 200):
        say(hosts[0], 9, frame(9, seq, marks=[Mark(public, 1, 1, bytes([n]) * 32) for n in range(64)]))
    assert 1 <= len(sent) <= 3
    close(hosts)


def test_an_expelled_neighbour_stays_expelled_after_a_restart(tmp_path):
    hub, hosts = network(tmp_path, 1)
    say(hosts[0], 9, frame(9, 1))
    say(hosts[0], 9, frame(9, 1, (3, 3, 3, 4)))  # two bodies to the same receiver
    assert hosts[0].neighbourhood.neighbours["agent-9"].expelled
    config = hosts[0].config
    close(hosts)
    again = host_of(config, 1, hub)
    say(again, 9, frame(9, 2))
    neighbour = again.neighbourhood.neighbours["agent-9"]
    assert neighbour.expelled and again.agent.senders == ()
    assert neighbour.counts["refused: expelled"] == 1
    again.close()


def test_marks_that_come_before_the_word_are_remembered(tmp_path):
    """The witness is faster than the liar."""
    hub, hosts = network(tmp_path, 2)
    say(hosts[0], 9, frame(9, 1))
    round_trip(hub, hosts)
    say(hosts[1], 9, frame(9, 1, (4, 4, 4, 4)))
    round_trip(hub, hosts)
    assert all(host.neighbourhood.neighbours["agent-9"].expelled for host in hosts)
    close(hosts)


def test_false_marks_harm_nobody(tmp_path):
    """A liar that bears false witness is sent the frame, and that is all."""
    hub, hosts = network(tmp_path, 2)
    round_trip(hub, hosts)
    public = bytes.fromhex(key_of(2).public.partition(":")[2])
    false = [Mark(public, 1, 1, bytes(32)), Mark(bytes(32), 1, 1, bytes(32)), Mark(public, 7, 7, bytes(32))]
    say(hosts[0], 9, frame(9, 1, marks=false))
    round_trip(hub, hosts)
    assert not any(neighbour.evidence for host in hosts for neighbour in host.neighbourhood.neighbours.values())
    assert not any(neighbour.expelled for host in hosts for neighbour in host.neighbourhood.neighbours.values())
    close(hosts)


@pytest.mark.parametrize(
    "frames",
    [
        [b""],
        [b"x" * 100],
        [frame(1, 1), frame(1, 1)],
        [frame(3, 1), frame(3, 1)[:-1] + b"\x00"],
        [frame(2, 1), frame(2, 2, (9, 9, 9, 9))],
        [seal(key_of(9), report(2, 1)), frame(2, 1)],
    ],
)
def test_evidence_messages_that_prove_nothing_are_refused_or_ignored(tmp_path, frames):
    _, hosts = network(tmp_path, 2)
    public = bytes.fromhex(key_of(9).public.partition(":")[2])
    say(hosts[0], 9, seal(key_of(9), EvidenceMessage(1, NETWORK, public, frames)))
    assert not any(neighbour.evidence for neighbour in hosts[0].neighbourhood.neighbours.values())
    close(hosts)


def test_an_impossible_history_over_epochs_is_suspicious_but_still_heard(tmp_path):
    """A backup that was brought back without an import looks like one."""
    _, hosts = network(tmp_path, 1)
    host = hosts[0]
    for epoch in range(1, 31):
        say(host, 9, frame(9, 1, (50 - epoch,) * 4, epoch=epoch))
    neighbour = host.neighbourhood.neighbours["agent-9"]
    assert neighbour.counts["impossible"] == 29
    assert [item.kind for item in neighbour.evidence] == [Lie.IMPOSSIBLE] * 8  # the rest is only counted
    assert not neighbour.expelled and host.agent.senders == ("agent-9",)
    assert all("impossible history" in explain(item) for item in neighbour.evidence)
    close(hosts)


@pytest.mark.parametrize(
    ("pulls", "means"), [((2, 3, 3, 3), (0.5,) * 4), ((3, 3, 3, 3), (0.9,) * 4), ((4, 4, 4, 4), (0.9,) * 4)]
)
def test_an_impossible_sequence_within_an_epoch_is_proof(tmp_path, pulls, means):
    _, hosts = network(tmp_path, 1)
    say(hosts[0], 9, frame(9, 1))
    say(hosts[0], 9, frame(9, 2, pulls, means))
    neighbour = hosts[0].neighbourhood.neighbours["agent-9"]
    assert neighbour.proof.kind is Lie.SEQUENCE and neighbour.expelled and hosts[0].agent.senders == ()
    assert "numbers 1 and 2 of epoch 1, which no tally of arm 'a' has" in explain(neighbour.proof)
    close(hosts)


def test_an_arm_that_goes_and_comes_back_does_not_hide_a_fallen_count(tmp_path):
    _, hosts = network(tmp_path, 1)
    say(hosts[0], 9, frame(9, 1, (9, 9), (0.5, 0.5), arms=["a", "b"]))
    say(hosts[0], 9, frame(9, 2, (9,), (0.5,), arms=["b"]))
    say(hosts[0], 9, frame(9, 3, (4, 9), (0.5, 0.5), arms=["a", "b"]))
    assert hosts[0].neighbourhood.neighbours["agent-9"].proof.kind is Lie.SEQUENCE
    close(hosts)


def test_a_word_common_to_all_hides_nothing_that_was_told_before_it(tmp_path):
    """Two bodies for each of 25 numbers, and after them a number with one body, just before everybody reports."""
    hub, hosts = network(tmp_path, 2)
    for seq in range(1, 26):
        say(hosts[0], 9, frame(9, seq, (seq,) * 4))
        say(hosts[1], 9, frame(9, seq, (seq,) * 4, (0.25,) * 4))
    for host in hosts:
        say(host, 9, frame(9, 26, (99,) * 4))
    round_trip(hub, hosts)
    for host in hosts:
        assert host.neighbourhood.neighbours["agent-9"].proof
    close(hosts)


def test_who_numbers_its_reports_per_receiver_is_found_out(tmp_path):
    """Odd numbers for one, even ones for the other: no number has two bodies, but no tally has them all."""
    time = Time()
    hub, hosts = network(tmp_path, 2, time)
    for turn in range(1, 4):
        time.now += 1
        say(hosts[0], 9, frame(9, 2 * turn - 1, (10 * turn,) * 4, (0.9,) * 4))
        say(hosts[1], 9, frame(9, 2 * turn, (10 * turn,) * 4, (0.1,) * 4))
        round_trip(hub, hosts)
    for host in hosts:
        neighbour = host.neighbourhood.neighbours["agent-9"]
        assert neighbour.proof.kind is Lie.SEQUENCE and neighbour.expelled
        assert "which no tally" in explain(neighbour.proof)
    close(hosts)


def test_numbers_that_one_tally_has_are_no_lie_whoever_received_them(tmp_path):
    """Lost frames leave gaps, which are filled by asking and found to be honest."""
    time = Time()
    hub, hosts = network(tmp_path, 2, time)
    for seq in range(1, 30):
        time.now += 1
        say(hosts[seq % 2], 9, frame(9, seq, (seq,) * 4))
        round_trip(hub, hosts)
    for host in hosts:
        neighbour = host.neighbourhood.neighbours["agent-9"]
        assert not neighbour.evidence and not neighbour.expelled
        assert neighbour.history.get((1, 5)) is not None, "the frame of the other receiver was asked for"
    close(hosts)


def test_f_falls_by_one_for_each_liar_that_is_expelled_and_rises_with_a_pardon(tmp_path):
    _, hosts = network(tmp_path, 4, f=1)
    host = hosts[0]
    assert host.agent.f == 1
    say(host, 9, frame(9, 1))
    say(host, 9, frame(9, 1, (3, 3, 3, 4)))
    for number, mean in ((2, 0.0), (3, 0.5), (4, 1.0)):
        say(host, number, frame(number, 1, (99,) * 4, (mean,) * 4))
    assert host.agent.f == 0
    assert {fate for fates in host.agent.explain().values() for fate in fates.values()} == {"kept"}, "nobody is trimmed"
    config = host.config
    host.close()
    again = host_of(config, 1)
    assert again.agent.f == 0, "after a restart, too"
    again.pardon("agent-9")
    assert again.agent.f == 1
    again.close()
    close(hosts[1:])


def test_a_pardoned_neighbour_is_heard_until_it_lies_again(tmp_path):
    _, hosts = network(tmp_path, 2)
    host, neighbour = hosts[0], hosts[0].neighbourhood.neighbours["agent-9"]
    say(host, 9, frame(9, 1))
    say(host, 9, frame(9, 1, (3, 3, 3, 4)))
    assert neighbour.expelled
    host.pardon(key_of(9).public)
    say(host, 9, frame(9, 2, (5, 5, 5, 5)))
    assert "agent-9" in host.agent.senders
    proof = EvidenceMessage(1, NETWORK, public_bytes(key_of(2).public), [frame(9, 1), frame(9, 1, (3, 3, 3, 4))])
    say(host, 2, seal(key_of(2), proof))
    assert not neighbour.expelled, "what is forgiven stays forgiven, whoever shows it again"
    say(host, 9, frame(9, 2, (6, 5, 5, 5)))
    assert neighbour.expelled
    with pytest.raises(BadInput, match="'mallory' is no neighbour"):
        host.pardon("mallory")
    close(hosts)


def test_a_key_hands_over_and_what_it_lied_before_follows_it(tmp_path):
    hub, hosts = network(tmp_path, 1)
    host = hosts[0]
    say(host, 9, frame(9, 1))
    say(host, 9, seal_handover(key_of(9), key_of(8), NETWORK, 1))
    neighbour = host.neighbourhood.neighbours["agent-9"]
    assert neighbour.settings.key == key_of(8).public
    say(host, 9, frame(9, 2))
    assert neighbour.counts["refused: bad signature"] == 1, "the old key is heard no more"
    say(host, 9, frame(8, 1, (1, 1, 1, 1), epoch=2))
    assert host.heard["agent-9"].sender == public_bytes(key_of(8).public)
    config = host.config
    host.close()
    again = host_of(config, 1, hub)
    assert again.neighbourhood.neighbours["agent-9"].settings.key == key_of(8).public, "after a restart, too"
    proof = EvidenceMessage(1, NETWORK, public_bytes(key_of(8).public), [frame(9, 1), frame(9, 1, (3, 3, 3, 4))])
    say(again, 9, seal(key_of(8), proof))
    assert again.neighbourhood.neighbours["agent-9"].expelled, "a new key is no way out"
    again.close()


@pytest.mark.parametrize("case", ["expelled", "own key", "a neighbour's key", "no consent"])
def test_a_handover_that_must_not_be_is_refused(tmp_path, case):
    _, hosts = network(tmp_path, 2)
    host = hosts[0]
    new = {"own key": 1, "a neighbour's key": 2}.get(case, 8)
    content = seal_handover(key_of(9), key_of(new), NETWORK, 1)
    if case == "expelled":
        say(host, 9, frame(9, 1))
        say(host, 9, frame(9, 1, (3, 3, 3, 4)))
    if case == "no consent":
        old, other = public_bytes(key_of(9).public), public_bytes(key_of(8).public)
        content = seal(key_of(9), Handover(1, NETWORK, old, other, 1, bytes(64)))
    say(host, 9, content)
    assert host.neighbourhood.neighbours["agent-9"].settings.key == key_of(9).public
    close(hosts)


def test_a_reset_that_is_announced_for_later_is_refused(tmp_path):
    _, hosts = network(tmp_path, 1)
    say(hosts[0], 9, frame(9, 1, epoch=4, reset=5))
    assert hosts[0].neighbourhood.neighbours["agent-9"].counts["refused: bad numbers"] == 1
    close(hosts)


def test_evidence_is_read_from_a_piece_a_list_or_all_peers(tmp_path):
    item = piece(Lie.EQUIVOCATION, frame(1, 5), frame(1, 5, (3, 3, 3, 4)))
    plain = msgspec.to_builtins(item)
    for content in (plain, [plain], {"evidence": [plain]}, {"peers": [{"name": "x", "evidence": [plain]}]}):
        (tmp_path / "file").write_text(json.dumps(content))
        assert read_evidence(tmp_path / "file") == [item]


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"frames": 3}', '{"peers": [{"evidence": []}]}', "\x00"])
def test_a_file_without_evidence_is_named(tmp_path, text):
    (tmp_path / "file").write_text(text)
    with pytest.raises(BadInput, match="evidence file"):
        read_evidence(tmp_path / "file")


def test_the_command_says_what_a_file_proves(tmp_path):
    lie = piece(Lie.EQUIVOCATION, frame(1, 5), frame(1, 5, (3, 3, 3, 4)))
    suspicion = piece(Lie.IMPOSSIBLE, frame(1, 5), frame(1, 6, (2, 3, 3, 3)))
    (tmp_path / "file").write_bytes(msgspec.json.encode([lie, suspicion]))
    done = CliRunner().invoke(app, ["evidence", "verify", str(tmp_path / "file")])
    first, second = done.stdout.splitlines()
    assert done.exit_code == 0
    assert first.startswith(f"equivocation: {key_of(1).public} signed two different reports")
    assert second.startswith("impossible: ") and second.endswith("a suspicion, no proof")
    (tmp_path / "file").write_bytes(msgspec.json.encode(piece(Lie.EQUIVOCATION, frame(1, 5), frame(1, 5))))
    assert isinstance(CliRunner().invoke(app, ["evidence", "verify", str(tmp_path / "file")]).exception, BadInput)


def test_bodies_are_compared_not_signatures():
    assert digest_of(frame(1, 5)) == digest_of(bytes(64) + frame(1, 5)[64:])


# every lie that is accepted can be shown


def of_size(size, seq=1, mean=0.5):
    """A frame of exactly so many bytes, full of arms that nobody else has."""
    arms, first = [*ARMS], len(frame(9, seq))
    while size - first > 130:
        arms.append(f"{len(arms):060d}")
        first = len(frame(9, seq, (3,) * len(arms), (mean,) * len(arms), arms=arms))
    for letters in range(40, 129):
        told = [*arms, "x" * letters]
        content = frame(9, seq, (3,) * len(told), (mean,) * len(told), arms=told)
        if len(content) == size:
            return content
    raise AssertionError(size)


@pytest.mark.parametrize("size", [65_000, *range(65_020, 65_030), 65_429, 65_430, 65_431, 65_535, 65_536])
def test_an_equivocation_of_any_size_that_is_accepted_is_proven_to_all(tmp_path, size):
    """The message that shows a report to others is larger than the report."""
    hub, hosts = network(tmp_path, 3)
    say(hosts[0], 9, of_size(size))
    say(hosts[1], 9, of_size(size, mean=0.75))
    accepted = [host.neighbourhood.neighbours["agent-9"].newest is not None for host in hosts[:2]]
    round_trip(hub, hosts)
    assert accepted == [size <= MOST_REPORT] * 2
    assert [host.neighbourhood.neighbours["agent-9"].expelled for host in hosts] == [size <= MOST_REPORT] * 3
    assert not any(host.courier.oversized for host in hosts)
    close(hosts)


def test_the_largest_report_of_an_honest_agent_can_be_shown():
    """Names as long as settings allow them, and as many marks as there can be."""
    most = 2**53
    names, each = [], 0
    while each + 24 + 512 <= ROOM:
        names.append("\U0001f600" * 127 + chr(0x4E00 + len(names)))  # 511 bytes
        each += 24 + 511
    check_arms(tuple(names), None)
    marks = [Mark(bytes([n]) * 32, 2**63 - 1, 2**63 - 1, bytes(32)) for n in range(256)]
    told = report(1, 2**63 - 1, (most,) * len(names), (1 / 3,) * len(names), arms=names, marks=marks, epoch=2**63 - 1)
    assert len(seal(key_of(1), told)) <= MOST_REPORT


def test_what_is_too_large_to_be_sent_is_counted_and_logged(tmp_path, caplog):
    _, hosts = network(tmp_path, 2)
    for _ in range(3):
        hosts[0].courier.send("agent-2", bytes(MOST_BYTES + 1))
    assert hosts[0].courier.oversized == {"agent-2": 3} and not hosts[0].courier.bytes
    assert [record.message for record in caplog.records].count("a frame is too large to be sent") == 1
    close(hosts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"means": [0.5, 0.5, 0.5, 1.5]},
        {"means": [float("nan")] * 4},
        {"pulls": [-1, 3, 3, 3]},
        {"epoch": 4, "reset": 5},
    ],
)
def test_one_report_that_is_impossible_by_itself_is_proof(tmp_path, wrong):
    """Whoever receives it shows it to all, the accused included, and anyone can check it."""
    hub, hosts = network(tmp_path, 3)
    say(hosts[0], 9, frame(9, 1, **wrong))
    round_trip(hub, hosts)
    for host in hosts:
        neighbour = host.neighbourhood.neighbours["agent-9"]
        assert neighbour.expelled and [item.kind for item in neighbour.evidence] == [Lie.NUMBERS]
        assert "with numbers that no honest agent has" in explain(neighbour.evidence[0])
    config = hosts[0].config
    close(hosts)
    again = host_of(config, 1, hub)
    assert again.neighbourhood.neighbours["agent-9"].expelled, "after a restart, too"
    again.close()


def test_possible_numbers_prove_nothing():
    with pytest.raises(BadInput, match="an honest agent can have these numbers"):
        explain(Evidence.of(Lie.NUMBERS, NETWORK, key_of(1).public, (frame(1, 5),), (1, 5), 0.0))
    with pytest.raises(BadInput, match="bad signature"):
        lie = frame(1, 5, means=[2.0] * 4)
        explain(Evidence.of(Lie.NUMBERS, NETWORK, key_of(2).public, (lie,), (1, 5), 0.0))


# pardons and hand-overs


@pytest.mark.parametrize("version", [(2**63 - 1, 2**63 - 1), (epoch_at(Time().now) + AHEAD - 1, 2**63 - 1)])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_pardon_is_no_immunity(tmp_path, version, restarts):
    """While it is expelled the liar signs the last version that there is, or the last one that is accepted."""
    hub, hosts = network(tmp_path, 1)
    host, (epoch, seq) = hosts[0], version
    say(host, 9, frame(9, 1))
    say(host, 9, frame(9, 1, (3, 3, 3, 4)))
    say(host, 9, frame(9, seq, epoch=epoch))
    host.pardon("agent-9")
    if restarts:
        config = host.config
        host.close()
        host = host_of(config, 1, hub, clock=Time().clock())
    neighbour = host.neighbourhood.neighbours["agent-9"]
    for mean in (0.25, 0.75):
        say(host, 9, frame(9, 2, (9, 9, 9, 9), (mean,) * 4))
    assert neighbour.expelled or "agent-9" not in host.agent.senders, "whatever counts can be held against it"
    assert neighbour.expelled is (epoch == 2**63 - 1)
    host.close()


def test_a_lie_of_an_epoch_that_is_not_accepted_changes_nothing(tmp_path):
    """Nor what it proves, whoever shows it: a pardon would reach up to it."""
    _, hosts = network(tmp_path, 2)
    host, far = hosts[0], 2**63 - 1
    lies = [frame(9, 1, epoch=far), frame(9, 1, (3, 3, 3, 4), epoch=far)]
    for lie in (*lies, frame(9, 1, means=[2.0] * 4, epoch=far)):
        say(host, 9, lie)
    shown = EvidenceMessage(1, NETWORK, public_bytes(key_of(2).public), lies)
    say(host, 2, seal(key_of(2), shown))
    neighbour = host.neighbourhood.neighbours["agent-9"]
    assert not neighbour.evidence and neighbour.latest == (-1, -1)
    assert neighbour.counts["refused: epoch ahead"] == 2
    close(hosts)


def test_an_owner_that_was_framed_far_ahead_learns_where_to_go_on(tmp_path):
    """A thief signs years ahead while the key is expelled; after a pardon the owner begins above that."""
    time = Time()
    hub = Hub()
    owner = host_of(config_of(1, tmp_path, [neighbour_of(2)]), 1, hub, clock=time.clock())
    other = host_of(config_of(2, tmp_path, [neighbour_of(1)]), 2, hub, clock=time.clock())
    epoch = epoch_at(time.now) + AHEAD // 2
    for body in (3, 4):
        say(other, 1, frame(1, 1, (body,) * 4, epoch=epoch))
    time.now += 2
    say(other, 1, frame(1, 7, (5,) * 4, epoch=2 * epoch - epoch_at(time.now) - AHEAD // 4))
    assert other.neighbourhood.neighbours["agent-1"].expelled
    other.pardon("agent-1")
    learn(owner, 8)
    for _ in range(4):
        time.now += 40
        round_trip(hub, [owner, other])
    assert owner.epoch > epoch
    assert other.heard["agent-1"].sender == public_bytes(key_of(1).public)
    assert not other.neighbourhood.neighbours["agent-1"].expelled
    close([owner, other])


def test_a_second_handover_is_refused_and_the_first_stays_after_a_restart(tmp_path):
    _, hosts = network(tmp_path, 1)
    host = hosts[0]

    def announce(host, new):
        host.membership.announce(base64.b64encode(seal_handover(key_of(1), key_of(new), NETWORK, 1)).decode())

    announce(host, 8)
    announce(host, 8)  # the same once more is no other
    with pytest.raises(
        BadInput, match=f"second hand-over is not allowed; allowed: the first one, to {key_of(8).public}"
    ):
        announce(host, 7)
    first = dict(host.membership.handovers)
    config = host.config
    close(hosts)
    again = host_of(config, 1)
    assert again.membership.handovers == first
    with pytest.raises(BadInput, match="second hand-over"):
        announce(again, 7)
    again.close()
