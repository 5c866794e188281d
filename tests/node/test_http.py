"""The HTTP of a node, as a process with real sockets."""

import asyncio
import json
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import byzmab
from live import ARMS, LIMIT, Process, free_port, key_of, neighbour_of
from waiting import LONG, until

from byzmab import AsyncClient, BadInput, Client, NodeError
from byzmab.node import streams
from byzmab.node.config import write_config
from byzmab.node.faults import TRY_AGAIN

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def client(node):
    with Client(node.url, timeout=LONG, retries=0) as client:
        yield client


def ask(url, method="GET", body=None, **headers):
    """Status, headers and body of an answer."""
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"content-type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LONG) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def problem(answer):
    status, _, body = answer
    assert json.loads(body)["status_code"] == status
    return status, json.loads(body)["detail"]


def test_an_application_asks_and_rewards(client):
    decision = client.select()
    assert decision.arm in ARMS and set(decision.estimates) == set(ARMS)
    client.reward(decision.event_id, 0.75)
    client.reward(decision.event_id, 0.75)
    with pytest.raises(NodeError, match=r"0\.75") as caught:
        client.reward(decision.event_id, 0.5)
    assert caught.value.status == 409
    assert client.select(decision.event_id).arm == decision.arm


def test_an_application_that_names_no_event_gets_a_name(node):
    """With an empty object, and with no body at all, which another part of the node answers."""
    answers = [json.loads(ask(f"{node.url}/v1/select", "POST", body)[2]) for body in ({}, None, {}, None)]
    assert len({answer["event_id"] for answer in answers}) == 4
    assert all(answer.keys() == answers[0].keys() for answer in answers)


@pytest.mark.parametrize(
    ("status", "event", "body"),
    [
        (404, "never-heard-of", {"value": 0.5}),
        (400, "x", {"value": 1.5}),
        (400, "x", {"value": -0.5}),
        (400, "x", {"value": "much"}),
        (400, "x", {"value": None}),
        (400, "x", {}),
        (400, "x", {"value": 0.5, "valeu": 0.5}),
        (400, "x", b"{"),
        (400, "x", b'{"value": NaN}'),
        (400, "x" * 200, {"value": 0.5}),
    ],
)
def test_a_bad_reward_is_refused_in_one_sentence(node, status, event, body):
    found, detail = problem(ask(f"{node.url}/v1/events/{event}/reward", "POST", body))
    assert found == status and detail and "\n" not in detail


def test_a_batch_answers_for_each_reward(client):
    events = [client.select().event_id for _ in range(3)]
    client.reward(events[0], 0.0)
    results = client.rewards([(events[0], 1.0), (events[1], 1.0), ("nothing", 1.0), (events[2], 0.5), (events[1], 1.0)])
    assert [result.status for result in results] == [409, 204, 404, 204, 204]


def test_arms_come_and_go(client):
    before = client.arms()
    assert [arm.arm for arm in before.arms] == list(ARMS)
    for _ in ARMS:  # each is pulled once before a new one can be the only one that was not
        client.reward(client.select().event_id, 0.5)
    client.set_arms([*ARMS, "e"])
    assert client.select().arm == "e"
    after = client.set_arms(ARMS)
    assert after.retired == ["e"]
    with pytest.raises(NodeError) as caught:
        client.set_arms(["a"])
    assert caught.value.status == 400


def test_neighbours_and_state_are_shown(client):
    [peer] = client.neighbours()
    assert (peer.name, peer.key, peer.seq, peer.evidence) == ("agent-2", key_of(2).public, None, [])
    assert peer.fates == dict.fromkeys(ARMS, "silent")
    state = client.state()
    assert state.epoch > 0 and state.key == key_of(1).public and state.trouble is None
    assert sum(arm.pulls for arm in state.arms) <= state.rewards


def test_metrics_are_for_prometheus(node, client):
    client.reward(client.select().event_id, 1.0)
    until(lambda: client.state().seq > 0)  # the first report was sent
    status, headers, body = ask(f"{node.url}/metrics")
    text = body.decode()
    assert status == 200 and headers["content-type"].startswith("text/plain")
    for line in ("byzmab_decisions_total ", "byzmab_rewards_total ", 'byzmab_reports_sent_total{neighbour="agent-2"} '):
        assert float(next(row for row in text.splitlines() if row.startswith(line)).rpartition(" ")[2]) > 0
    assert 'byzmab_fates_total{fate="silent",neighbour="agent-2"}' in text
    assert 'byzmab_request_seconds_bucket{le="0.001",route="select",status="200"}' in text
    assert "_created" not in text


