"""Nodes for tests: in one process over the in-memory transport, or as processes with sockets; always on real files."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from itertools import count
from pathlib import Path

from command import Forked

from byzmab.node.clock import Clock
from byzmab.node.config import Config, Http, Links, Neighbour, write_config
from byzmab.node.host import Host
from byzmab.node.identity import Key
from byzmab.node.store import NodeStore
from byzmab.node.transport.memory import Hub, MemoryTransport
from byzmab.node.wire import SignedReport, seal

LIMIT = 1_000_000  # bytes of a request
ARMS = ("a", "b", "c", "d")
NETWORK = "test"
PORTS = 2_000  # of each worker, all below those that the system gives to connections
ports = count(os.getpid() % PORTS)


class Time:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 1_000_000.0

    def clock(self):
        return Clock(lambda: self.now, lambda: self.now)


def key_of(number):
    """The same key in every run."""
    return Key(number.to_bytes(32))


def neighbour_of(number, **settings):
    return Neighbour(**{"name": f"agent-{number}", "key": key_of(number).public, **settings})


def config_of(number, directory, neighbours=(), **settings):
    wanted = {"arms": ARMS, "network": NETWORK, "name": f"agent-{number}", **settings}
    return Config(key="unused", data=str(Path(directory) / f"agent-{number}"), neighbours=tuple(neighbours), **wanted)


def host_of(config, number, hub=None, **parts):
    """A host that is open, with the key of its number."""
    key = key_of(number)
    store = NodeStore(config.data, config.network, key.public)
    host = Host(config, key, store, MemoryTransport(hub or Hub(), key.public), **parts)
    host.open()
    return host


def report(sender, seq, /, pulls=(3, 3, 3, 3), means=(0.5, 0.5, 0.5, 0.5), **changes):
    """A signed report of an agent, with whatever is to be wrong in it."""
    fields = {
        "protocol": 1,
        "network": NETWORK,
        "sender": bytes.fromhex(key_of(sender).public.partition(":")[2]),
        "epoch": 1,
        "seq": seq,
        "time": 0.0,
        "reset": 0,
        "arms": list(ARMS),
        "pulls": list(pulls),
        "means": list(means),
        "marks": [],
    }
    return SignedReport(**{**fields, **changes})


def frame(sender, seq, /, *numbers, **changes):
    """The same, signed by that agent."""
    return seal(key_of(sender), report(sender, seq, *numbers, **changes))


def say(host, sender, content):
    """A frame arrives over the link of a neighbour."""
    host.deliver(f"agent-{sender}", content)
    host.listen()


def learn(host, rounds, reward=lambda arm: 0.5):
    """Play an application for some rounds."""
    for _ in range(rounds):
        event_id, arm, *_ = host.select()
        host.reward(event_id, reward(arm))


def free_port():
    """A port on which nobody listens; workers of the tests take theirs from different ranges, and none twice."""
    first = 10_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 10 * PORTS
    while True:
        port = first + next(ports) % PORTS
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Process:
    """A node as people run it: `byzmab node NODE.toml`, from a directory of its own."""

    from_nothing = False  # whether it does its imports itself, for two seconds, or is forked from one that has done it

    def __init__(self, number, directory, neighbours=(), listen=(), http=None, **settings):
        self.directory = Path(directory) / f"process-{number}"
        self.directory.mkdir(parents=True)
        key_of(number).save(self.directory / "node.key")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.file = self.directory / "node.toml"
        self.config = config_of(
            number,
            self.directory,
            neighbours,
            http=Http(port=self.port, **(http or {})),
            links=Links(listen=tuple(listen)),
            **settings,
        )
        self.config.key = "node.key"
        write_config(self.config, self.file)
        self.popen = None
        self.log = self.directory / "log"

    @property
    def command(self):
        return [sys.executable, "-m", "byzmab.cli.main", "node", str(self.file)]

    def spawn(self):
        """Start it, and do not wait."""
        if not self.from_nothing:
            self.popen = Forked(["node", self.file], self.log)
            return
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(self.command, stderr=log, stdout=log)

    def start(self, wait=60):
        self.spawn()
        deadline = time.monotonic() + wait
        while not self.ready():
            assert self.popen.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        return self

    def ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=2) as answer:
                return answer.status == 200
        except (OSError, urllib.error.URLError):
            return False

    def signal(self, number):
        os.kill(self.popen.pid, number)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def stop(self):
        """End it as systemd would; its exit code."""
        if self.popen.poll() is None:
            self.signal(signal.SIGTERM)
        return self.popen.wait(timeout=15)
