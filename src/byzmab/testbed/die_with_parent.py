"""Run a module in a process that ends with its parent: `python -m byzmab.testbed.die_with_parent MODULE ARGUMENTS`.

The parent holds the other end of stdin. When the parent ends, in whatever way, stdin closes, and this process ends.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE = 5.0  # seconds to end by itself


def _wait_for_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_wait_for_parent, name="die with parent", daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