def test_a_stream_tells_the_state_after_every_report(node):
    with urllib.request.urlopen(f"{node.url}/v1/stream", timeout=LONG) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.readline() == b"event: history\n"
        history, seen = json.loads(stream.readline()[6:]), []
        while len(seen) < 3:
            line = stream.readline().decode()
            if line.startswith("data: "):
                seen.append(json.loads(line[6:]))
    assert history and history[0]["state"]["seq"] <= seen[0]["state"]["seq"]
    assert 0 < history[-1]["time"] <= 1000 * time.time()
    assert [item["state"]["seq"] for item in seen] == sorted({item["state"]["seq"] for item in seen})
    assert seen[0]["peers"][0]["name"] == "agent-2"


def test_the_earlier_name_of_neighbours_works_and_says_so(client, node):
    status, headers, body = (answer := ask(f"{node.url}/v1/peers"))[0], answer[1], json.loads(answer[2])
    assert status == 200 and headers["deprecation"] == "true" and "/v1/neighbours" in headers["link"]
    assert [peer["name"] for peer in body["peers"]] == [neighbour.name for neighbour in client.neighbours()]
    with pytest.warns(DeprecationWarning, match=r"use neighbours\(\)"):
        assert client.peers()[0].name == "agent-2"


def test_a_history_keeps_the_whole_time_in_view_within_its_limits(monkeypatch):
    clock = SimpleNamespace(now=0)
    monkeypatch.setattr(streams, "time", SimpleNamespace(monotonic=lambda: clock.now, time=lambda: clock.now))
    monkeypatch.setattr(streams, "MOST_POINTS", 20)
    history = streams.History()
    for clock.now in range(0, 5000, 5):
        if history.is_due():
            history.add(SimpleNamespace(state={}, peers=[]))
    event = b"".join(history.event()).decode()
    times = [point["time"] / 1000 for point in json.loads(event.removeprefix("event: history\ndata: "))]
    assert 10 <= len(times) <= 20 and times[0] == 0 and times[-1] > 4000, "from the start until now"


def test_health_and_readiness_are_shown(node):
    assert ask(f"{node.url}/healthz")[0] == ask(f"{node.url}/readyz")[0] == 200
    assert problem(ask(f"{node.url}/nothing"))[0] == 404
    assert problem(ask(f"{node.url}/v1/select"))[0] == 405


