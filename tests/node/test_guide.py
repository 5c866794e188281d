"""The page "Run a node in ten minutes" works as it is written."""

import contextlib
import io
import re
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from command import BYZMAB, byzmab
from live import free_port
from waiting import LONG, until

from byzmab import Client
from byzmab.node.config import Config, Http, Links, Neighbour, Tls, Traffic

DOCS = Path(__file__).parents[2] / "docs" / "node"


def blocks(page):
    return re.findall(r"^```(\w+)([^\n]*)\n(.*?)^```$", (DOCS / page).read_text(), re.S | re.M)


def test_two_nodes_of_the_page_learn_from_each_other(tmp_path):
    keys = {}
    for name in ("alice", "bob"):
        keys[f"ed25519:KEY OF {name.upper()}"] = byzmab("keygen", f"{name}.key", cwd=tmp_path).stdout.strip()
    ports = {port: str(free_port()) for port in ("8701", "8702", "7701")}

    def filled(text):
        for old, new in (keys | ports).items():
            text = text.replace(old, new)
        return text

    nodes = []
    for language, info, body in blocks("quickstart.md"):
        if language == "toml":
            name = re.search(r'title="(\w+)\.toml"', info)[1]
            (tmp_path / f"{name}.toml").write_text(filled(body))
            with (tmp_path / f"{name}.log").open("w") as log:
                nodes.append(subprocess.Popen([*BYZMAB, "node", f"{name}.toml"], cwd=tmp_path, stderr=log))
        elif language == "py":
            until(lambda: have_heard_each_other(ports))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(filled(body), "quickstart.md", "exec"), {})
    for node in nodes:
        node.send_signal(signal.SIGTERM)
    assert [node.wait(LONG) for node in nodes] == [0, 0]
    green = next(line for line in printed.getvalue().splitlines() if line.startswith("green"))
    assert int(green.split()[1]) > 20
    assert printed.getvalue().splitlines()[-1].startswith("bob told this ")


def have_heard_each_other(ports):
    """Whether both nodes serve and have heard each other."""
    with contextlib.suppress(OSError, urllib.error.URLError):
        for port in (ports["8701"], ports["8702"]):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=20).close()
        with Client(f"http://127.0.0.1:{ports['8701']}") as one, Client(f"http://127.0.0.1:{ports['8702']}") as two:
            return one.neighbours()[0].seq and two.neighbours()[0].seq


def test_every_setting_is_on_its_page():
    text = (DOCS / "settings.md").read_text()
    for table in (Config, Traffic, Http, Links, Tls, Neighbour):
        for name in table.__struct_fields__:
            if name not in ("traffic", "http", "links", "tls", "neighbours"):
                assert f"`{name}`" in text, name


def test_every_route_is_on_its_page():
    routes = (DOCS.parents[1] / "src" / "byzmab" / "node" / "routes.py").read_text()
    text = (DOCS / "http.md").read_text()
    for path in re.findall(r'@(?:get|post|put)\("([^"]+)"', routes):
        assert path.replace("{event_id:str}", "{id}") in text
