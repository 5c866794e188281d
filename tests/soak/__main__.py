"""Run the soak: `PYTHONPATH=tests python -m soak --time 10m --seed 7`; exit code 1 if anything that must hold did not.

Four honest nodes as processes, proxies on all their links, an application for each, three insiders that are replaced by
new ones now and then, and faults at random. Faults, lies and values follow from the seed; when they meet does not quite.
"""

import argparse
import random
import re
import resource
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

from live import free_port, neighbour_of

from byzmab import Client, NodeError
from soak.application import Application
from soak.checker import Frames, check_data, check_peers
from soak.faults import FAULTS, Node, Tormentor
from soak.insiders import Insider, corrupt
from soak.proxy import Proxy

HONEST = (1, 2, 3, 4)
INSIDERS = 3  # at the same time
FIRST_INSIDER = 100  # its number; later ones count up
REPLACED_AFTER = 20.0  # seconds until an insider is replaced by a new one
PROGRESS = 5.0  # seconds
CORRUPTED_EVERY = 0.025  # seconds between two corrupted frames on every link and way
RECOVERY = 60.0  # seconds within which all hear each other again in the end
UNITS = {"s": 1, "m": 60, "h": 3600}


class Soak:
    """One run."""

    def __init__(self, directory, seed, faults):
        self.seed, self._directory = seed, Path(directory)
        self.frames, self._latest = Frames(HONEST), {}  # sender → a frame that it sent
        ports = {number: free_port() for number in HONEST}
        self._ports = ports
        self.proxies = [
            Proxy(near, far, f"tcp/127.0.0.1:{ports[far]}", seed, self._on_frame)
            for near in HONEST
            for far in HONEST
            if far < near
        ]
        self.nodes = [self._node(number) for number in HONEST]
        self.applications = [Application(node.number, node.url, seed) for node in self.nodes]
        links = threading.Lock()
        self.tormentors = [
            Tormentor(node, application, self.proxies, seed, faults, links)
            for node, application in zip(self.nodes, self.applications, strict=True)
        ]
        self.insiders, self.former = [], Counter()
        self.corrupted, self.violations, self._caught = 0, [], set()
        self._largest = 0  # MB that a node was seen to use
        self._next = FIRST_INSIDER
        self._ended = threading.Event()

    def run(self, seconds):
        """Torment the nodes for a time, then check everything."""
        with ExitStack() as stack:
            for proxy in self.proxies:
                stack.enter_context(proxy)
            while len(self.insiders) < INSIDERS:
                self._add_insider()
            for node in self.nodes:
                node.start()
                stack.callback(node.kill)
            corruptor = threading.Thread(target=self._corrupt, daemon=True)
            threads = [*self.applications, *self.tormentors, corruptor]
            for thread in threads:
                thread.start()
            try:
                self._watch(time.monotonic(), seconds)
            finally:
                self._ended.set()
                for tormentor in self.tormentors:
                    tormentor.stop()
            self._await_recovery()
            for each in (*self.applications, *self.insiders):
                each.stop()
            self._check_end()

    def counts(self):
        """What happened, by name."""
        total = Counter()
        for tormentor in self.tormentors:
            total.update({f"fault: {name}": count for name, count in tormentor.counts.items()})
        for insider, count in (self.former + sum((each.counts for each in self.insiders), Counter())).items():
            total[f"insiders: {insider.replace('_', ' ')}"] = count
        for proxy in self.proxies:
            total.update({f"frames: {name}": count for name, count in proxy.counts.items()})
        total["frames: corrupted and sent"] = self.corrupted
        total["reports signed by honest nodes"] = self.frames.versions()
        total["insiders in all"] = self._next - FIRST_INSIDER
        total["keys proven to lie"] = len(self._caught)
        for name in ("chosen", "rewarded"):
            total[f"acknowledged: {name}"] = sum(len(getattr(each, name)) for each in self.applications)
        total["longest end of a node, in ms"] = round(1e3 * max(each.longest_end for each in self.tormentors))
        total["largest memory of a node, in MB"] = self._largest
        total["requests that failed"] = sum(each.failures for each in self.applications)
        return total

    def found(self):
        """All violations so far."""
        parts = (*self.applications, *self.tormentors, self.frames)
        return [*self.violations, *(violation for part in parts for violation in part.violations)]

    def _node(self, number):
        return Node(
            number,
            self._directory,
            listen=[f"tcp/127.0.0.1:{self._ports[number]}"],
            neighbours=self._neighbours(number),
            f=2,
            report_every=0.1,
            max_age=5.0,
        )

    def _neighbours(self, number):
        honest = [
            neighbour_of(
                other,
                endpoint=next(
                    (each.endpoint for each in self.proxies if (each.near, each.far) == (number, other)), None
                ),
            )
            for other in HONEST
            if other != number
        ]
        return [*honest, *(neighbour_of(insider.number) for insider in getattr(self, "insiders", ()))]

    def _add_insider(self):
        """Let a new insider in, in place of the oldest if there are enough."""
        if len(self.insiders) == INSIDERS:
            oldest = self.insiders.pop(0)
            oldest.stop()
            self.former += oldest.counts
        self.insiders.append(Insider(self._next, self._ports, self.frames, self.seed))
        self._next += 1
        for node in self.nodes:
            node.set_neighbours(self._neighbours(node.number))
        self.insiders[-1].start()

    def _on_frame(self, sender, content):
        self._latest[sender] = content
        self.frames.record(sender, content)

    def _corrupt(self):
        """Send corrupted frames over every link, both ways."""
        chance = random.Random(f"{self.seed} corrupted")
        while not self._ended.wait(CORRUPTED_EVERY):
            for proxy in self.proxies:
                for sender, receiver in ((proxy.near, proxy.far), (proxy.far, proxy.near)):
                    proxy.inject(receiver, corrupt(self._latest.get(sender, b""), chance))
                    self.corrupted += 1

    def _watch(self, began, seconds):
        told, replaced = began, began
        while (now := time.monotonic()) < began + seconds:
            time.sleep(min(0.5, max(0.0, began + seconds - now)))
            if now - replaced > REPLACED_AFTER:
                replaced = now
                self._add_insider()
            if now - told > PROGRESS:
                told = now
                self._check_peers()
                self._say(now - began, seconds)

    def _say(self, elapsed, seconds):
        counts = self.counts()
        bad = self.corrupted + sum(count for name, count in counts.items() if name.startswith("insiders: "))
        print(
            f"{elapsed:6.0f} of {seconds:.0f} s · {counts['fault: kill']} kills · {counts['acknowledged: rewarded']} rewards"
            f" · {counts['reports signed by honest nodes']} reports · {bad} bad frames · {len(self._caught)} caught"
            f" · {len(self.found())} violations",
            file=sys.stderr,
            flush=True,
        )

    def _check_peers(self):
        """Ask every node that answers whether it accuses anybody honest."""
        restored = {each.node.number for each in self.tormentors if each.restored}
        caught = set()
        for node in self.nodes:
            with suppress(OSError):
                pages = int(Path(f"/proc/{node.popen.pid}/statm").read_text().split()[1])
                self._largest = max(self._largest, pages * resource.getpagesize() >> 20)
            with suppress(OSError), urllib.request.urlopen(f"{node.url}/metrics", timeout=2.0) as answer:
                if re.search(rb"^byzmab_frames_oversized_total\{.*\} [^0]", answer.read(), re.M):
                    self.violations.append(f"node {node.number} had a frame that is too large to be sent")
            with suppress(NodeError), Client(node.url, timeout=2.0, retries=0) as client:
                peers = client.neighbours()
                fresh = check_peers(node.number, peers, HONEST, restored)
                self.violations += [each for each in fresh if each not in self.violations]
                caught |= {peer.key for peer in peers if peer.expelled}
        self._caught |= caught

    def _await_recovery(self):
        """Wait until every honest node hears every other again; a violation if that does not happen."""
        deadline = time.monotonic() + RECOVERY
        silent = [(node.number, other) for node in self.nodes for other in HONEST if other != node.number]
        while silent and time.monotonic() < deadline:
            time.sleep(0.5)
            silent = [pair for node in self.nodes for pair in self._silent(node)]
        self.violations += [f"node {number} does not hear {other} again" for number, other in silent]

    def _silent(self, node):
        """The honest neighbours that a node has not heard lately."""
        try:
            with Client(node.url, timeout=2.0, retries=0) as client:
                heard = {peer.name for peer in client.neighbours() if peer.age is not None and peer.age < 2.0}
        except NodeError:
            heard = set()
        return [(node.number, other) for other in HONEST if other != node.number and f"agent-{other}" not in heard]

    def _check_end(self):
        self._check_peers()
        restored = {each.node.number for each in self.tormentors if each.restored}
        self.violations += self.frames.check_histories(restored)
        for node, application in zip(self.nodes, self.applications, strict=True):
            if node.stop() != 0:
                self.violations.append(f"node {node.number} did not end cleanly")
            self.violations += check_data(node.data, application)
            if "Traceback" in node.log.read_text(errors="replace"):
                self.violations.append(f"node {node.number} logged a traceback: {node.log}")


