"""The files in deploy/ are judged by the tools that read them: systemd, Prometheus, and a network that they watch."""

import itertools
import json
import os
import re
import shutil
import signal
import ssl
import string
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from command import byzmab
from live import NETWORK, Encrypted, Process, frame, free_port, key_of, neighbour_of
from waiting import LONG, until

from byzmab import Client
from byzmab.node.certificates import Authority
from byzmab.node.faults import TRY_AGAIN
from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport

ROOT = Path(__file__).parents[2]
FILES = ROOT / "deploy"
TOKEN = "sixteen signs and more"
LINKS = 7447  # the port of links in a container
UNITS = ("byzmab@.service", "byzmab-backup@.service", "byzmab-backup@.timer")
MOST_EXPOSED = 40  # tenths of systemd's points; 0 is safe, 100 is not
METRIC = re.compile(r"\b(?:byzmab|process)_\w+|\bup\b")


def tool(*command, cwd=FILES, code=0):
    """What a tool says; it is there on every machine on which `make test` has run."""
    program = shutil.which(command[0])
    assert program, f"{command[0]} is missing; `make test` installs it as root, or says which package to install"
    done = subprocess.run([program, *map(str, command[1:])], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


# systemd


@pytest.fixture
def units(tmp_path):
    """The units, with a program in place of ours that is there on every machine."""
    for name in UNITS:
        text = (FILES / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/byzmab/bin/byzmab", "/bin/true"))
    return tmp_path


def test_systemd_finds_nothing_wrong_with_the_units(units):
    verify = ["systemd-analyze", "verify", "--man=no", *(f"./{name}" for name in UNITS)]
    assert "byzmab" not in tool(*verify, cwd=units)
    node = units / UNITS[0]
    node.write_text(node.read_text().replace("UMask=", "UMaks="))
    assert "UMaks" in tool(*verify, cwd=units), "a mistake would be found"


@pytest.mark.parametrize("name", UNITS[:2])
def test_systemd_finds_the_services_little_exposed(units, name):
    judge = ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", f"./{name}"]
    assert "Overall exposure level" in tool(*judge, cwd=units)
    bare = units / name
    bare.write_text(re.sub(r"(?m)^(Protect|Private|Restrict|Capability|System|NoNew).*\n", "", bare.read_text()))
    tool(*judge, cwd=units, code=1)


def test_the_unit_starts_again_after_passing_faults_and_not_after_wrong_settings():
    settings = dict(line.split("=", 1) for line in (FILES / UNITS[0]).read_text().splitlines() if "=" in line)
    assert settings["Restart"] == "always" and settings["StartLimitIntervalSec"] == "0"
    never = {int(code) for code in settings["RestartPreventExitStatus"].split()}
    assert 2 in never and TRY_AGAIN not in never
    assert settings["Type"] == "notify" and int(settings["WatchdogSec"]) > 0


# Prometheus and Grafana


def rules():
    return yaml.safe_load((FILES / "alerts.yaml").read_text())["groups"][0]["rules"]


def test_promtool_accepts_the_rules_and_they_fire_when_they_should():
    assert f"{len(rules())} rules found" in tool("promtool", "check", "rules", "alerts.yaml")
    tool("promtool", "test", "rules", "alerts.test.yaml")
    tool("promtool", "check", "config", "--syntax-only", "prometheus.yaml")


def test_every_alert_is_tested_and_documented():
    tests = yaml.safe_load((FILES / "alerts.test.yaml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case["exp_alerts"]}
    page = (ROOT / "docs" / "node" / "operating.md").read_text()
    assert fired == {rule["alert"] for rule in rules()}
    assert not [rule["alert"] for rule in rules() if f"`{rule['alert']}`" not in page]


def queries():
    """All queries of the dashboard, with numbers in place of what Grafana fills in."""
    board = json.loads((FILES / "grafana.json").read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    found += [note["expr"] for note in board["annotations"]["list"]]
    filled = {"$__rate_interval": "10s", "$job": ".*", "$node": ".*"}
    for name, value in filled.items():
        found = [query.replace(name, value) for query in found]
    assert not [query for query in found if "$" in query]
    return found


class Watching:
    """A Prometheus that scrapes a node every second, with the rules of deploy/ and no patience."""

    def __init__(self, directory, node):
        hurried = re.sub(r"for: \w+", "for: 1s", (FILES / "alerts.yaml").read_text())
        (directory / "alerts.yaml").write_text(hurried)
        settings = yaml.safe_load((FILES / "prometheus.yaml").read_text())
        settings["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
        [job] = settings["scrape_configs"]
        job["tls_config"]["ca_file"] = node.trust
        job["authorization"]["credentials_file"] = node.config.http.token_file
        job["static_configs"] = [{"targets": [f"127.0.0.1:{node.port}"]}]
        (directory / "prometheus.yaml").write_text(yaml.safe_dump(settings))
        self._url = f"http://127.0.0.1:{free_port()}"
        program = shutil.which("prometheus")
        assert program, "prometheus is missing; `make test` installs it as root"
        address = self._url.removeprefix("http://")
        options = ("--config.file=prometheus.yaml", "--storage.tsdb.path=data", f"--web.listen-address={address}")
        with (directory / "log").open("w") as log:
            self.popen = subprocess.Popen([program, *options], cwd=directory, stdout=log, stderr=log)

    def ask(self, path, **parameters):
        """The data of an answer; None while there is none."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self._url}/api/v1/{path}?{query}", timeout=20) as answer:
                return json.loads(answer.read())["data"]
        except OSError:
            assert self.popen.poll() is None
            return None

    def query(self, text):
        return (self.ask("query", query=text) or {"result": []})["result"]

    def fires(self, name):
        """The labels of an alert that fires, or None."""
        alerts = (self.ask("alerts") or {"alerts": []})["alerts"]
        return next(
            (each["labels"] for each in alerts if each["labels"]["alertname"] == name and each["state"] == "firing"),
            None,
        )


def test_prometheus_watches_a_network_and_fires_when_a_node_is_byzantine_and_when_one_hangs(tmp_path):
    """Over the node's own TLS, with its token. All queries of dashboard and alerts are about metrics that there are."""
    port, token, directory = free_port(), tmp_path / "token", tmp_path / "prometheus"
    directory.mkdir()
    token.write_text(TOKEN)
    token.chmod(0o600)
    node = Encrypted(
        1,
        tmp_path,
        Authority(),
        neighbours=[neighbour_of(2), neighbour_of(9)],
        listen=[f"tcp/127.0.0.1:{port}"],
        http={"token_file": str(token)},
        report_every=0.1,
        f=0,
    )
    other = Process(2, tmp_path, [neighbour_of(1, endpoint=f"tcp/127.0.0.1:{port}")], f=0, report_every=0.1)
    node.spawn()
    other.start()
    liar = ZenohTransport(NETWORK, key_of(9).public)
    liar.open(lambda name, content: None)
    liar.link(Link("agent-1", key_of(1).public, f"tcp/127.0.0.1:{port}"))
    prometheus = Watching(directory, node)
    with Client(node.url, TOKEN, trust=node.trust) as client:
        for _ in range(10):
            client.reward(client.select().event_id, 0.5)
        until(lambda: [peer for peer in client.neighbours() if peer.name == "agent-2" and peer.accepted])
        until(lambda: prometheus.query("up == 1"))
        assert prometheus.fires("ByzmabNeighbourByzantine") is None
        seq = itertools.count(1)

        def lie():
            """Two bodies for one number."""
            number = next(seq)
            for pulls in ((3, 3, 3, 3), (3, 3, 3, 4)):
                liar.send("agent-1", frame(9, number, pulls))
            return prometheus.fires("ByzmabNeighbourByzantine")

        assert until(lie, every=0.2)["neighbour"] == "agent-9"
    exist = {name for name in prometheus.ask("label/__name__/values") if METRIC.fullmatch(name)}
    asked = [*queries(), *(rule["expr"] for rule in rules())]
    assert len(asked) > 40 and not {name for query in asked for name in METRIC.findall(query)} - exist
    for query in asked:
        assert prometheus.ask("query", query=query) is not None, query
    node.signal(signal.SIGSTOP)
    assert until(lambda: prometheus.fires("ByzmabNodeDown"))["instance"] == f"127.0.0.1:{node.port}"
    node.signal(signal.SIGCONT)
    until(lambda: prometheus.fires("ByzmabNodeDown") is None)
    prometheus.popen.terminate()
    prometheus.popen.wait(LONG)
    liar.close()
    assert node.stop() == other.stop() == 0


# containers


def stages():
    """The stages of the container file: lists of instructions, each with its arguments."""
    text = re.sub(r"\\\n\s*", "", (FILES / "Containerfile").read_text())
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    begins = [number for number, (name, _) in enumerate(lines) if name == "FROM"]
    return [lines[first:last] for first, last in itertools.pairwise([*begins, len(lines)])]


def test_the_container_file_holds_together():
    build, image = stages()
    for _, arguments in [each for each in build if each[0] == "COPY"]:
        *sources, _ = arguments.split()
        assert any((ROOT / source).exists() for source in sources), f"nothing of {sources} is in a checkout"
    assert build[0][1].removesuffix(" AS build") == image[0][1], "an environment moves only between equal Pythons"
    assert ":" in image[0][1], "an image without a tag is another one tomorrow"
    arguments = dict(image)
    names = [name for name, _ in image]
    assert names.index("USER") > max(index for index, name in enumerate(names) if name == "RUN")
    assert arguments["USER"] not in ("root", "0")
    assert json.loads(arguments["ENTRYPOINT"]) == ["byzmab", "node"]
    code = json.loads(arguments["HEALTHCHECK"].partition("CMD ")[2])
    compile(code[2], "HEALTHCHECK", "exec")
    for directory in json.loads(arguments["VOLUME"]):
        assert f" {directory}" in arguments["RUN"], "made for its user before it is used"


class Contained(Process):
    """A node of compose.yaml as a process: its mounts, hosts and ports are those of this machine."""

    def __init__(self, service, mounts, ports):
        homes = {inside: Path(outside) for outside, _, inside in (mount.partition(":") for mount in mounts)}
        self.directory, self.data = homes["/etc/byzmab"], homes["/var/lib/byzmab"]
        self.file, self.log, self.popen = self.directory / "node.toml", self.directory / "log", None
        self.port = free_port()
        self.url = f"https://localhost:{self.port}"
        self.context = ssl.create_default_context(cafile=self.directory / "authority.pem")
        text = self.file.read_text()
        text = text.replace("/var/lib/byzmab", str(self.data)).replace(
            f'"tls/0.0.0.0:{LINKS}"', f'"tls/127.0.0.1:{ports[service]}"'
        )
        for other, port in ports.items():
            text = text.replace(f'"tls/{other}:{LINKS}"', f'"tls/127.0.0.1:{port}"')
        self.file.write_text(text.replace('host = "0.0.0.0"', f'host = "127.0.0.1"\nport = {self.port}'))

    def client(self):
        token = (self.directory / "token").read_text().strip()
        return Client(self.url, token, trust=self.context)


def test_three_nodes_of_compose_hear_each_other_and_a_lost_volume_is_refused(tmp_path):
    """With the settings, keys and certificates that three_nodes.py makes, and the mounts of compose.yaml."""
    network = tmp_path / "network"
    subprocess.run([sys.executable, FILES / "three_nodes.py", network], check=True, timeout=120)
    variables = dict(line.split("=") for line in (network / "env").read_text().splitlines())
    services = yaml.safe_load(string.Template((FILES / "compose.yaml").read_text()).substitute(variables))["services"]
    assert set(services) == {path.name for path in network.iterdir() if path.is_dir()}
    ports = {name: free_port() for name in services}
    nodes = {name: Contained(name, service["volumes"], ports) for name, service in services.items()}
    for node in nodes.values():
        node.spawn()
    until(lambda: all(node.ready() for node in nodes.values()))
    for name, node in nodes.items():
        with node.client() as client:
            client.reward(client.select().event_id, 1.0)
            until(lambda client=client: all(peer.accepted for peer in client.neighbours()))
            assert {peer.name for peer in client.neighbours()} == set(services) - {name}
    health = json.loads(dict(stages()[1])["HEALTHCHECK"].partition("CMD ")[2])
    alice = nodes["alice"]
    inside = {"BYZMAB_HEALTH": services["alice"]["environment"]["BYZMAB_HEALTH"].replace("8700", str(alice.port))}
    subprocess.run([sys.executable, *health[1:]], env={**os.environ, **inside}, check=True, timeout=60)
    assert [node.stop() for node in nodes.values()] == [0, 0, 0]
    shutil.rmtree(alice.data)
    alice.data.mkdir()
    assert "is missing, but its key was used before" in byzmab("node", alice.file, code=2).stderr
