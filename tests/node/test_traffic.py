"""Floors and caps of traffic in a node, and decisions in batches."""

import asyncio
import sqlite3
from collections import Counter

import msgspec
import pytest
from live import ARMS, Process, Time, config_of, exported, host_of, key_of, learn, state_of
from waiting import LONG

from byzmab import AsyncClient, BadInput, Client, NodeError
from byzmab.core.traffic import Forced
from byzmab.node import views
from byzmab.node.config import Traffic, read_config, write_config
from byzmab.node.records import from_json
from byzmab.node.store import import_state

MEANS = dict(zip(ARMS, (0.9, 0.6, 0.3, 0.1), strict=True))
SHARES = Traffic(floor={"d": 0.2}, cap={"a": 0.5})


def traffic_config(directory, traffic=SHARES, **settings):
    return config_of(1, directory, traffic=traffic, policy="greedy", **settings)


# floors and caps


def test_a_node_keeps_floors_and_caps_and_says_so(tmp_path):
    host = host_of(traffic_config(tmp_path), 1)
    learn(host, 1000, MEANS.get)
    arms = {arm.arm: arm for arm in views.state(host).arms}
    assert (arms["d"].floor, arms["d"].cap, arms["a"].floor, arms["a"].cap) == (0.2, 1.0, 0.0, 0.5)
    assert arms["d"].decisions / 1000 == pytest.approx(0.2, abs=0.06)
    assert arms["a"].decisions / 1000 == pytest.approx(0.5, abs=0.08)
    assert sum(arm.decisions for arm in arms.values()) == 1000
    forced = views.state(host).forced
    assert forced["floor"] == arms["d"].decisions - 1 and forced["cap"] == arms["b"].decisions - 1
    host.close()


def test_a_forced_decision_is_told_as_such_again_after_a_restart_an_export_and_an_import(tmp_path):
    config = traffic_config(tmp_path)
    host = host_of(config, 1)
    choices = [host.select(f"e-{number}") for number in range(200)]
    assert {choice.forced for choice in choices} == {None, Forced.FLOOR, Forced.CAP}
    host.close()
    state = from_json(exported(config.data))
    again = host_of(config, 1)
    assert [again.select(choice.event_id) for choice in choices] == choices
    again.close()
    moved = msgspec.structs.replace(config, data=str(tmp_path / "moved"))
    import_state(moved.data, config.network, key_of(1).public, state)
    there = host_of(moved, 1)
    assert [there.select(choice.event_id) for choice in choices] == choices
    there.close()


def test_a_data_file_from_before_there_were_floors_is_exported_opened_and_used(tmp_path):
    config = config_of(1, tmp_path)
    host = host_of(config, 1)
    old = [host.select() for _ in range(6)]
    host.close()
    with sqlite3.connect(tmp_path / "agent-1" / "node.db") as file:
        file.execute("ALTER TABLE events DROP COLUMN forced")
        file.execute("PRAGMA user_version = 1")
    assert [event.event_id for event in state_of(config.data).events] == [choice.event_id for choice in old]
    config.traffic = SHARES
    host = host_of(config, 1)
    assert [host.select(choice.event_id) for choice in old] == old
    learn(host, 100, MEANS.get)
    host.close()
    assert any(event.forced for event in state_of(config.data).events)


def test_a_restart_goes_on_as_if_it_had_not_been(tmp_path):
    config, twin = traffic_config(tmp_path), traffic_config(tmp_path / "twin")
    hosts = [host_of(config, 1), host_of(twin, 1)]
    for host in hosts:
        learn(host, 50, MEANS.get)
    hosts[0].close()
    hosts[0] = host_of(config, 1)
    assert [hosts[0].select()[1:] for _ in range(100)] == [hosts[1].select()[1:] for _ in range(100)]
    for host in hosts:
        host.close()


def test_shares_that_the_arms_in_use_cannot_have_are_refused(tmp_path):
    with pytest.raises(BadInput, match="traffic: floor of arm 'e' is not allowed"):
        host_of(traffic_config(tmp_path, Traffic(floor={"e": 0.1})), 1)
    config = traffic_config(tmp_path / "other", Traffic(floor=0.2))
    host = host_of(config, 1)
    with pytest.raises(BadInput, match=r"6 arms sum to 1\.2; allowed: at most 1"):
        host.set_arms([*ARMS, "e", "f"])
    assert host.agent.arms == ARMS
    host.set_arms(["a", "b", "c", "e", "f"])  # five can
    host.close()
    again = host_of(config, 1)
    assert again.agent.arms == ("a", "b", "c", "e", "f") and again.decisions.retired == ["d"]
    again.close()


