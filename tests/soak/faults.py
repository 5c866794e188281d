"""What happens to one node of the soak, at random from a seed: accidents, and mending afterwards."""

import random
import resource
import signal
import sys
import threading
import time
import urllib.request
from collections import Counter
from contextlib import suppress

from live import Process

from byzmab import Client, NodeError
from byzmab.node.administration import bring_back
from byzmab.node.backup import back_up
from byzmab.node.config import read_config, write_config
from soak.proxy import LinkFaults

FAULTS = {  # and how often each is drawn
    "kill": 12,
    "terminate": 1,
    "freeze": 2,
    "partition": 1,
    "disturb": 2,
    "full-disk": 1,
    "clock": 1,
    "backup": 1,
    "restore": 1,
    "import": 1,
    "pardon": 1,
}
PAUSE = 1.0  # seconds between two faults, on average
CLOCK = 86_400.0  # seconds by which a clock may be wrong, either way
PATIENCE = 15.0  # seconds after which systemd would kill a node that was told to end
ACTIONS = {"import": "bring_back"}  # faults whose name is none that Python allows
UNHURT = LinkFaults()


class Node(Process):
    """A node whose clock can be set; it is back when it answers, ready or not."""

    from_nothing = True

    def __init__(self, number, directory, **settings):
        super().__init__(number, directory, **settings)
        self.number = number
        self.data = self.directory / f"agent-{number}" / "node.db"
        self.offset = self.directory / "clock"
        self.offset.write_text("0")

    @property
    def command(self):
        return [sys.executable, "-m", "soak.clock", str(self.offset), str(self.file)]

    def set_neighbours(self, neighbours):
        """Write its file anew, and have it read if it answers."""
        self.config.neighbours = tuple(neighbours)
        new = self.file.with_suffix(".new")
        write_config(self.config, new)
        new.replace(self.file)  # whole or not at all: it may be starting
        with suppress(OSError):
            urllib.request.urlopen(urllib.request.Request(f"{self.url}/v1/reload", method="POST"), timeout=2).close()

    def ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False


class Tormentor(threading.Thread):
    """Hurts one node and mends it, again and again, until told to end; then the node is well."""

    def __init__(self, node, application, proxies, seed, faults, links):
        super().__init__(daemon=True)
        self.node, self._application, self._links = node, application, links
        self._proxies = [proxy for proxy in proxies if node.number in (proxy.near, proxy.far)]
        self._random = random.Random(f"{seed} faults {node.number}")
        self._faults = {name: FAULTS[name] for name in faults}
        self.counts, self.violations = Counter(), []
        self.restored, self._backup, self.longest_end = False, None, 0.0
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(self._random.expovariate(1.0 / PAUSE)):
            [fault] = self._random.choices(list(self._faults), list(self._faults.values()))
            try:
                getattr(self, ACTIONS.get(fault, fault.replace("-", "_")))()
                self.counts[fault] += 1
            except AssertionError as error:
                self.violations.append(f"node {self.node.number}, {fault}: {str(error)[-2_000:]}")
                self.node.kill()
                self.node.start()

    def stop(self):
        self._ended.set()
        self.join()

    def kill(self):
        """A power cut; sometimes others while it starts."""
        self.node.kill()
        while self._random.random() < 0.5:
            self.node.spawn()
            time.sleep(self._random.uniform(0.0, 2.5))
            self.node.kill()
            self.counts["kill"] += 1
        self.node.start()

    def terminate(self):
        began = time.monotonic()
        assert self.node.stop() == 0, "it did not end cleanly"
        self.longest_end = max(self.longest_end, time.monotonic() - began)
        assert self.longest_end < PATIENCE, f"it took {self.longest_end:.0f} s to end"
        self.node.start()

    def freeze(self):
        self.node.signal(signal.SIGSTOP)
        time.sleep(self._random.uniform(0.2, 6.0))
        self.node.signal(signal.SIGCONT)

    def partition(self):
        self._hurt_links(LinkFaults(cut=True))

    def disturb(self):
        chance = self._random
        self._hurt_links(LinkFaults(chance.uniform(0, 0.5), chance.uniform(0, 0.5), chance.uniform(0, 1.0)))

    def full_disk(self):
        """No file can grow beyond a size."""
        process, size = self.node.popen.pid, self._random.choice([0, self.node.data.stat().st_size])
        unlimited = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (size, unlimited[1]))
        time.sleep(self._random.uniform(0.5, 3.0))
        if self._random.random() < 0.3:
            self.kill()
        else:
            resource.prlimit(process, resource.RLIMIT_FSIZE, unlimited)

    def clock(self):
        """The wall clock jumps, and stays wrong."""
        self.node.offset.write_text(str(self._random.uniform(-CLOCK, CLOCK)))

    def backup(self):
        acknowledged = self._application.backup()
        copy = self.node.directory / "backup.db"
        back_up(self.node.data.parent, copy)
        self._backup = copy, acknowledged

    def restore(self):
        """Somebody copies an older data file back by hand, as nobody should."""
        if self._lose_data():
            self.node.data.write_bytes(self._backup[0].read_bytes())
            self.node.start()

    def bring_back(self):
        """A lost data file is restored as the documentation says."""
        if self._lose_data():
            bring_back(read_config(self.node.file), self._backup[0])
            self.node.start()

    def _lose_data(self):
        """Stop the node and delete its data, if there is a backup; whether there is one."""
        if self._backup is None:
            return False
        self.node.kill()
        self._application.restored(self._backup[1])
        self.restored = True
        for lost in ("node.db", "node.db-wal", "node.db-shm"):
            self.node.data.with_name(lost).unlink(missing_ok=True)
        return True

    def pardon(self):
        """The owner forgives all neighbours that were proven to lie."""
        with suppress(NodeError), Client(self.node.url, timeout=2.0, retries=0) as client:
            for peer in client.neighbours():
                if peer.expelled:
                    client.pardon(peer.name)

    def _hurt_links(self, faults):
        with self._links:  # one node's links at a time
            for proxy in self._proxies:
                proxy.faults = faults
            time.sleep(self._random.uniform(1.0, 6.0))
            for proxy in self._proxies:
                proxy.faults = UNHURT
