"""The times that a node looks at."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock(NamedTuple):
    """The two clocks of the machine."""

    wall: Callable[[], float] = time.time  # seconds since 1970
    steady: Callable[[], float] = time.monotonic  # for ages: never jumps, and goes on while the machine is up


class DeadlineClock:
    """Seconds since 1970, or nearly so: a clock that goes on evenly when the wall clock is set.

    It follows the steady clock, across restarts of the node too. Only after a boot of the machine it is set by the
    wall clock, and not below `newest`, the last time that was read from it and stored.
    """

    def __init__(self, clock: Clock, facts: dict[str, Any], newest: float = 0.0) -> None:
        self._steady, self._boot = clock.steady, _boot()
        if self._boot and facts.get("boot") == self._boot:
            self._offset = float(facts["offset"])
        else:
            self._offset = max(clock.wall(), newest) - clock.steady()

    def __call__(self) -> float:
        """The time now."""
        return self._steady() + self._offset

    @property
    def facts(self) -> dict[str, Any]:
        """What must be stored for the clock to go on after a restart."""
        return {"boot": self._boot, "offset": self._offset}


def _boot() -> str:
    """The name of this boot of the machine; empty where there is none."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