def test_the_settings_are_written_and_read(tmp_path):
    file = tmp_path / "node.toml"
    config = traffic_config(tmp_path)
    config.traffic = Traffic(floor={"a b": 0.125, "d": 0.2}, cap=0.5)
    write_config(config, file)
    assert read_config(file).traffic == config.traffic


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("floor = 1.5", r"line 1[0-9].*floor 1\.5 is not allowed; allowed: shares in \[0, 1\]"),
        ("floor = {a = -1}", r"floor -1\.0"),
        ("cap = {a = 0}", r"cap 0\.0 is not allowed; allowed: shares in \(0, 1\]"),
        ("cap = 'all'", "traffic.cap: expected"),
        ("flor = 0.1", "key 'traffic.flor' is not known; did you mean 'floor'"),
    ],
)
def test_a_wrong_share_is_told_with_its_line(tmp_path, table, words):
    file = tmp_path / "node.toml"
    write_config(traffic_config(tmp_path), file)
    text = file.read_text()
    file.write_text("\n" * 8 + text[: text.index("[traffic]")] + f"[traffic]\n{table}\n")
    with pytest.raises(BadInput, match=words) as caught:
        read_config(file)
    assert "\n" not in str(caught.value)


# batches


def test_a_batch_is_what_as_many_single_decisions_are(tmp_path):
    time = Time()
    one, other = (host_of(traffic_config(tmp_path / name), 1, clock=time.clock()) for name in ("one", "other"))
    for host in (one, other):
        learn(host, 40, MEANS.get)
    chosen = one.agent.select_many(30)
    assert chosen == [other.select().arm for _ in range(30)]
    one.close()
    other.close()


# as processes


def start_node(directory):
    return Process(1, directory, report_every=0.1, catch_up=0.0, policy="ucb").start()


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    """For tests that do not mind what it has decided before."""
    process = start_node(tmp_path_factory.mktemp("traffic"))
    yield process
    assert process.stop() == 0


@pytest.fixture
def fresh(tmp_path):
    """One that has decided nothing."""
    process = start_node(tmp_path)
    yield process
    assert process.stop() == 0


@pytest.fixture
def client(node):
    with Client(node.url, timeout=LONG, retries=0) as client:
        yield client


def test_a_batch_spreads_over_the_arms_and_asked_again_is_the_same(fresh):
    with Client(fresh.url, timeout=LONG, retries=0) as client:
        check_a_batch(client)


def check_a_batch(client):
    names = [f"batch-{number}" for number in range(400)]
    decisions = client.select_many(names)
    assert [decision.event_id for decision in decisions] == names
    assert set(Counter(decision.arm for decision in decisions).values()) == {100}  # pending pulls narrow the width
    assert client.select_many(reversed(names)) == decisions[::-1]
    assert client.select(names[7]).arm == decisions[7].arm
    results = client.rewards((decision.event_id, MEANS[decision.arm]) for decision in decisions)
    assert {result.status for result in results} == {204}
    assert sum(arm.pulls for arm in client.arms().arms) == 400
    assert len({decision.event_id for decision in client.select_many(3)}) == 3 and client.select_many(0) == []


def test_a_batch_that_was_acknowledged_survives_kill_9(tmp_path):
    node = Process(2, tmp_path, catch_up=0.0, traffic=SHARES).start()
    with Client(node.url) as client:
        decisions = client.select_many(1000)
        node.kill()
        node.start()
        assert client.select_many(decision.event_id for decision in decisions) == decisions
        assert sum(arm.pending for arm in client.arms().arms) == 1000
    assert node.stop() == 0


@pytest.mark.parametrize("events", [["a b"], ["x"] * 10_001, ["x" * 129]])
def test_a_bad_batch_is_refused_in_one_sentence_and_decides_nothing(client, events):
    before = client.state().decisions
    with pytest.raises(NodeError) as caught:
        client.select_many(events)
    assert caught.value.status == 400 and "\n" not in caught.value.detail
    assert client.state().decisions == before


@pytest.mark.parametrize("events", [-1, 10_001, True])
def test_a_batch_of_no_size_is_refused_before_it_is_sent(client, events):
    with pytest.raises(BadInput, match="events"):
        client.select_many(events)


def test_an_asynchronous_client_asks_for_batches_too(node):
    async def ask():
        async with AsyncClient(node.url) as client:
            return await client.select_many(5), await client.select_many(["again", "again"])

    many, twice = asyncio.run(ask())
    assert len(many) == 5 and twice[0] == twice[1]


def test_floors_and_caps_change_with_a_reload_or_nothing_does(fresh):
    """In the answer, too: a forced decision says so, alone and in a batch."""
    with Client(fresh.url, timeout=LONG, retries=0) as client:
        client.rewards((decision.event_id, MEANS[decision.arm]) for decision in client.select_many(400))
        check_floors(fresh, client)


def check_floors(node, client):
    node.config.traffic = Traffic(floor={"d": 1.0})
    write_config(node.config, node.file)
    client._http.post("/v1/reload").raise_for_status()
    assert {decision.arm for decision in client.select_many(20)} == {"d"}
    decision = client.select()
    assert decision.arm == "d" and decision.forced in (None, Forced.FLOOR)
    assert client.state().arms[3].floor == 1.0 and client.state().forced["floor"] > 0
    node.config.traffic = Traffic(floor={"z": 1.0})
    write_config(node.config, node.file)
    answer = client._http.post("/v1/reload")
    assert answer.status_code == 400 and "traffic: floor of arm 'z'" in answer.json()["detail"]
    assert client.state().arms[3].floor == 1.0
    metrics = client._http.get("/metrics").text
    assert 'byzmab_forced_total{rule="floor"}' in metrics
    with pytest.raises(NodeError, match="floor of arm 'd'"):
        client.set_arms(["a", "b", "c"])
