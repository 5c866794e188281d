"""How much processor time the frames of one neighbour may take: a small share of all time, whatever it sends."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 0.05  # of one processor, for each neighbour
IN_ADVANCE = 0.25  # seconds of processor time that may be used at once, and be owed
DEAREST = 0.05  # seconds that one frame is charged at most: more is compiling, which happens once


class Budget:
    """The processor time of one neighbour; used by the transport's thread and by the host's."""

    def __init__(self) -> None:
        self._free_at = -float("inf")  # when all that was used so far is paid for, on a clock that never jumps
        self._lock = threading.Lock()

    def is_spent(self, steady: float) -> bool:
        """Whether nothing of the neighbour may be looked at now."""
        return self._free_at > steady + IN_ADVANCE / SHARE

    def charge(self, seconds: float, steady: float) -> None:
        """Take seconds of processor time from the budget, or give them back if they are below 0.

        Nobody owes more than IN_ADVANCE.
        """
        with self._lock:
            until = max(self._free_at, steady) + min(seconds, DEAREST) / SHARE
            self._free_at = min(until, steady + 2 * IN_ADVANCE / SHARE)

    @contextmanager
    def paying(self, steady: float) -> Iterator[None]:
        """Charge what this thread does within the block."""
        began = time.thread_time()
        try:
            yield
        finally:
            self.charge(time.thread_time() - began, steady)
