"""A node that begins warm, that is asked for its best arm, and that resets one arm: honest in its neighbours' eyes."""

import asyncio
import json
import urllib.error
import urllib.request

import pytest
from command import byzmab
from live import ARMS, Process, Time, config_of, host_of, key_of, learn, neighbour_of, state_of
from waiting import LONG

from byzmab import AsyncClient, BadInput, Client, NodeError
from byzmab.node import administration
from byzmab.node.neighbours import IMPOSSIBLE
from byzmab.node.past_counts import read_past_counts
from byzmab.node.transport.memory import Hub

TABLE = "arm,pulls,mean\na,400,0.25\nb,300,0.5\nd,1000,0.75\n"


def pair(directory, **settings):
    """Two nodes that hear each other; the key of the first is a file, as commands need it."""
    configs = [config_of(number, directory, [neighbour_of(3 - number)], **settings) for number in (1, 2)]
    configs[0].key = str(directory / "node.key")
    key_of(1).save(directory / "node.key")
    return configs


def tell(hub, teller, *hearers):
    teller.tell()
    hub.carry()
    for hearer in hearers:
        hearer.listen()


def suspicions(host, number):
    neighbour = host.neighbourhood.neighbours[f"agent-{number}"]
    return len(neighbour.evidence), neighbour.counts[IMPOSSIBLE], neighbour.expelled


# a warm start


def test_a_node_that_begins_warm_after_it_has_reported_nothing_is_no_liar(tmp_path):
    """It ran before, and told counts of zero; afterwards it tells its past counts, and more as it goes on."""
    hub = Hub()
    config, other = pair(tmp_path)
    one, two = host_of(config, 1, hub), host_of(other, 2, hub)
    tell(hub, one, two)
    assert two.heard["agent-1"].pulls == [0, 0, 0, 0]
    one.close()
    (tmp_path / "table.csv").write_text(TABLE)
    administration.warm_start(config, read_past_counts(tmp_path / "table.csv"))
    one = host_of(config, 1, hub)
    tell(hub, one, two)
    told = two.heard["agent-1"]
    assert (told.pulls, told.means) == ([400, 300, 0, 1000], [0.25, 0.5, 0.0, 0.75])
    for _ in range(3):
        learn(one, 50)
        tell(hub, one, two)
    assert sum(two.heard["agent-1"].pulls) == 1850
    assert suspicions(two, 1) == (0, 0, False)
    one.close()
    two.close()


def test_a_warm_start_is_on_the_disk_and_counts_as_decisions_made(tmp_path):
    config, _ = pair(tmp_path)
    administration.warm_start(config, {"a": (10, 0.5), "b": (20, 0.25)})
    state = state_of(config.data)
    assert [(arm.pulls, arm.total) for arm in state.arms] == [(10, 5.0), (20, 5.0), (0, 0.0), (0, 0.0)]
    host = host_of(config, 1)
    assert host.agent.time == 28 and [host.select().arm for _ in range(2)] == ["c", "d"]
    host.close()


def test_a_warm_start_comes_too_late_once_anything_was_decided(tmp_path):
    time = Time()
    config, _ = pair(tmp_path, reward_wait=5.0)
    host = host_of(config, 1, clock=time.clock())
    host.select()
    host.store.flush()
    time.now += 6
    host.tell()  # the reward did not come: no tally knows of the decision, the events do
    host.close()
    with pytest.raises(BadInput, match="warm start is not allowed once a node has decided"):
        administration.warm_start(config, {"a": (10, 0.5)})
    assert [arm.pulls for arm in state_of(config.data).arms] == [0, 0, 0, 0]


def test_the_command_begins_warm_once_and_says_in_one_sentence_why_not(tmp_path):
    node = Process(1, tmp_path, catch_up=0.0)
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    byzmab("node", "warm-start", node.file, table)
    again = byzmab("node", "warm-start", node.file, table, code=2)
    assert "warm start is not allowed once" in again.stderr and again.stderr.count("\n") == 1
    node.start()
    assert "in use by another node" in byzmab("node", "warm-start", node.file, table, code=2).stderr
    with Client(node.url) as client:
        assert [arm.pulls for arm in client.arms().arms] == [400, 300, 0, 1000]
        assert client.select().arm == "c"
    assert node.stop() == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no counts"),
        ("arm,pulls,mean\n", "holds no counts"),
        ("arm,pulls\na,1\n", "line 1: the columns are not allowed; allowed: arm, pulls, mean"),
        ("arm,pulls,mean\na,1\n", "line 2: 2 cells are not allowed; allowed: 3"),
        ("arm,pulls,mean\na,1.5,0.5\n", "line 2: '1.5' pulls with mean '0.5' are not allowed; allowed: whole pulls"),
        ("arm,pulls,mean\na,1,0.5\n\na,1,0.5\n", "line 4: arm 'a' is there twice"),
        ('arm,pulls,mean\n"a,1,0.5\n', "is not CSV"),
        ("arm,pulls,mean\nz,1,0.5\n", "arm 'z' does not exist; allowed: 'a', 'b', 'c', 'd'"),
        ("arm,pulls,mean\na,-1,0.5\n", r"past counts \(-1, 0.5\) of arm 'a' are not allowed"),
        ("arm,pulls,mean\na,1,nan\n", r"past counts \(1, nan\) of arm 'a' are not allowed"),
        (b"arm,pulls,mean\n\xff,1,0.5\n", "cannot be read: it is no text"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_line_and_changes_nothing(tmp_path, text, words):
    config, _ = pair(tmp_path)
    table = tmp_path / "table.csv"
    if text is not None:
        table.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=words) as caught:
        administration.warm_start(config, read_past_counts(table))
    assert "\n" not in str(caught.value)


