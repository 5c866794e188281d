"""Nodes for tests: in one process over the in-memory transport, or as processes with sockets; always on real files."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from command import Forked
from waiting import LONG, until

from byzmab.node.clock import Clock
from byzmab.node.config import Config, Http, HttpTls, Links, Neighbour, write_config
from byzmab.node.host import Host
from byzmab.node.identity import Key
from byzmab.node.records import from_json
from byzmab.node.store import NodeStore, export_state
from byzmab.node.transport.memory import Hub, MemoryTransport
from byzmab.node.wire import SignedReport, seal

LIMIT = 1_000_000  # bytes of a request
ARMS = ("a", "b", "c", "d")
NETWORK = "test"
HOSTS = ("localhost", "127.0.0.1")  # the names on certificates
HELD = []  # a socket for each port that a test was given


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


def exported(directory):
    """The state of a node as it is exported."""
    return b"".join(export_state(directory))


def state_of(directory):
    """The state of a node, its events included."""
    return from_json(exported(directory))


def free_port():
    """A port that belongs to this process until it ends: a node may listen there, now or later, and nobody else gets it.

    A socket is bound to it and does not listen. With SO_REUSEADDR on both sides Linux lets one other socket listen there, but
    gives the port to nobody who asks for any free one: no other worker, no other checkout and no outgoing connection.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    HELD.append(holder)
    return holder.getsockname()[1]


class Process:
    """A node as people run it: `byzmab node NODE.toml`, from a directory of its own."""

    context = None  # for asking it over TLS
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

    def start(self):
        self.spawn()

        def started():
            assert self.popen.poll() is None, self.log.read_text()
            return self.ready()

        until(started)
        return self

    def ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=20, context=self.context) as answer:
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
        return self.popen.wait(timeout=LONG)


class Encrypted(Process):
    """A node whose HTTP has a certificate of an authority."""

    def __init__(self, number, directory, authority, **settings):
        super().__init__(number, directory, **settings)
        self.renew(authority)
        tls = HttpTls(certificate="certificate.pem", private_key="certificate.key")
        self.config.http.tls = tls  # beside the file
        write_config(self.config, self.file)
        self.url = f"https://127.0.0.1:{self.port}"
        self.trust = str(self.directory / "authority.pem")
        self.context = ssl.create_default_context(cafile=self.trust)

    def renew(self, authority):
        return authority.issue("agent", HOSTS, self.directory)

    def served(self, name=None):
        """The serial number of the certificate that is shown to who asks for a name, or for none."""
        context = ssl.create_default_context(cafile=self.trust)
        context.check_hostname = name is not None
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=20) as plain,
            context.wrap_socket(plain, server_hostname=name) as encrypted,
        ):
            return encrypted.getpeercert()["serialNumber"]