def seconds_of(text):
    """The seconds that 90s, 10m or 1h stand for."""
    found = re.fullmatch(r"(\d+)([smh])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed; allowed: such as 90s, 10m or 1h")
    return int(found[1]) * UNITS[found[2]]


def faults_of(text):
    """The faults of a list."""
    names = text.split(",")
    for name in names:
        if name not in FAULTS:
            raise argparse.ArgumentTypeError(f"{name!r} is not known; allowed: {', '.join(FAULTS)}")
    return names


def main():
    parser = argparse.ArgumentParser(prog="soak", description="Real nodes under faults and insiders.")
    parser.add_argument("--time", type=seconds_of, default="10m", help="such as 90s, 10m or 1h")
    parser.add_argument("--seed", type=int, default=None, help="of faults and lies; any if not given")
    parser.add_argument("--faults", type=faults_of, default=list(FAULTS), help=f"of {', '.join(FAULTS)}")
    options = parser.parse_args()
    seed = random.randrange(2**31) if options.seed is None else options.seed
    directory = tempfile.mkdtemp(prefix="byzmab-soak-")
    print(f"seed {seed}, {options.time} s, files in {directory}", file=sys.stderr)
    soak = Soak(directory, seed, options.faults)
    soak.run(options.time)
    for name, count in sorted(soak.counts().items()):
        print(f"{name:<45} {count:>10}")
    violations = soak.found()
    for violation in violations[:100]:
        print(f"VIOLATION: {violation}")
    print(f"{len(violations)} violations; seed {seed}")
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