def test_columns_may_come_in_any_order_with_spaces_and_a_mark_of_byte_order(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("\ufeffmean, arm, pulls\n0.5, a b, 7\n", encoding="utf-8")
    assert read_past_counts(table) == {"a b": (7, 0.5)}


# the reset of one arm


def test_a_reset_arm_falls_to_zero_and_no_neighbour_takes_that_for_a_lie(tmp_path):
    """Nor does one that missed the announcement, nor after a restart of the node."""
    hub, time = Hub(), Time()
    config, other = pair(tmp_path)
    one, two = host_of(config, 1, hub, clock=time.clock()), host_of(other, 2, hub, clock=time.clock())
    learn(one, 200)
    tell(hub, one, two)
    before = two.heard["agent-1"]
    one.reset("a")
    tell(hub, one, two)
    after = two.heard["agent-1"]
    assert (after.pulls[0], after.pulls[1:]) == (0, before.pulls[1:]) and after.reset == after.epoch > before.epoch
    learn(one, 20)
    one.reset("b")
    one.tell()  # nobody listens
    hub.carry()
    one.close()
    time.now += 1
    one = host_of(config, 1, hub, clock=time.clock())
    assert one.agent.tally("b").pulls == 0 < one.agent.tally("c").pulls
    learn(one, 20)
    tell(hub, one, two)
    assert two.heard["agent-1"].epoch == one.epoch and suspicions(two, 1) == (0, 0, False)
    one.close()
    two.close()


def test_without_the_announcement_the_same_fall_is_proof_of_a_lie(tmp_path):
    """What the reset is announced for: the audit does find a count that just falls."""
    hub, time = Hub(), Time()
    config, other = pair(tmp_path)
    one, two = host_of(config, 1, hub, clock=time.clock()), host_of(other, 2, hub, clock=time.clock())
    learn(one, 200)
    tell(hub, one, two)
    one.decisions.reset("a")
    tell(hub, one, two)
    assert suspicions(two, 1) == (1, 0, True)
    one.close()
    two.close()


def test_a_decision_made_before_a_reset_still_takes_its_reward(tmp_path):
    host = host_of(config_of(1, tmp_path), 1)
    learn(host, 100)
    event, arm, *_ = host.select()
    host.reset(arm)
    host.reward(event, 1.0)
    assert (host.agent.tally(arm).pulls, host.agent.tally(arm).total, host.agent.tally(arm).pending) == (1, 1.0, 0)
    with pytest.raises(BadInput, match="arm 'z' does not exist"):
        host.reset("z")
    host.close()


# over HTTP


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    """Only one of the tests rewards it: that one begins with a node that has learned nothing."""
    process = Process(1, tmp_path_factory.mktemp("best"), catch_up=0.0)
    yield process.start()
    assert process.stop() == 0


@pytest.fixture
def client(node):
    with Client(node.url, timeout=LONG, retries=0) as client:
        yield client


def test_a_node_tells_its_best_arm_with_intervals_and_when_to_stop(node, client):
    unsure = client.best()
    assert unsure.confidence == 0.0 and unsure.wanted == 0.95 and not unsure.reached
    assert all(item.contends for item in unsure.arms)
    means = dict(zip(ARMS, (1.0, 0.0, 0.0, 0.0), strict=True))
    for _ in range(3):
        decisions = client.select_many(400)
        client.rewards((decision.event_id, means[decision.arm]) for decision in decisions)
    sure = client.best(0.9)
    assert sure.arm == "a" and sure.reached and sure.confidence >= 0.9 == sure.wanted
    assert [item.arm for item in sure.arms if item.contends] == ["a"]
    assert all(item.low <= means[item.arm] <= item.high for item in sure.arms)

    async def ask():
        async with AsyncClient(node.url) as asking:
            return await asking.best(0.9), await asking.reset("a")

    best, arms = asyncio.run(ask())
    assert best == sure and arms.arms[0].pulls == 0 and min(arm.pulls for arm in arms.arms[1:]) > 0
    assert client.best(0.9).arm != "a" or not client.best(0.9).reached


@pytest.mark.parametrize("confidence", ["0", "1", "95", "nan", "high", ""])
def test_a_confidence_that_is_none_is_refused_with_400(node, confidence):
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{node.url}/v1/best?confidence={confidence}")
    assert caught.value.code == 400 and "\n" not in json.loads(caught.value.read())["detail"]


def test_a_reset_over_http_begins_an_epoch_and_an_unknown_arm_is_refused(client):
    before = client.state()
    client.reset("b")
    after = client.state()
    assert after.epoch > before.epoch and after.arms[1].pulls == 0
    with pytest.raises(NodeError, match="arm 'z' does not exist") as caught:
        client.reset("z")
    assert caught.value.status == 400 and client.state().epoch == after.epoch