def test_an_oversized_body_is_refused_before_it_has_come(node):
    with socket.create_connection(("127.0.0.1", node.port), timeout=LONG) as line:
        head = f"POST /v1/rewards HTTP/1.1\r\nhost: localhost\r\ncontent-length: {LIMIT + 1}\r\n\r\n"
        line.sendall(head.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_an_oversized_body_of_untold_length_is_cut_off(node):
    with socket.create_connection(("127.0.0.1", node.port), timeout=LONG) as line:
        line.sendall(b"POST /v1/rewards HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(LIMIT // 10_000 + 1):
            line.sendall(b"%x\r\n" % 10_000 + b" " * 10_000 + b"\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_a_slow_body_is_cut_off_and_delays_nobody(node, client):
    for _ in range(10):  # a loaded machine may let everybody wait for so long
        with socket.create_connection(("127.0.0.1", node.port), timeout=LONG) as slow:
            slow.sendall(b"POST /v1/select HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{")
            client.select()
            is_waited_for = not select.select([slow], [], [], 0)[0]
            assert slow.recv(100).startswith(b"HTTP/1.1 408")
        if is_waited_for:
            return
    raise AssertionError("nobody is answered while the slow one is waited for")


def test_a_page_from_elsewhere_cannot_ask_through_a_browser(node):
    """Neither by a form that needs no permission, nor under a name that somebody pointed at loopback."""
    assert problem(ask(f"{node.url}/v1/select", "POST", b"{}", **{"content-type": "text/plain"}))[0] == 415
    assert problem(ask(f"{node.url}/v1/state", host="evil.example:80"))[0] == 421
    assert ask(f"{node.url}/v1/state", host="localhost:1")[0] == 200


def test_a_thousand_clients_at_once_are_all_served(node):
    async def one(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)

        async def say(path, body):
            head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            length = next((row for row in answer.lower().split(b"\r\n") if row.startswith(b"content-length")), b":0")
            await reader.readexactly(int(length.partition(b":")[2]))
            return int(answer.split()[1])

        found = [
            await say("/v1/select", json.dumps({"event_id": f"crowd-{number}"})),
            await say(f"/v1/events/crowd-{number}/reward", '{"value": 1}'),
        ]
        writer.close()
        return found

    async def all_at_once():
        return await asyncio.gather(*(one(number) for number in range(1_000)))

    assert asyncio.run(all_at_once()) == [[200, 204]] * 1_000


def open_sockets():
    """Sockets of this process."""
    links = [str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return sum(link.startswith("socket:") for link in links)


def test_a_client_keeps_no_connection_of_a_thread_that_ended(node):
    with Client(node.url) as client:
        client.state()
        before = open_sockets()
        for _ in range(50):
            thread = threading.Thread(target=client.state)
            thread.start()
            thread.join()
        assert open_sockets() == before


def test_threads_share_a_client(node):
    with Client(node.url) as client, ThreadPoolExecutor(150) as pool:  # more than httpx's usual 100 connections
        decisions = list(pool.map(lambda _: client.select(), range(300)))
        list(pool.map(lambda decision: client.reward(decision.event_id, 1.0), decisions))
    assert len({decision.event_id for decision in decisions}) == 300


@pytest.mark.parametrize("url", ["localhost:8700", "ftp://localhost", "http://", "http://localhost:port", 8700])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_an_address_that_is_none_is_refused(kind, url):
    with pytest.raises(BadInput, match="allowed: http://host:port or https://host:port"):
        kind(url)


def test_the_asynchronous_client_is_the_same(node):
    async def play():
        async with AsyncClient(node.url) as client:
            decisions = await asyncio.gather(*(client.select() for _ in range(20)))
            await client.reward(decisions[0].event_id, 1.0)
            results = await client.rewards((decision.event_id, 0.5) for decision in decisions[1:])
            with pytest.raises(NodeError) as caught:
                await client.reward("nothing", 1.0)
            arms = await client.arms()
            assert await client.set_arms(arm.arm for arm in arms.arms)
            return results, caught.value.status, await client.neighbours(), (await client.state()).name

    results, status, peers, name = asyncio.run(play())
    assert {result.status for result in results} == {204} and status == 404
    assert peers[0].name == "agent-2" and name == "agent-1"


# a process of one's own


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A node with a token, and short patience for rewards."""
    directory = tmp_path_factory.mktemp("guarded")
    (directory / "token").write_text(f"{TOKEN}\n")
    (directory / "token").chmod(0o600)
    http = {"token_file": str(directory / "token")}
    process = Process(3, directory, http=http, reward_wait=0.3, report_every=0.1, logs="text")
    yield process.start()
    process.stop()


@pytest.mark.parametrize("given", [None, "Bearer", "Bearer wrong", f"Bearer {TOKEN}x", f"bearer {TOKEN[:-1]}", TOKEN])
def test_a_wrong_token_gets_nothing(guarded, given):
    headers = {} if given is None else {"authorization": given}
    for path in ("/v1/state", "/metrics", "/v1/stream", "/schema/openapi.json", "/nothing"):
        status, answer, body = ask(f"{guarded.url}{path}", **headers)
        assert status == 401 and answer["www-authenticate"] == "Bearer" and TOKEN.encode() not in body
    assert ask(f"{guarded.url}/v1/select", "POST", {}, **headers)[0] == 401
    assert ask(f"{guarded.url}/healthz", **headers)[0] == 200


def test_the_right_token_is_let_in_and_a_late_reward_is_gone(guarded):
    with Client(guarded.url, TOKEN) as client:
        event = client.select().event_id
        until(lambda: client.state().expired)
        with pytest.raises(NodeError) as caught:
            client.reward(event, 1.0)
        assert caught.value.status == 410


def test_too_many_requests_are_told_to_wait_and_then_served(tmp_path):
    node = Process(1, tmp_path, http={"rate_limit": 1.0}).start()
    denied = until(lambda: (answer := ask(f"{node.url}/v1/state"))[0] == 429 and answer, every=0)
    assert denied[1]["retry-after"] == "1"
    until(lambda: ask(f"{node.url}/v1/state")[0] == 200, every=1.5)
    node.stop()


def test_neither_key_nor_token_is_ever_logged(guarded):
    for token in (TOKEN, f"{TOKEN}x"):
        ask(f"{guarded.url}/v1/state", authorization=f"Bearer {token}")
    secret = (guarded.directory / "node.key").read_text().strip().rpartition(":")[2]
    log = guarded.log.read_text()
    assert "serving" in log and secret not in log and TOKEN not in log


def test_neighbours_change_without_a_restart(tmp_path):
    node = Process(1, tmp_path, [neighbour_of(2)], ["tcp/127.0.0.1:0"]).start()
    with Client(node.url) as client:
        node.config.neighbours = (neighbour_of(3, name="agent-2"), neighbour_of(4, tells=False))
        write_config(node.config, node.file)
        node.signal(signal.SIGHUP)
        until(
            lambda: (
                [(peer.name, peer.key) for peer in client.neighbours()]
                == [("agent-2", key_of(3).public), ("agent-4", key_of(4).public)]
            )
        )
        node.file.write_text("neighbours = 3")
        node.signal(signal.SIGHUP)
        assert problem(ask(f"{node.url}/v1/reload", "POST"))[0] == 400
        assert len(client.neighbours()) == 2
        node.config.neighbours = ()
        write_config(node.config, node.file)
        assert ask(f"{node.url}/v1/reload", "POST")[0] == 200
        assert client.neighbours() == [] and client.state().epoch > 0
    assert node.stop() == 0


def test_sigterm_ends_cleanly_even_while_somebody_watches(tmp_path):
    node = Process(1, tmp_path).start()
    with Client(node.url, retries=30) as client:
        event, epoch = client.select().event_id, client.state().epoch
        stream = urllib.request.urlopen(f"{node.url}/v1/stream", timeout=LONG)
        stream.readline()
        assert node.stop() == 0
        stream.close()
        waiter = threading.Thread(target=client.reward, args=(event, 1.0))  # asks again until the node is back
        waiter.start()
        node.start()
        waiter.join(LONG)
        assert client.state().epoch > epoch and sum(arm.pulls for arm in client.arms().arms) == 1
    events = [json.loads(line)["event"] for line in node.log.read_text().splitlines() if line.startswith("{")]
    assert events == ["serving", "stopped", "serving"]
    assert node.stop() == 0


# the command line


def test_keygen_prints_the_public_key_alone(tmp_path):
    made = byzmab("keygen", tmp_path / "key")
    shown = byzmab("keygen", tmp_path / "key", "--show")
    assert made.stdout == shown.stdout and made.stdout.startswith("ed25519:") and len(made.stdout) == 73
    assert "exists already" in byzmab("keygen", tmp_path / "key", code=2).stderr


def test_state_moves_by_export_and_import(tmp_path):
    node = Process(1, tmp_path / "a").start()
    with Client(node.url) as client:
        for _ in range(10):
            client.reward(client.select().event_id, 1.0)
        running = byzmab("node", "export", node.file)
    node.stop()
    assert json.loads(running.stdout)["facts"]["round"] == 6
    (tmp_path / "state.json").write_text(running.stdout)
    moved = Process(1, tmp_path / "b")
    byzmab("node", "import", moved.file, tmp_path / "state.json")
    byzmab("node", "import", moved.file, tmp_path / "state.json", code=2)
    with Client(moved.start().url) as client:
        assert sum(arm.pulls for arm in client.arms().arms) == 10
    moved.stop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda node: node.file.write_text("x"), "is not TOML"),
        (lambda node: (node.directory / "node.key").chmod(0o644), "0644"),
    ],
)
def test_a_node_that_cannot_start_says_why_and_exits_with_2(tmp_path, change, said):
    node = Process(1, tmp_path)
    change(node)
    done = byzmab("node", node.file, code=2)
    assert said in done.stderr and done.stderr.strip().count("\n") <= 1  # the compiling notice may come first


def test_a_port_in_use_is_named(tmp_path):
    node = Process(1, tmp_path)
    with socket.create_server(("127.0.0.1", node.port)):
        done = byzmab("node", node.file, code=TRY_AGAIN)
    assert f"127.0.0.1:{node.port} cannot be listened on" in done.stderr


def test_a_missing_extra_ends_with_the_line_that_adds_it(tmp_path):
    code = "import sys; sys.modules['nacl'] = None; from byzmab.cli.main import main; sys.argv = ['byzmab', *sys.argv[1:]]; main()"
    for arguments in (["keygen", "k"], ["node", "n.toml"], ["evidence", "verify", "f"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2 and "pip install 'byzmab[node]'" in done.stderr and "Traceback" not in done.stderr


def test_a_client_of_nothing_says_so():
    with (
        Client("http://127.0.0.1:1", retries=1) as client,
        pytest.raises(NodeError, match="cannot be reached") as caught,
    ):
        client.select()
    assert caught.value.status == 0
    with pytest.raises(BadInput, match="url"):
        Client("127.0.0.1:8700")


def test_a_node_on_a_full_disk_says_so_and_goes_on_when_there_is_room(tmp_path):
    """The size of files is limited from outside, and the limit lifted again."""
    node = Process(1, tmp_path, report_every=0.1).start()
    unlimited = resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE)
    acknowledged = 0
    with Client(node.url, timeout=LONG, retries=0) as client:
        client.reward(client.select().event_id, 1.0)
        size = max(path.stat().st_size for path in (node.directory / "agent-1").iterdir())
        resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE, (size + 50_000, unlimited[1]))
        with pytest.raises(NodeError, match="state cannot be written") as caught:
            while acknowledged < 5_000:
                client.reward(client.select().event_id, 1.0)
                acknowledged += 1
        assert caught.value.status == 503
        assert problem(ask(f"{node.url}/readyz"))[0] == 503 and ask(f"{node.url}/healthz")[0] == 200
        assert "cannot be written" in client.state().trouble
        resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE, unlimited)
        until(node.ready)
        client.reward(client.select().event_id, 1.0)
        assert acknowledged + 2 <= sum(arm.pulls for arm in client.arms().arms) <= acknowledged + 3
    node.kill()
    with Client(node.start().url) as client:
        assert acknowledged + 2 <= sum(arm.pulls for arm in client.arms().arms) <= acknowledged + 3
    assert node.stop() == 0
    events = [json.loads(line)["event"] for line in node.log.read_text().splitlines() if line.startswith("{")]
    assert events[1:3] == ["state cannot be written; nothing is accepted until it can", "state can be written again"]


def test_a_reload_is_whole_or_nothing_and_names_what_it_ignores(tmp_path):
    """A bad endpoint comes after a good neighbour that is removed, and one that is changed."""
    node = Process(1, tmp_path, [neighbour_of(2), neighbour_of(3)], ["tcp/127.0.0.1:0"]).start()
    with Client(node.url) as client:

        def known():
            return [(peer.name, peer.endpoint) for peer in client.neighbours()]

        before = known()
        changed = neighbour_of(3, endpoint=f"tcp/127.0.0.1:{free_port()}")
        for wrong in ("tcp/127.0.0.1:99999", "tcp/127.0.0.1", "tcp/no such host:1"):
            node.config.neighbours = (changed, neighbour_of(4), neighbour_of(5, endpoint=wrong))
            write_config(node.config, node.file)
            status, detail = problem(ask(f"{node.url}/v1/reload", "POST"))
            assert status == 400 and wrong in detail
            assert known() == before
        node.config.neighbours = (changed, neighbour_of(4))
        node.config.report_every, node.config.http.body_wait = 9.0, 8.0
        write_config(node.config, node.file)
        status, _, content = ask(f"{node.url}/v1/reload", "POST")
        assert status == 200 and json.loads(content)["ignored"] == ["report_every", "http.body_wait"]
        assert known() == [("agent-3", changed.endpoint), ("agent-4", None)]
        node.signal(signal.SIGHUP)
        until(lambda: node.log.read_text().count("used after a restart") == 2)
    assert node.stop() == 0
