"""A node whose wall clock is set from outside: `python -m soak.clock OFFSET_FILE NODE.toml`.

The file holds the seconds by which the clock is wrong; it is read again whenever it changes.
"""

import sys
import time
from pathlib import Path


def shift_clock(path):
    """Add the number in a file to the wall clock of this process."""
    wall, wall_ns = time.time, time.time_ns
    seen = [0, 0.0]  # the file's time of change, and its number

    def offset():
        changed = path.stat().st_mtime_ns
        if changed != seen[0]:
            seen[:] = changed, float(path.read_text() or 0.0)
        return seen[1]

    time.time = lambda: wall() + offset()
    time.time_ns = lambda: wall_ns() + int(1e9 * offset())


if __name__ == "__main__":
    shift_clock(Path(sys.argv[1]))
    sys.argv = ["byzmab", "node", sys.argv[2]]
    from byzmab.cli.main import main

    main()
