"""What must hold of all answers and of all signed frames, whatever happened.

Nothing acknowledged is lost or counted twice; no version is signed twice; what is told is on the disk; nobody honest is
accused or expelled.
"""

import sqlite3
import threading
from itertools import pairwise

from live import NETWORK, key_of

from byzmab.node.evidence import impossible_arm
from byzmab.node.identity import public_bytes
from byzmab.node.wire import Refused, SignedReport, digest_of, unseal

TOLERANCE = 1e-6  # of a sum of rewards


class Frames:
    """All reports that honest nodes signed and sent, by version."""

    def __init__(self, honest):
        self._public = {number: public_bytes(key_of(number).public) for number in honest}
        self._reports = {number: {} for number in honest}  # version → (digest, report without marks)
        self._lock = threading.Lock()
        self.violations = []

    def record(self, sender, content):
        """Note a frame of an honest node; a second body of one version is a violation."""
        try:
            body = unseal(content, self._public[sender], NETWORK)
        except Refused as refused:
            self.violations.append(f"node {sender} sent a frame that is refused: {refused}")
            return
        if not isinstance(body, SignedReport):
            return
        digest = digest_of(content)
        with self._lock:
            known, _ = self._reports[sender].setdefault(body.version, (digest, body))
        violation = f"node {sender} signed two reports as {body.version}"
        if known != digest and violation not in self.violations:
            self.violations.append(violation)

    def versions(self):
        """How many different reports there were."""
        return sum(map(len, self._reports.values()))

    def newest(self, sender):
        """The newest report of a node, or None."""
        with self._lock:
            reports = self._reports[sender]
            return reports[max(reports)][1] if reports else None

    def check_histories(self, restored):
        """Violations: counts that fell or sums that jumped; not of nodes that were given back an older state."""
        found = []
        for sender, reports in self._reports.items():
            ordered = [reports[version][1] for version in sorted(reports)]
            for before, after in pairwise(ordered):
                arm = impossible_arm(before, after)
                if arm is not None and sender not in restored:
                    found.append(f"node {sender} told an impossible history of {arm} at {after.version}")
        return found


def check_data(path, application):
    """Violations in the data file of a stopped node, given what its application was told."""
    found = []
    with sqlite3.connect(path) as file:
        if file.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            return [f"data file {path} is broken"]
        events = {row[0]: row[1:] for row in file.execute("SELECT event_id, arm, state, value FROM events")}
        tallies = {row[0]: row[1:] for row in file.execute("SELECT arm, pulls, total, pending FROM arms")}
    name = f"node {application.number}"
    for event, arm in application.chosen.items():
        if event not in application.uncertain and events.get(event, (None,))[0] != arm:
            found.append(f"{name} lost the decision {event}")
    for event, value in application.rewarded.items():
        if event not in application.uncertain and events.get(event, (None, None, None))[2] != value:
            found.append(f"{name} lost the reward of {event}")
    for arm, (pulls, total, pending) in tallies.items():
        values = [value for each, state, value in events.values() if each == arm and state == 1]
        waiting = sum(each == arm and state == 0 for each, state, _ in events.values())
        if (pulls, pending) != (len(values), waiting) or abs(total - sum(values)) > TOLERANCE:
            found.append(f"{name} counts {pulls} pulls of {arm}, {len(values)} were rewarded")
    return found


def check_peers(number, peers, honest, restored):
    """Violations in what a node says of its neighbours: nobody honest is expelled or accused."""
    found, names = [], {f"agent-{each}": each for each in honest}
    for peer in peers:
        if peer.name not in names:
            continue
        kinds = {str(piece.kind) for piece in peer.evidence}
        if peer.expelled or kinds - ({"impossible"} if names[peer.name] in restored else set()):
            found.append(f"node {number} accuses the honest {peer.name}: {', '.join(sorted(kinds)) or 'expelled'}")
    return found
