"""What a node sends: frames, counted; and messages besides reports, which show frames of others or ask for them."""

import logging
from collections import Counter

from byzmab.node.history import Version
from byzmab.node.identity import Key, public_bytes
from byzmab.node.neighbours import Disclosures
from byzmab.node.transport.base import MOST_BYTES, OVERHEAD, Transport
from byzmab.node.wire import PROTOCOL, EvidenceMessage, Refusal, RefusalNotice, Request, seal

log = logging.getLogger(__name__)


class Courier:
    """Sends frames to neighbours, and signs such messages; they have no version, and nothing waits for them."""

    def __init__(self, key: Key, network: str, transport: Transport) -> None:
        self._key, self._network, self._transport = key, network, transport
        self._public = public_bytes(key.public)
        self.bytes: Counter[str] = Counter()  # sent, by neighbour
        self.oversized: Counter[str] = Counter()  # frames too large to be sent, by neighbour

    def send(self, name: str, frame: bytes) -> None:
        """Send a frame to a neighbour; one that no neighbour would take in is counted, and logged once."""
        if len(frame) > MOST_BYTES:
            if not self.oversized[name]:
                log.error("a frame is too large to be sent", extra={"neighbour": name, "bytes": len(frame)})
            self.oversized[name] += 1
            return
        self._transport.send(name, frame)
        self.bytes[name] += len(frame)

    def disclose(self, disclosures: Disclosures) -> None:
        """Show frames of others to neighbours: in one message, or one by one if they are too large for that."""
        for name, frames in disclosures:
            whole = sum(map(len, frames)) <= MOST_BYTES - OVERHEAD
            for part in (frames,) if whole else tuple((frame,) for frame in frames):
                message = EvidenceMessage(PROTOCOL, self._network, self._public, list(part))
                self.send(name, seal(self._key, message))

    def ask(self, name: str, about: bytes, versions: list[Version]) -> None:
        """Ask a neighbour for reports of an agent; with no versions, for the newest."""
        request = Request(PROTOCOL, self._network, self._public, about, versions)
        self.send(name, seal(self._key, request))

    def notify(self, name: str, reason: Refusal) -> None:
        """Tell a neighbour why its reports are not accepted."""
        self.send(name, seal(self._key, RefusalNotice(PROTOCOL, self._network, self._public, reason)))
