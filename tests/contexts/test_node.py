"""A node with contexts: decisions, reports on the wire, lies that can be proved, and what is on the disk."""

import asyncio
import math
import re
import sqlite3
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from live import NETWORK, Process, Time, config_of, exported, host_of, key_of, neighbour_of, report, say, state_of
from waiting import LONG

from byzmab import Agent, BadInput, Client, NodeError
from byzmab.core.contexts.reports import ContextReport
from byzmab.node import views
from byzmab.node.api import SelectRequest
from byzmab.node.composing import Header, signed_report
from byzmab.node.config import ROOM, check_arms, read_config
from byzmab.node.evidence import Evidence, Lie, explain
from byzmab.node.history import MOST_KEPT, History
from byzmab.node.identity import public_bytes
from byzmab.node.packing import bytes_per_arm, pack, unpack
from byzmab.node.records import from_json, to_json
from byzmab.node.runtime import NodeRuntime
from byzmab.node.store import import_state
from byzmab.node.transport.base import MOST_BYTES
from byzmab.node.transport.memory import Hub
from byzmab.node.wire import (
    MOST_MARKS,
    Accepted,
    Mark,
    Refusal,
    Refused,
    SignedContextReport,
    seal,
    unseal,
)

ARMS = ("a", "b", "c")
THETA = {"a": (0.4, 0.2), "b": (-0.2, 0.5), "c": (0.1, -0.4)}
MARK = Mark(bytes(32), 2**62, 2**62, bytes(32))


def config(number, directory, neighbours=(), **settings):
    decides = {"arms": ARMS, "context": 2, "filter": "pooled", "policy": "tuned", "catch_up": 0.0}
    return config_of(number, directory, neighbours, **{**decides, **settings})


@pytest.fixture
def host(tmp_path):
    host = host_of(config(1, tmp_path, [neighbour_of(2)]), 1)
    yield host
    host.close()


