"""What carries frames between nodes: the interface that the in-memory and the zenoh transport share."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

MOST_BYTES = 65_536  # of a frame; larger ones are not taken in
OVERHEAD = 512  # bytes of an evidence message besides the reports that it shows
WAITING = 32  # frames of one neighbour that wait to be taken in; of more, the newest win

Deliver = Callable[[str, bytes], None]


class Link(NamedTuple):
    """One neighbour, and which of the two tells the other."""

    name: str  # what we call the neighbour
    key: str  # its public key, as text
    endpoint: str | None = None  # where we connect to, such as tcp/host:port; None: the neighbour connects to us
    hears: bool = True  # we hear the neighbour
    tells: bool = True  # we tell the neighbour
    certificate: str | None = None  # the common name on its certificate; its name if not given


class Certificates(NamedTuple):
    """The files a node needs for TLS: the authority it trusts, its own certificate, and the key of that."""

    authority: Path
    certificate: Path
    key: Path


class Transport(Protocol):
    """Carries frames to and from neighbours, along exactly the configured links, and promises nothing more.

    Frames may be lost, doubled or reordered. The name that comes with a frame is a claim; the frame's signature
    is the proof.
    """

    def open(self, deliver: Deliver) -> None:
        """Begin; `deliver(name, frame)` is called for every frame taken in, and must not wait for anything.

        It is called from one thread of the transport, frame by frame, neighbours taking turns. Frames of a neighbour
        that sends more than it may push out its own older ones, and nobody else's.
        """

    def link(self, link: Link) -> None:
        """Add a neighbour, or change it; at any time. BadInput, and nothing changed, where that cannot be."""

    def unlink(self, name: str) -> None:
        """Remove a neighbour; nothing if there is none of that name."""

    def send(self, name: str, frame: bytes) -> None:
        """Send a frame to a neighbour if that can be done at once; never waits, and never fails for a neighbour."""

    def is_up(self, name: str) -> bool | None:
        """Whether the link of a neighbour is up; None where that cannot be told."""

    def close(self) -> None:
        """End; nothing is delivered afterwards."""
