"""A process that does not outlive the one that started it: `python -m byzmab.node.leash MODULE ARGUMENTS`.

The starter holds the other end of stdin. When it ends, in whatever way, stdin does too, and so does this process.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE = 5.0  # seconds to end by itself


def _follow() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_follow, name="leash", daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