def contexts(rng, count, d=2):
    drawn = rng.normal(size=(count, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def learn(host, rng, rounds):
    for x in contexts(rng, rounds):
        event, arm, *_ = host.select(context=x)
        host.reward(event, float(rng.random() < 0.5 + x @ THETA[arm]))


def told(rng, rounds, d=2, arms=ARMS, before=None):
    """The statistics of so many further pulls of each arm."""
    pulls, moments, grams = np.zeros(len(arms)), np.zeros((len(arms), d)), np.zeros((len(arms), d, d))
    if before is not None:
        pulls, moments, grams = (part.copy() for part in before[:3])
    for arm in range(len(arms)):
        for x in contexts(rng, rounds, d):
            pulls[arm] += 1
            moments[arm] += x * (rng.integers(0, 2) - 0.5)
            grams[arm] += np.outer(x, x)
    return ContextReport(pulls, moments, grams, tuple(arms))


def frame(sender, seq, statistics, epoch=1, reset=0, marks=()):
    header = Header(NETWORK, public_bytes(key_of(sender).public), epoch, seq, 0.0, reset)
    return seal(key_of(sender), signed_report(header, statistics, list(marks)))


def read(content, sender=2):
    return unseal(content, public_bytes(key_of(sender).public), NETWORK)


def neighbour(host, number):
    return host.neighbourhood.neighbours[f"agent-{number}"]


# decisions


def test_a_node_decides_as_its_agent_does_and_a_late_reward_finds_its_context(host):
    rng, agent = (
        np.random.default_rng(1),
        Agent(ARMS, "auto", context=2, seed=host.agent.seed),
    )
    agent.neighbours = 1
    waiting = []
    for x in contexts(rng, 40):
        event, arm, *_ = host.select(context=x.tolist())
        assert arm == agent.select(x)
        waiting.append((event, arm, x))
        if len(waiting) == 5:
            for event, arm, x in reversed(waiting):
                value = float(rng.random())
                host.reward(event, value)
                agent.reward(arm, value, x)
            waiting = []
    assert host.agent.report().to_json() == agent.report().to_json()


def test_events_and_statistics_outlast_a_restart(tmp_path):
    settings = config(1, tmp_path)
    host = host_of(settings, 1)
    learn(host, np.random.default_rng(2), 30)
    arm = host.select("later", (0.6, 0.8)).arm
    before = host.agent.report()
    host.close()
    again = host_of(settings, 1)
    assert again.agent.report().to_json() == before.to_json()
    again.reward("later", 1.0)
    moment, _ = again.agent.statistics(arm)
    assert moment - before.moments[ARMS.index(arm)] == pytest.approx([0.3, 0.4])
    assert again.select("later", (1.0, 0.0)).arm == arm
    again.close()


def test_what_neighbours_have_earned_outlasts_a_restart(tmp_path):
    settings, rng = config(1, tmp_path, [neighbour_of(2)], f=0), np.random.default_rng(3)
    host = host_of(settings, 1)
    host.agent.hear("agent-2", told(rng, 40))
    learn(host, rng, 20)
    lead = host.agent.lead
    host.close()
    again = host_of(settings, 1)
    assert again.agent.lead == lead != 0.0
    again.close()


def test_with_contexts_a_node_pools_if_no_filter_is_given(tmp_path):
    assert (config_of(1, tmp_path).filter, config_of(1, tmp_path).policy) == ("guarded", "moss")
    with_contexts = config_of(1, tmp_path, context=2)
    assert (with_contexts.filter, with_contexts.policy) == ("pooled", "tuned")
    assert config_of(1, tmp_path, context=2, filter="guarded").filter == "guarded"


def test_a_default_reward_counts_at_the_context_of_its_event(tmp_path):
    time = Time()
    host = host_of(config(1, tmp_path, reward_wait=5.0, default_reward=0.0), 1, clock=time.clock())
    arm = host.select(context=(0.6, 0.8)).arm
    time.now += 6
    host.tell()
    assert host.agent.statistics(arm)[0] == pytest.approx([-0.3, -0.4])
    host.close()


BAD = [None, (1.0,), (0.0, 0.0), (0.9, 0.9), (math.nan, 0.0), (math.inf, 0.0)]


@pytest.mark.parametrize("context", BAD, ids=str)
def test_a_bad_context_changes_nothing_in_a_batch_either(host, context):
    good = SelectRequest(context=[1.0, 0.0])
    bad = SelectRequest(context=context and list(context))

    async def ask():
        await NodeRuntime(host).selects([good, bad])

    for refused in (lambda: host.select(context=context), lambda: asyncio.run(ask())):
        with pytest.raises(BadInput, match=r"^context .*; allowed: (2 |a norm )"):
            refused()
    assert host.decisions.counts.decisions == host.decisions.pending == 0


def test_a_context_where_none_is_expected_is_refused(tmp_path):
    host = host_of(config(1, tmp_path, context=None), 1)
    with pytest.raises(BadInput, match="context is not allowed; allowed: none"):
        host.select(context=(1.0, 0.0))
    assert host.decisions.pending == 0
    host.close()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("context = 0", "context 0 is not allowed; allowed: dimensions from 1 to 512"),
        ("ridge = 2.0", "ridge is not allowed here; allowed: with `context`"),
        ('context = 2\nshares = "all"', "shares 'all' is not allowed; allowed: equal, information, projection"),
        ("context = 71", "arms: 3 with contexts of 71 dimensions are too long for one report"),
    ],
)
def test_a_setting_that_cannot_be_is_named_with_its_line(tmp_path, line, sentence):
    file = tmp_path / "node.toml"
    file.write_text(f'name = "one"\nnetwork = "n"\nkey = "k"\ndata = "d"\narms = ["a", "b", "c"]\n{line}\n')
    with pytest.raises(BadInput, match=re.escape(sentence)) as caught:
        read_config(file)
    assert re.search(r"line \d", str(caught.value))


