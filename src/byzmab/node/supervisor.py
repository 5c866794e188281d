"""What a node tells systemd, or another program that set NOTIFY_SOCKET: ready, alive, reloading, stopping."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Mapping

READY, RELOADING, STOPPING, ALIVE = "READY=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=1"
SIGNS_PER_LIMIT = 3  # signs of life within the time after which the supervisor kills
log = logging.getLogger(__name__)


class Supervisor:
    """The process that started this one and wants to know how it is; nobody where the environment names none."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = f"\0{address[1:]}" if address.startswith("@") else address  # @: Linux's abstract names
        ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        limit = environment.get("WATCHDOG_USEC", "")
        self.limit = int(limit) / 1e6 if ours and limit.isdecimal() else 0.0  # seconds without a sign of life; 0: none

    def tell(self, *states: str) -> None:
        """Send what changed; a supervisor that cannot be reached is logged and does not disturb the node."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
                sender.sendto("\n".join(states).encode(), self._address)
        except OSError as error:
            log.warning("supervisor not reached", extra={"reason": error.strerror})

    def reloading(self) -> None:
        """Tell that the settings are being read again; `tell(READY)` ends it."""
        self.tell(RELOADING, f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    async def stay_alive(self) -> None:
        """Send signs of life from the event loop for as long as it turns: a loop that hangs sends none."""
        while self.limit:
            self.tell(ALIVE)
            await asyncio.sleep(self.limit / SIGNS_PER_LIMIT)
