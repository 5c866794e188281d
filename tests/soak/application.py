"""An application that remembers every answer it was given, for the checker."""

import random
import threading
import time

from byzmab import Client, NodeError

PAUSE = 0.01  # seconds between two decisions
UNKNOWN = 404


class Application(threading.Thread):
    """Asks one node and rewards most of its decisions; a request that fails is repeated until it is answered."""

    def __init__(self, number, url, seed):
        super().__init__(daemon=True)
        self.number, self._client = number, Client(url, timeout=3.0, retries=0)
        self._random = random.Random(f"{seed} application {number}")
        self.chosen, self.rewarded = {}, {}  # event → arm, event → value: what was acknowledged
        self.uncertain = set()  # events acknowledged after a backup that was brought back: they may be gone
        self.violations, self.failures, self.asked = [], 0, 0
        self.lock, self.ended = threading.Lock(), threading.Event()

    def run(self):
        while not self.ended.is_set():
            self.asked += 1
            self._decide(f"app-{self.number}-{self.asked}")
            time.sleep(PAUSE)

    def stop(self):
        self.ended.set()
        self.join()

    def backup(self):
        """What was acknowledged so far, to be handed to `restored`."""
        with self.lock:
            return set(self.chosen), set(self.rewarded)

    def restored(self, backup):
        """The node was given back an older state: what was acknowledged since may be gone."""
        chosen, rewarded = backup
        with self.lock:
            self.uncertain |= (set(self.chosen) - chosen) | (set(self.rewarded) - rewarded)

    def _decide(self, event):
        decision = self._insist(lambda: self._client.select(event), event)
        if decision is None:
            return
        with self.lock:
            self.chosen[event] = decision.arm
        again = self._insist(lambda: self._client.select(event), event) if self._random.random() < 0.05 else decision
        if again is not None and again.arm != decision.arm and event not in self.uncertain:
            self.violations.append(f"{event} of node {self.number} got arm {decision.arm}, then {again.arm}")
        value = self._random.random()
        if self._random.random() < 0.9 and self._insist(lambda: self._reward(event, value), event):
            with self.lock:
                self.rewarded[event] = value

    def _reward(self, event, value):
        self._client.reward(event, value)
        return True

    def _insist(self, ask, event):
        """The answer to a question, or None where there is none before the end, or the event is gone."""
        while not self.ended.is_set():
            try:
                return ask()
            except NodeError as error:
                self.failures += 1
                if error.status == UNKNOWN and event in self.uncertain:
                    return None
                if 400 <= error.status < 500 and error.status not in (408, 429):
                    if event not in self.uncertain:
                        self.violations.append(f"{event} of node {self.number}: {error}")
                    return None
                self.ended.wait(0.05)
        return None