def test_the_best_arm_is_not_asked_of_a_node_with_contexts(host):
    with pytest.raises(BadInput, match=r"^best is not allowed with contexts.*; allowed: POST /v1/select"):
        views.best(host, 0.95)


def test_a_warm_start_is_refused_in_one_sentence(host):
    with pytest.raises(BadInput, match="warm start is not allowed with contexts"):
        host.decisions.warm_start({"a": (3, 0.5)})


# the disk


def test_data_are_read_again_with_another_ridge_however_small(tmp_path):
    """One context alone: λ is all that keeps A from being singular, and rounding is larger than that."""
    host = host_of(config(1, tmp_path), 1)
    for _ in range(40):
        event = host.select(context=(0.6, 0.8)).event_id
        host.reward(event, 1.0)
    before = host.agent.report().to_json()
    host.close()
    again = host_of(config(1, tmp_path, ridge=1e-15), 1)
    assert again.agent.report().to_json() == before
    again.select(context=(0.6, 0.8))
    again.close()


def test_a_backup_brings_back_statistics_and_contexts(tmp_path):
    host = host_of(config(1, tmp_path), 1)
    learn(host, np.random.default_rng(3), 20)
    arm = host.select("later", (0.6, 0.8)).arm
    before = host.agent.report()
    host.close()
    state = from_json(exported(host.config.data))
    import_state(tmp_path / "copy", NETWORK, key_of(1).public, state)
    settings = config(1, tmp_path)
    settings.data = str(tmp_path / "copy")
    again = host_of(settings, 1)
    assert again.agent.report().to_json() == before.to_json()
    again.reward("later", 1.0)
    assert again.agent.tally(arm).pulls == before.pulls[ARMS.index(arm)] + 1
    again.close()


def test_a_backup_with_other_numbers_than_its_dimensions_ask_for_is_refused(tmp_path):
    host = host_of(config(1, tmp_path), 1)
    learn(host, np.random.default_rng(3), 20)
    host.close()
    state = state_of(host.config.data)
    state.arms[0] = msgspec.structs.replace(state.arms[0], statistics=bytes(24))
    import_state(tmp_path / "copy", NETWORK, key_of(1).public, state)
    settings = config(1, tmp_path)
    settings.data = str(tmp_path / "copy")
    with pytest.raises(BadInput, match="statistics of arm 'a' in the data are not of 2 dimensions"):
        host_of(settings, 1)
    state.events[0].context = bytes(3)
    with pytest.raises(BadInput, match="node state is not understood: a context that is no numbers"):
        from_json(b"".join(to_json(msgspec.structs.replace(state, events=[]), state.events)))
    state.events[0].context = bytes(24)
    with pytest.raises(BadInput, match="node state is not understood: a context that is no numbers, or not as many"):
        from_json(b"".join(to_json(msgspec.structs.replace(state, events=[]), state.events)))


@pytest.mark.parametrize(("begun", "context"), [(2, 3), (2, None), (None, 2)])
def test_data_of_other_contexts_is_refused(tmp_path, begun, context):
    host_of(config(1, tmp_path, context=begun), 1).close()
    with pytest.raises(BadInput, match=f"context {context or 'none'} is not allowed; allowed: {begun or 'none'}"):
        host_of(config(1, tmp_path, context=context), 1)


def test_a_data_file_from_before_contexts_is_read(tmp_path):
    settings = config(1, tmp_path, context=None)
    host = host_of(settings, 1)
    event = host.select().event_id
    host.close()
    with sqlite3.connect(host.store.path) as file:
        file.execute("ALTER TABLE events DROP COLUMN context")
        file.execute("ALTER TABLE arms DROP COLUMN statistics")
        file.execute("PRAGMA user_version = 1")
    file.close()
    assert state_of(settings.data).events[0].event_id == event
    again = host_of(settings, 1)
    again.reward(event, 1.0)
    again.close()


