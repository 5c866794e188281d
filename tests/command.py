"""The command line, run as its users run it."""

import subprocess
import sys

BYZMAB = [sys.executable, "-m", "byzmab.cli.main"]


def byzmab(*arguments, cwd=None, code=0):
    """Run a command; its exit code is as expected, and no traceback is seen."""
    done = subprocess.run([*BYZMAB, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=240)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
