"""A proxy between two nodes, over real sockets: it drops, duplicates, delays and reorders their frames, and adds others.

Links without TLS are known by the public keys in their path, so whoever is on the way can stand between two nodes: to
each of them the proxy is the other one. It can sign nothing.
"""

import heapq
import random
import threading
import time
from collections import Counter
from typing import NamedTuple

from live import NETWORK, free_port, key_of

from byzmab.node.transport.base import Link
from byzmab.node.transport.zenoh import ZenohTransport

TICK = 0.005  # seconds between two looks at what is due


class LinkFaults(NamedTuple):
    """What may happen to a frame on its way."""

    drop: float = 0.0  # the chance that it is lost
    duplicate: float = 0.0  # the chance that it comes twice
    delay: float = 0.0  # it comes up to so many seconds later, so that frames overtake each other
    cut: bool = False  # nothing passes


class Proxy:
    """Stands between node `near`, which connects to it, and node `far`, which it connects to."""

    def __init__(self, near, far, far_endpoint, seed=0, on_frame=lambda sender, content: None):
        self.near, self.far, self.faults = near, far, LinkFaults()
        self.counts = Counter()
        self.endpoint = f"tcp/127.0.0.1:{free_port()}"
        self._far_endpoint, self._on_frame = far_endpoint, on_frame
        self._random, self._order = random.Random(f"{seed} {near} {far}"), 0
        self._due = []  # a heap of (when, order, receiver, frame)
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._ends = {
            near: ZenohTransport(NETWORK, key_of(far).public, (self.endpoint,)),
            far: ZenohTransport(NETWORK, key_of(near).public),
        }
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        for side, transport in self._ends.items():
            transport.open(lambda _, content, side=side: self._take(side, content))
        self._ends[self.near].link(Link("node", key_of(self.near).public))
        self._ends[self.far].link(Link("node", key_of(self.far).public, self._far_endpoint))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        for transport in self._ends.values():
            transport.close()

    def inject(self, receiver, content):
        """Send a frame to a node as if it came over this link."""
        self._ends[receiver].send("node", content)

    def _take(self, sender, content):
        self._on_frame(sender, content)
        receiver, faults = self.far if sender == self.near else self.near, self.faults
        self.counts["seen"] += 1
        with self._lock:
            if faults.cut or self._random.random() < faults.drop:
                self.counts["dropped"] += 1
                return
            copies = 1 + (self._random.random() < faults.duplicate)
            self.counts["duplicated"] += copies - 1
            for _ in range(copies):
                self._order += 1
                when = time.monotonic() + self._random.uniform(0.0, faults.delay)
                heapq.heappush(self._due, (when, self._order, receiver, content))

    def _run(self):
        latest = dict.fromkeys(self._ends, 0)  # the order of the newest frame sent to each side
        while not self._ended.wait(TICK):
            with self._lock:
                ready = []
                while self._due and self._due[0][0] <= time.monotonic():
                    ready.append(heapq.heappop(self._due))
            for _, order, receiver, content in ready:
                self.counts["reordered"] += order < latest[receiver]
                latest[receiver] = max(latest[receiver], order)
                self.inject(receiver, content)