# the wire


def test_a_report_is_read_as_it_was_sent_and_has_the_bytes_that_the_documentation_says():
    rng = np.random.default_rng(4)
    for d in (1, 5, 20):
        said = told(rng, 30, d)
        content = frame(2, 1, said)
        body = read(content)
        assert isinstance(body, SignedContextReport) and body.dimensions == d
        assert body.report.to_json() == said.to_json()
        assert bytes_per_arm(d) == 4 * d * (d + 3) == len(pack(said.moments, said.grams)) / len(ARMS)
        assert len(content) - len(ARMS) * bytes_per_arm(d) < 250


def test_twenty_arms_at_twenty_dimensions_fit_a_frame_with_all_marks():
    arms = [f"arm-{number:02}" for number in range(20)]
    check_arms(tuple(arms), 20)
    said = told(np.random.default_rng(5), 3, 20, arms)
    assert len(frame(2, 2**62, said, epoch=2**62, marks=[MARK] * MOST_MARKS)) < MOST_BYTES - 512
    with pytest.raises(BadInput, match=rf"30 with contexts of 20 dimensions are too long .* {ROOM} bytes"):
        check_arms(tuple(f"arm-{number:02}" for number in range(30)), 20)


def spoil(field, arm, value):
    def change(said):
        changed = {name: part.copy() for name, part in said._asdict().items() if name != "arms"}
        changed[field][arm] = value(changed[field][arm])
        return said._replace(**changed)

    return change


