"""Sessions of the zenoh transport: what each has declared, and which links are up."""

import logging
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import zenoh

from byzmab.node.transport.base import Link

log = logging.getLogger(__name__)


class Subscription(NamedTuple):
    """What receives the frames of one neighbour."""

    subscriber: Any
    waiting: Any  # frames that came in, the newest few


class Session:
    """A zenoh session, with the subscribers and publishers of the neighbours it serves."""

    def __init__(self, session: Any, admitted: tuple[Link, ...]) -> None:
        self.zenoh = session
        self.admitted = admitted  # the links it was opened for
        self.subscriptions: dict[str, Subscription] = {}  # by neighbour
        self.publishers: dict[str, Any] = {}  # by neighbour
        self.presence: Any = None  # a declaration by which two sessions see each other
        self.last_seen = time.monotonic()  # when the neighbour was last connected, or the session was opened

    @property
    def sees_neighbour(self) -> bool:
        """Whether the neighbour that this session connects to is connected."""
        return bool(self.presence.matching_status.matching)

    def is_heard_by(self, name: str) -> bool | None:
        """Whether a neighbour that connects to us listens; None for one that we do not tell."""
        publisher = self.publishers.get(name)
        return None if publisher is None else bool(publisher.matching_status.matching)

    def remove(self, name: str) -> None:
        """Undeclare what hears and tells a neighbour."""
        subscription, publisher = self.subscriptions.pop(name, None), self.publishers.pop(name, None)
        for declared in (subscription and subscription.subscriber, publisher):
            if declared is not None:
                attempt(declared.undeclare)

    def close(self) -> None:
        """Close the session, and with it all that was declared."""
        self.subscriptions, self.publishers = {}, {}
        attempt(self.zenoh.close)


class LinkStates:
    """Which links are up; every change is logged."""

    def __init__(self) -> None:
        self._up: dict[str, bool] = {}

    def note(self, name: str, up: bool | None) -> None:
        """Note whether a link is up; None where that cannot be told."""
        if up is not None and up != self._up.get(name, False):
            log.info("link up" if up else "link down", extra={"neighbour": name})
        if up is not None:
            self._up[name] = up

    def forget(self, name: str) -> None:
        """Note that there is no such link any more."""
        self._up.pop(name, None)

    def is_up(self, name: str) -> bool | None:
        """Whether a link was up when it was last noted; None where that cannot be told."""
        return self._up.get(name)


def attempt(act: Callable[..., Any], *arguments: Any) -> None:
    """Call a function that fails only where a link or session is gone."""
    try:
        act(*arguments)
    except (zenoh.ZError, RuntimeError) as error:
        log.debug("zenoh: %s", error)
