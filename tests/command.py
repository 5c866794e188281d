"""The command line, run as its users run it: every command in a process of its own.

Importing takes two seconds, so these processes are forked from one that has done it; `BYZMAB` starts one from nothing.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from byzmab.testbed import node_process

BYZMAB = [sys.executable, "-m", "byzmab.cli.main"]
FORKED = multiprocessing.get_context("forkserver")
IMPORTED = ["byzmab.search", "byzmab.tournament", "byzmab.paper", "command"]
FORKED.set_forkserver_preload([*node_process.IMPORTED, *IMPORTED])


def run_byzmab(arguments, cwd=None, environment=None, timeout=240, together=False):
    """Run a command in the directory and the environment given, or in ours; what it printed, and its exit code.

    With `together`, what goes to stderr stands in stdout, in the order in which it was printed.
    """
    with tempfile.TemporaryDirectory() as directory:
        streams = [Path(directory) / name for name in ("stdout", "stdout" if together else "stderr")]
        around = str(cwd or Path.cwd()), dict(environment or os.environ)
        process = FORKED.Process(target=_run, args=(list(map(str, arguments)), *around, *map(str, streams)))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(arguments, timeout)
        return subprocess.CompletedProcess(arguments, process.exitcode, *(path.read_text() for path in streams))


class Forked:
    """A command that goes on, handled as `subprocess.Popen` is; what it prints goes to the end of a file."""

    def __init__(self, arguments, log):
        around = str(Path.cwd()), dict(os.environ)
        self._process = FORKED.Process(
            target=_run, args=(list(map(str, arguments)), *around, str(log), str(log)), daemon=True
        )
        self._process.start()
        self.pid = self._process.pid

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout)
        return self._process.exitcode

    def kill(self):
        self._process.kill()


def _run(arguments, cwd, environment, out, err):
    """What the forked process does."""
    from byzmab.cli.main import main

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.argv = ["byzmab", *arguments]
    try:
        main()
    finally:
        atexit._run_exitfuncs()  # multiprocessing leaves them out


def byzmab(*arguments, cwd=None, code=0):
    """Run a command; its exit code is as expected, and no traceback is seen."""
    done = run_byzmab(arguments, cwd)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