IMPOSSIBLE = {
    "trace above the count": spoil("grams", 0, lambda gram: gram * 1.1),
    "not positive semidefinite": spoil("grams", 1, lambda gram: gram - 12.0 * np.eye(2)),
    "moment above half the count": spoil("moments", 2, lambda moment: moment * 0 + [9.0, 9.0]),
    "moment where nothing was seen": lambda said: said._replace(
        grams=said.grams * 0 + np.diag([1.0, 0.0]), moments=said.moments * 0 + np.array([0.0, 1.0])
    ),
    "huge": spoil("grams", 0, lambda gram: gram * 0 + [[0.0, 1e308], [1e308, 0.0]]),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_statistics_that_no_agent_has_are_refused(name):
    said = told(np.random.default_rng(6), 20)
    read(frame(2, 1, said))
    with pytest.raises(Refused) as caught:
        read(frame(2, 1, IMPOSSIBLE[name](said)))
    assert caught.value.reason is Refusal.NUMBERS


@pytest.mark.parametrize("changes", [{"dimensions": 3}, {"dimensions": 0}, {"dimensions": -2}, {"dimensions": 2**40}])
def test_dimensions_that_are_not_those_of_the_numbers_are_refused(changes):
    body = read(frame(2, 1, told(np.random.default_rng(7), 3)))
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    with pytest.raises(Refused) as caught:
        read(seal(key_of(2), SignedContextReport(**{**fields, **changes})))
    assert caught.value.reason is Refusal.NUMBERS


def test_no_possible_report_keeps_a_node_from_deciding(tmp_path):
    """As many pulls as this one tells may leave an eigenvalue of −0.99 by rounding, so that no audit refuses it."""
    host = host_of(config(1, tmp_path, [neighbour_of(2)], f=1), 1)
    below = np.tile(np.diag([-0.99, 1.0]), (3, 1, 1))
    say(host, 2, frame(2, 1, ContextReport(np.full(3, 1e9), np.zeros((3, 2)), below, ARMS)))
    assert host.agent.senders == ("agent-2",)
    learn(host, np.random.default_rng(7), 20)
    assert host.decisions.counts.rewards == 20 and len(host.compose()) == 1
    host.close()


def test_a_report_on_no_arm_is_silence(host):
    rng = np.random.default_rng(7)
    before = told(rng, 5)
    say(host, 2, frame(2, 1, before))
    say(host, 2, frame(2, 2, told(rng, 5, arms=())))
    assert host.agent.senders == () and neighbour(host, 2).newest.signed.version == (1, 2)
    say(host, 2, frame(2, 3, told(rng, 5, before=before)))
    assert host.agent.senders == ("agent-2",) and not neighbour(host, 2).evidence


def test_numbers_that_are_not_finite_are_refused():
    body = read(frame(2, 1, told(np.random.default_rng(8), 3)))
    moments, grams = unpack(body.statistics, 2)
    for bad in (math.nan, math.inf, -math.inf):
        moments[1, 0] = bad
        fields = {name: getattr(body, name) for name in body.__struct_fields__}
        with pytest.raises(Refused) as caught:
            read(seal(key_of(2), SignedContextReport(**{**fields, "statistics": pack(moments, grams)})))
        assert caught.value.reason is Refusal.NUMBERS


def test_nodes_with_other_contexts_or_none_refuse_each_other(host, tmp_path):
    rng, plain = np.random.default_rng(9), host_of(config(3, tmp_path, [neighbour_of(2)], context=None), 3)
    say(host, 2, frame(2, 1, told(rng, 5)))
    assert neighbour(host, 2).newest is not None
    say(host, 2, frame(2, 2, told(rng, 5, 3)))
    say(host, 2, seal(key_of(2), report(2, 3, (5, 5, 5), (0.5, 0.5, 0.5), arms=list(ARMS))))
    assert neighbour(host, 2).counts["refused: other contexts"] == 2
    assert neighbour(host, 2).newest.signed.version == (1, 1)
    say(plain, 2, frame(2, 1, told(rng, 5)))
    assert neighbour(plain, 2).counts["refused: other contexts"] == 1 and neighbour(plain, 2).newest is None
    plain.close()


# lies


def test_honest_histories_are_never_accused(host):
    """Long ones, and the most extreme: always one context of full length, always the same reward."""
    rng = np.random.default_rng(10)
    straight = contexts(rng, 1, 2)[0]
    said, pulls = None, 0
    for seq in range(1, 60):
        more = int(rng.integers(0, 500))
        pulls += more
        ends = np.full(1, pulls), straight[None] * pulls / 2, np.outer(straight, straight)[None] * pulls
        mixed = told(rng, int(rng.integers(0, 8)), before=said)
        said = ContextReport(mixed.pulls[:2], mixed.moments[:2], mixed.grams[:2], ARMS[:2])
        both = (np.concatenate([part, end]) for part, end in zip(said[:3], ends, strict=True))
        say(host, 2, frame(2, seq, ContextReport(*both, ARMS)))
        assert neighbour(host, 2).newest.signed.seq == seq, neighbour(host, 2).counts
        said = ContextReport(mixed.pulls, mixed.moments, mixed.grams, ARMS)
    assert not neighbour(host, 2).evidence and not neighbour(host, 2).counts["impossible"]


JUMPS = {
    "pulls that fall": spoil("pulls", 0, lambda count: count - 1.0),
    "more seen than pulled": lambda said: said._replace(grams=said.grams + 0.1 * np.eye(2)),
    "forgotten": lambda said: said._replace(grams=said.grams * 0.9, moments=said.moments * 0.9),
    "parameters turned round": lambda said: said._replace(moments=-said.moments),
}


@pytest.mark.parametrize("name", JUMPS)
def test_statistics_that_move_as_no_pulls_do_are_proof_for_anyone(host, name):
    said = told(np.random.default_rng(11), 40)
    said = said._replace(pulls=said.pulls + 20.0)  # contexts shorter than 1: each report is possible by itself
    before, after = frame(2, 1, said), frame(2, 2, JUMPS[name](said))
    say(host, 2, before)
    say(host, 2, after)
    assert neighbour(host, 2).expelled
    (piece,) = neighbour(host, 2).evidence
    assert piece.kind is Lie.SEQUENCE and piece.raw() == (before, after)
    assert "which no tally of arm 'a' has one after the other" in explain(piece)
    with pytest.raises(BadInput, match="proves nothing"):
        later = frame(2, 2, told(np.random.default_rng(12), 3, before=said))
        explain(Evidence.of(Lie.SEQUENCE, NETWORK, key_of(2).public, (before, later), (1, 2), 0.0))


def test_other_dimensions_within_an_epoch_are_proof():
    rng = np.random.default_rng(13)
    for other in (frame(2, 2, told(rng, 3, 3)), seal(key_of(2), report(2, 2))):
        frames = frame(2, 1, told(rng, 3)), other
        assert "no tally" in explain(Evidence.of(Lie.SEQUENCE, NETWORK, key_of(2).public, frames, (1, 2), 0.0))


def test_an_arm_that_begins_anew_is_announced_and_no_lie(tmp_path):
    hub = Hub()
    hosts = [host_of(config(n, tmp_path, [neighbour_of(3 - n)]), n, hub) for n in (1, 2)]
    for round, one in enumerate(hosts):
        learn(one, np.random.default_rng(14 + round), 40)
    for step in range(4):
        if step == 2:
            hosts[0].reset("a")
        for one in hosts:
            one.tell()
        hub.carry()
        for one in hosts:
            one.listen()
    for one, other in (hosts, reversed(hosts)):
        assert not neighbour(one, 3 - int(one.config.name[-1])).evidence
        assert one.heard[other.config.name].report.to_json() == other.agent.report().to_json()
    for one in hosts:
        one.close()


def test_of_large_reports_fewer_are_kept_at_hand():
    history, large = History(), bytes(60_000)
    for seq in range(200):
        history.tell(Accepted(SimpleNamespace(version=(1, seq)), large))
    kept = [seq for seq in range(200) if history.get((1, seq)) is not None]
    assert kept[-1] == 199 and len(kept) * len(large) <= MOST_KEPT < (len(kept) + 2) * len(large)


def test_a_node_that_reports_growth_is_quiet_while_counts_grow_little(tmp_path):
    time = Time()
    host = host_of(config(1, tmp_path, [neighbour_of(2)], report_growth=0.5, f=0), 1, clock=time.clock())
    rng, sent = np.random.default_rng(16), 0
    for _ in range(120):
        learn(host, rng, 1)
        sent += len(host.compose())
    assert 5 < sent < 40
    host.close()


# HTTP


def test_the_application_asks_at_contexts_over_http(tmp_path):
    settings = {"arms": ARMS, "context": 2, "filter": "pooled", "policy": "tuned", "catch_up": 0.0}
    node = Process(1, tmp_path, **settings).start()
    with Client(node.url, timeout=LONG, retries=0) as client:
        assert {arm.estimate for arm in client.arms().arms} == {0.5}, "nothing is believed before the first context"
        decision = client.select("first", context=np.array([0.6, 0.8]))
        assert set(decision.estimates) == set(ARMS)
        client.reward("first", 1.0)
        batch = client.select_many(2, contexts=[(1.0, 0.0), (0.0, 1.0)])
        assert client.rewards([(item.event_id, 0.0) for item in batch])[1].status == 204
        for bad in (None, [1.0], [0.9, 0.9], [0.0, 0.0]):
            with pytest.raises(NodeError, match=r"^context .*; allowed: (2 |a norm )") as caught:
                client.select(context=bad)
            assert caught.value.status == 400
        with pytest.raises(NodeError, match="best is not allowed with contexts") as caught:
            client.best()
        assert caught.value.status == 400
        state = client.state()
        assert (state.context, state.decisions, state.pending) == (2, 3, 0)
        assert sum(arm.pulls for arm in client.arms().arms) == 3
    assert node.stop() == 0
