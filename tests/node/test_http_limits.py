"""What strangers and web pages can do to a node over HTTP: nothing that changes it, and nothing that stops it."""

import asyncio
import json
import re
import resource
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from command import run_byzmab
from live import NETWORK, Process, frame, free_port, key_of, neighbour_of
from waiting import LONG, until

from byzmab import Client, NodeError
from byzmab.node.faults import TRY_AGAIN
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport

TOKEN, OTHER = "correct-horse-battery-staple", "another-horse-battery-staple"
FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]
DEEP = b'{"rewards":' + b"[" * 100_000
CONNECTIONS = 300


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    process = Process(1, tmp_path_factory.mktemp("limits"), http={"body_wait": 3.0, "connections": CONNECTIONS})
    yield process.start()
    assert process.stop() == 0
    assert "Traceback" not in process.log.read_text()


def ask(url, method="GET", body=None, **headers):
    """Status and body of an answer."""
    request = urllib.request.Request(url, body, {"content-type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LONG) as answer:  # the first may compile
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


# pages from elsewhere


@pytest.mark.parametrize("headers", FOREIGN, ids=lambda headers: " ".join(*headers.items()))
def test_a_page_from_elsewhere_changes_nothing_with_or_without_a_body(node, headers):
    with Client(node.url) as client:
        before = client.state()
        for path in ("/v1/select", "/v1/rewards", "/v1/reload", "/v1/events/x/reward"):
            assert ask(node.url + path, "POST", None, **headers)[0] == 403
            assert ask(node.url + path, "POST", b"{}", **headers)[0] == 403
        assert ask(f"{node.url}/v1/arms", "PUT", b'{"arms": ["x", "y"]}', **headers)[0] == 403
        after = client.state()
    assert (after.decisions, after.round, after.arms) == (before.decisions, before.round, before.arms)


def test_a_page_from_elsewhere_reads_nothing_but_a_link_to_the_page_works(node):
    elsewhere = {"sec-fetch-site": "cross-site"}
    for path in ("/v1/state", "/v1/stream", "/metrics"):
        assert ask(node.url + path, **elsewhere)[0] == 403
    assert ask(f"{node.url}/", **elsewhere)[0] == 200


def test_the_page_of_the_node_itself_may_ask(node):
    own = {"origin": node.url, "sec-fetch-site": "same-origin"}
    assert ask(f"{node.url}/v1/select", "POST", b"{}", **own)[0] == 200


@contextmanager
def command(*arguments, until):
    """A `byzmab` command that serves a page; the address that it says."""
    process = subprocess.Popen(
        [sys.executable, "-m", "byzmab.cli.main", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stderr:
            if found := re.search(rf"{until} (http\S+/)", line):
                yield found[1]
                break
        else:
            raise AssertionError("it ended before it began")
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.communicate(timeout=LONG)[1]
    finally:
        process.kill()


def test_a_page_from_elsewhere_neither_plays_nor_hurts_on_the_lab_and_the_overview(tmp_path):
    with command("lab", "--port", "0", "--no-open", until="the lab is at") as lab:
        for headers in FOREIGN:
            for path in ("lab/run", "lab/check", "lab/step"):
                assert ask(lab + path, "POST", None, **headers)[0] == 403
                assert ask(lab + path, "POST", b'{"settings": {}}', **headers)[0] == 403
        assert ask(f"{lab}lab/check", "POST", b'{"settings": {}}', origin=lab.rstrip("/"))[0] == 200
        assert ask(f"{lab}lab/check", "POST", DEEP)[0] == ask(f"{lab}static/%00")[0] == 400
    options = ("--agents", 2, "--byzantine", 0, "--traffic", 1, "--page-port", 0, "--data", tmp_path / "network")
    with command("network", *options, until="watch it at") as overview:
        kill = b'{"deed": "kill", "agent": 1}'
        for headers in FOREIGN:
            assert ask(f"{overview}network/deeds", "POST", kill, **headers)[0] == 403
            assert ask(f"{overview}network/attack", "POST", None, **headers)[0] == 403
        assert ask(f"{overview}network/deeds", "POST", kill, origin=overview.rstrip("/"))[0] == 204


# strangers, before a token is asked for


def connect(node):
    return socket.create_connection(("127.0.0.1", node.port), timeout=LONG)


def memory(node):
    """Megabytes that a node holds."""
    status = Path(f"/proc/{node.popen.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


@pytest.mark.parametrize(
    "piece", [b"x: " + b"y" * 4_000 + b"\r\n", b"y" * 4_000], ids=["many headers", "one long header"]
)
def test_headers_are_bounded_before_anybody_is_known(node, piece):
    before = memory(node)
    with connect(node) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ")
        with pytest.raises(OSError, match=r"(?i)reset|broken"):  # it is cut off long before 10 MB
            for _ in range(2_500):
                line.sendall(piece)
    assert memory(node) < before + 20
    assert ask(f"{node.url}/healthz")[0] == 200


def test_headers_that_are_too_long_are_told_so(node):
    with connect(node) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 17_000 + b"\r\n\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 431")
    assert ask(f"{node.url}/healthz", x="y" * 10_000)[0] == 200


def test_what_is_not_http_gets_one_sentence(node):
    with connect(node) as line:
        line.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = line.recv(1000)
    assert answer.startswith(b"HTTP/1.1 400") and json.loads(answer.partition(b"\r\n\r\n")[2])["status_code"] == 400


def test_idle_connections_are_closed_in_time_whatever_they_have_sent(node):
    with connect(node) as silent, connect(node) as slow, connect(node) as second:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nx: ")
        second.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += second.recv(1000)
        second.sendall(b"GET /hea")  # the next request on a connection that was served
        assert silent.recv(1) == b""
        assert slow.recv(100).startswith(b"HTTP/1.1 408")
        assert second.recv(100).startswith(b"HTTP/1.1 408")


def test_idle_connections_silence_nobody(node):
    """As many as there may be, and half again; a client that was served before is still served."""
    with ExitStack() as stack, Client(node.url) as client:
        client.state()
        for _ in range(CONNECTIONS + CONNECTIONS // 2):
            stack.enter_context(connect(node))
        assert ask(f"{node.url}/healthz")[0] == 200
        client.state()


# streams


def read_state(stream):
    """The next state of a stream, as bytes."""
    while not (line := stream.readline()).startswith(b'data: {"state"'):
        pass
    return line[6:]


def test_streams_are_small_however_much_a_neighbour_was_caught_at(tmp_path):
    """Impossible histories by the hundred: their frames are at /v1/neighbours, not in the stream."""
    port = free_port()
    node = Process(1, tmp_path, [neighbour_of(2)], [f"tcp/127.0.0.1:{port}"], report_every=0.1).start()
    liar = ZenohTransport(NETWORK, key_of(2).public)
    liar.open(lambda name, content: None)
    liar.link(Link("agent-1", key_of(1).public, f"tcp/127.0.0.1:{port}"))
    with Client(node.url) as client, urllib.request.urlopen(f"{node.url}/v1/stream", timeout=LONG) as stream:
        small = len(read_state(stream))
        epochs = count(1)

        def lie():
            epoch = next(epochs)
            liar.send("agent-1", frame(2, 1, [1_000_000 - epoch] * 4, [0.5] * 4, epoch=epoch))
            return len(client.neighbours()[0].evidence) >= 8

        until(lie, every=0.01)
        caught = b""
        while not caught or len(json.loads(caught)["peers"][0]["findings"]) < 8:
            caught = read_state(stream)
        evidence = [piece.frames for piece in client.neighbours()[0].evidence]
    assert len(evidence) == 8 and all(frame.encode() not in caught for frames in evidence for frame in frames)
    assert len(caught) < small + 3_000
    liar.close()
    node.stop()


def test_a_page_that_does_not_read_has_one_state_waiting(tmp_path):
    """Who reads again after a while gets the newest state, not all that there were."""
    arms = [f"an arm with a long name, number {number}" for number in range(500)]
    node = Process(1, tmp_path, report_every=0.02, arms=arms).start()
    with connect(node) as line, Client(node.url) as client:
        line.sendall(b"GET /v1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
        until(lambda: client.state().seq > 250)
        before, seen = client.state().seq, []
        reader = line.makefile("rb")
        while not seen or seen[-1] < before:
            seen.append(json.loads(read_state(reader))["state"]["seq"])
    assert len(seen) < before / 2  # what the sockets' buffers hold, and the newest
    node.stop()


def test_more_streams_than_allowed_are_refused_and_the_rest_is_answered(node):
    with ExitStack() as stack:
        lines = [stack.enter_context(connect(node)) for _ in range(CONNECTIONS // 2)]
        for line in lines:
            line.sendall(b"GET /v1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
        for line in lines:
            assert line.recv(100).startswith(b"HTTP/1.1 200")
        status, said = ask(f"{node.url}/v1/stream")
        assert status == 503 and f"{CONNECTIONS // 2} streams" in json.loads(said)["detail"]
        with Client(node.url) as client:
            client.reward(client.select().event_id, 1.0)


def test_a_thousand_streams_all_get_states_while_the_node_decides(tmp_path):
    node = Process(1, tmp_path, report_every=0.2).start()

    async def watch():
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
        writer.write(b"GET /v1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n")
        seen = 0
        while seen < 3:
            seen += (await reader.readline()).startswith(b"data: ")
        writer.close()
        return seen

    async def decide():
        with Client(node.url) as client:
            for _ in range(50):
                await asyncio.to_thread(lambda: client.reward(client.select().event_id, 1.0))

    async def all_at_once():
        return await asyncio.gather(decide(), *(watch() for _ in range(1_000)))

    assert asyncio.run(all_at_once())[1:] == [3] * 1_000
    node.stop()


# tokens


def test_a_token_changes_without_a_restart_and_a_bad_one_does_not(tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    node = Process(1, tmp_path, http={"token_file": str(token)}).start()

    def enters(word):
        return ask(f"{node.url}/v1/state", authorization=f"Bearer {word}")[0] == 200

    assert enters(TOKEN) and not enters(OTHER)
    token.write_text(OTHER)
    node.signal(signal.SIGHUP)
    until(lambda: enters(OTHER) and not enters(TOKEN))
    token.write_text(TOKEN)  # also without a signal
    until(lambda: enters(TOKEN) and not enters(OTHER))
    token.write_text(OTHER)
    token.chmod(0o644)
    until(lambda: "token not read again" in node.log.read_text() or not enters(TOKEN))
    assert enters(TOKEN) and not enters(OTHER)
    node.stop()
    log = node.log.read_text()
    assert "mode 0644" in log and TOKEN not in log and OTHER not in log


def start_fails(node, code=2, **options):
    """What a node that cannot start says: one sentence, and its exit code."""
    if options:
        command = [sys.executable, "-m", "byzmab.cli.main", "node", str(node.file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    else:
        done = run_byzmab(["node", node.file])
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_token_file_that_others_can_read_is_refused(tmp_path, mode):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(mode)
    said = start_fails(Process(1, tmp_path, http={"token_file": str(tmp_path / "token")}))
    assert f"has mode {mode:04o}; allowed: 0600" in said


@pytest.mark.parametrize(("host", "warns"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_token_on_an_open_address_without_tls_warns(tmp_path, host, warns):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    node = Process(1, tmp_path, http={"token_file": str(tmp_path / "token"), "host": host}).start()
    node.stop()
    assert ("the token is sent unencrypted" in node.log.read_text()) == warns


# one sentence, no traceback


def test_deep_nesting_gets_one_sentence(node):
    for path, method in (("/v1/select", "POST"), ("/v1/rewards", "POST"), ("/v1/arms", "PUT")):
        status, said = ask(node.url + path, method, DEEP)
        assert status == 400 and json.loads(said)["detail"] in (
            "the body is nested too deeply",
            "the body: object contains unknown field `rewards`",
            "rewards[0]: expected `object`, got `array`",
        )


@pytest.mark.parametrize("path", ["/static/%00", "/%00", "/v1/events/%00/reward", "/static/node%0a.js"])
def test_a_control_sign_in_a_path_gets_one_sentence(node, path):
    for method, body in (("GET", None), ("POST", b"{}")):
        status, said = ask(node.url + path, method, body)
        assert status == 400 and "control sign" in json.loads(said)["detail"]


@pytest.mark.parametrize("used", [False, True], ids=["first start", "later start"])
def test_a_start_on_a_full_disk_says_so_and_is_tried_again(tmp_path, used):
    node = Process(1, tmp_path)
    if used:
        node.start()
        with Client(node.url) as client:
            client.select()
        node.kill()

    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # not a byte can be written, even over others

    said = start_fails(node, TRY_AGAIN, preexec_fn=full)
    assert "cannot" in said and ("disk" in said or "written" in said)
    if used:
        with Client(node.start().url, timeout=LONG, retries=0) as client, pytest.raises(NodeError):
            client.reward("nothing", 1.0)
        node.stop()


# what is asked, to the letter


def speak(node, head, body=b""):
    """The answer to a request as it is written; its status, and what it says is wrong."""
    lines = [*head, "content-type: application/json", f"content-length: {len(body)}", "connection: close"]
    with socket.create_connection(("127.0.0.1", node.port), timeout=LONG) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        answer = b"".join(iter(lambda: line.recv(65_536), b""))
    start, _, content = answer.partition(b"\r\n\r\n")
    return int(start.split()[1]), json.loads(content)["detail"] if content and int(start.split()[1]) >= 400 else ""


def post(node, path, body, *hosts):
    return speak(node, [f"POST {path} HTTP/1.1", *(hosts or ("host: localhost",))], body)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/select", b'{"event_id": "\xff"}', "not UTF-8"),
        ("/v1/arms", b'{"arms": ["\xff", "b"]}', "not UTF-8"),
        ("/v1/events/x/reward", b'{"value": "0.5"}', "value: expected `float`, got `str`"),
        ("/v1/events/x/reward", b'{"value": true}', "got `bool`"),
        ("/v1/rewards", b'{"rewards": [{"event_id": "x", "value": "1"}]}', "got `str`"),
        ("/v1/select", b'{"event_id": 3}', "got `int`"),
        ("/v1/select", b'{"event_id": "q\\n"}', "event id: 1 to 128 letters"),
        ("/v1/select", b'{"event_id": ".."}', "but neither '.' nor '..'"),
        ("/v1/select", b'{"event_id": "."}', "but neither '.' nor '..'"),
    ],
)
def test_what_is_asked_is_taken_to_the_letter(node, path, body, said):
    method = "PUT" if path == "/v1/arms" else "POST"
    status, detail = speak(node, [f"{method} {path} HTTP/1.1", "host: localhost"], body)
    assert status == 400 and said in detail


def test_a_batch_is_looked_at_before_any_part_of_it_is_decided(node):
    with Client(node.url) as client:
        before = client.state().decisions
        for wrong in ('"q\\n"', '".."', '"a b"', "3"):
            status, _ = post(
                node, "/v1/selects", b'{"selects": [{"event_id": "fine"}, {"event_id": %s}]}' % wrong.encode()
            )
            assert status == 400
        assert client.state().decisions == before


@pytest.mark.parametrize("event", ["...", ".a", "a.", "-", ":", "_" * 128, "A.b_c:d-e"])
def test_every_event_that_is_decided_can_be_rewarded(node, event):
    with Client(node.url) as client:
        client.select(event)
        client.reward(event, 0.5)
        assert client.rewards([(event, 0.5)])[0].status == 204


@pytest.mark.parametrize("host", ["localhost", "LocalHost:8700", "[::1]", "[::1]:8700", "127.0.0.1", "127.0.0.1:1"])
def test_every_name_of_loopback_is_answered(node, host):
    assert post(node, "/v1/select", b"{}", f"host: {host}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "[::2]", "localhost.evil.example"])
def test_other_names_are_not_answered(node, host):
    assert post(node, "/v1/select", b"{}", f"host: {host}")[0] == 421


@pytest.mark.parametrize("hosts", [["accept: */*"], ["host: localhost", "host: localhost"], ["host:"]])
def test_a_request_names_one_host(node, hosts):
    status, detail = post(node, "/v1/select", b"{}", *hosts)
    assert status == 400 and "exactly one Host header" in detail
