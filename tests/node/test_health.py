"""A node says honestly how it is: readiness, metrics, links and certificates, over real sockets."""

import json
import resource
import signal
import sqlite3
import time
import urllib.error
import urllib.request
from datetime import timedelta
from importlib.metadata import version

import pytest
from command import byzmab
from live import Process, free_port, neighbour_of
from waiting import LONG, until

from byzmab.node.certificates import Authority
from byzmab.node.config import Links, Tls, write_config


def ask(node, path):
    """Status and body of an answer."""
    try:
        with urllib.request.urlopen(f"{node.url}{path}", timeout=LONG) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def metric(node, name):
    """The value of a metric, its labels included in the name."""
    rows = [row for row in ask(node, "/metrics")[1].splitlines() if row.startswith(f"{name} ")]
    return float(rows[0].rpartition(" ")[2]) if rows else None


def events(node):
    lines = [json.loads(line) for line in node.log.read_text().splitlines() if line.startswith("{")]
    return [(line["event"], line.get("neighbour")) for line in lines]


def test_an_idle_node_whose_disk_is_full_is_not_ready(tmp_path):
    """Nobody asks for anything and there are no neighbours: the probe alone finds it."""
    node = Process(1, tmp_path).start()
    unlimited = resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE, (0, unlimited[1]))
    until(lambda: ask(node, "/readyz")[0] == 503)
    assert "cannot be written" in json.loads(ask(node, "/readyz")[1])["detail"]
    assert ask(node, "/healthz")[0] == 200 and metric(node, "byzmab_store_trouble") == 1
    resource.prlimit(node.popen.pid, resource.RLIMIT_FSIZE, unlimited)
    until(node.ready)
    assert node.stop() == 0


def test_a_node_with_too_few_neighbours_for_auto_says_that_it_ignores_them(tmp_path):
    """In /readyz, in the state that its page shows, and once in the log; until there are enough neighbours."""
    node = Process(1, tmp_path, [neighbour_of(2), neighbour_of(3)], f="auto").start()
    reason = "f = auto needs 4 neighbours or more, and this agent may hear 2: it ignores all reports"
    told = json.loads(ask(node, "/readyz")[1])
    assert told["status"] == "degraded" and told["warnings"][0].startswith(reason)
    state = json.loads(ask(node, "/v1/state")[1])
    assert state["ignored"].startswith(reason) and state["f"] == 1
    assert events(node).count(("all reports are ignored", None)) == 1
    node.config.neighbours = tuple(neighbour_of(other) for other in (2, 3, 4, 5))
    write_config(node.config, node.file)
    node.signal(signal.SIGHUP)
    until(lambda: json.loads(ask(node, "/readyz")[1]) == {"status": "ok", "warnings": []})
    assert json.loads(ask(node, "/v1/state")[1])["ignored"] is None
    assert node.stop() == 0


def test_a_node_whose_writes_do_not_get_through_is_not_ready(tmp_path):
    """A write that hangs, here since another program holds SQLite's lock, is told before it fails."""
    node = Process(1, tmp_path).start()
    with sqlite3.connect(node.directory / "agent-1" / "node.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        said = []
        until(lambda: said.append(ask(node, "/readyz")) or said[-1][0] == 503)
        assert "has waited" in json.loads(said[-1][1])["detail"]
        assert metric(node, "byzmab_commit_backlog_seconds") > 0
        other.execute("ROLLBACK")
    until(node.ready)
    assert node.stop() == 0


def test_metrics_tell_of_process_version_commits_and_files(tmp_path):
    node = Process(1, tmp_path).start()
    text = ask(node, "/metrics")[1]
    assert f'version="{version("byzmab")}"' in text
    assert metric(node, "process_resident_memory_bytes") > 1e7 and metric(node, "process_open_fds") > 3
    assert metric(node, "byzmab_commit_seconds_count") > 0
    assert metric(node, 'byzmab_store_bytes{file="node.db"}') >= 4096
    assert metric(node, "byzmab_store_free_bytes") > 0
    node.stop()


def test_links_that_come_up_and_go_down_are_logged_and_measured(tmp_path):
    port = free_port()
    one = Process(1, tmp_path, [neighbour_of(2)], [f"tcp/127.0.0.1:{port}"]).start()
    other = Process(2, tmp_path, [neighbour_of(1, endpoint=f"tcp/127.0.0.1:{port}")])
    up = {1: 'byzmab_link_up{neighbour="agent-1"}', 2: 'byzmab_link_up{neighbour="agent-2"}'}
    assert not metric(one, up[2])
    other.start()
    until(lambda: metric(one, up[2]) == 1 and metric(other, up[1]) == 1)
    assert ("link up", "agent-2") in events(one) and ("link up", "agent-1") in events(other)
    other.kill()
    until(lambda: metric(one, up[2]) == 0)
    assert events(one)[-1] == ("link down", "agent-2")
    one.stop()


def with_certificates(node, valid):
    """A node whose links have certificates that expire after a time."""
    files = Authority(valid=valid).issue("agent-1", ("127.0.0.1",), node.directory)
    tls = Tls(authority=str(files.authority), certificate=str(files.certificate), private_key=str(files.key))
    node.config.links = Links(listen=("tls/127.0.0.1:0",), tls=tls)
    write_config(node.config, node.file)
    return files


@pytest.mark.parametrize(
    ("days", "said"), [(100, None), (10, "certificate expires soon"), (-0.5, "certificate has expired")]
)
def test_certificates_that_expire_are_told_before_and_after(tmp_path, days, said):
    node = Process(1, tmp_path)
    with_certificates(node, timedelta(days=days))
    node.start()
    expiry = metric(node, 'byzmab_certificate_expiry_seconds{file="certificate"}')
    assert abs(expiry - time.time() - 86_400 * days) < 3_600
    node.stop()
    told = [name for name, _ in events(node) if name.startswith("certificate")]
    assert all(line.startswith(said) for line in told) if said else not told
    assert len(told) == (2 if said else 0)  # the authority's, too


def test_a_certificate_that_is_none_is_refused(tmp_path):
    node = Process(1, tmp_path)
    files = with_certificates(node, timedelta(days=100))
    files.certificate.write_text("nothing")
    assert "holds no certificate" in byzmab("node", node.file, code=2).stderr
