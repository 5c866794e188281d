"""The command line, run as its users run it: every command in a process of its own.

Importing takes two seconds, and five with all that draws figures, so these processes are forked from one that has done it;
`BYZMAB` starts one from nothing.
"""

import atexit
import multiprocessing
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from byzmab.core.compiler import CACHE
from byzmab.testbed import node_process

BYZMAB = [sys.executable, "-m", "byzmab.cli.main"]
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")  # as the command does before it imports numba
FORKED = multiprocessing.get_context("forkserver")
IMPORTED = ["byzmab.search", "byzmab.tournament", "byzmab.paper", "command", "preloaded"]
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
    """A command that goes on, handled as `subprocess.Popen` is.

    What it prints goes to the end of a file, or of two if `out` is another one for stdout.
    """

    def __init__(self, arguments, log, out=None, cwd=None, environment=None):
        around = str(cwd or Path.cwd()), dict(environment or os.environ)
        self._process = FORKED.Process(
            target=_run, args=(list(map(str, arguments)), *around, str(out or log), str(log)), daemon=True
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

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self._process.kill()


class Terminal:
    """A terminal of so many columns, to whose name a command may write."""

    def __init__(self, columns=80):
        self._leader, self._follower = pty.openpty()
        termios.tcsetwinsize(self._follower, (50, columns))
        self.name = os.ttyname(self._follower)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._leader)
        os.close(self._follower)

    def read(self, process, until=None):
        """What a process shows until it ends, or until it has shown some text."""
        shown = b""
        while True:
            ended = process.poll() is not None
            while select.select([self._leader], [], [], 0 if ended else 0.02)[0]:
                shown += os.read(self._leader, 65536)
            text = shown.decode(errors="replace").replace("\r\n", "\n")
            if ended or (until and until in text):
                return text


def _run(arguments, cwd, environment, out, err):
    """What the forked process does."""
    from byzmab.cli.main import main

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, name, path in ((1, "stdout", out), (2, "stderr", err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY), number)
        setattr(sys, name, os.fdopen(number, "w", -1 if number == 1 else 1, closefd=False))  # as Python begins
    sys.argv = ["byzmab", *arguments]
    try:
        main()
    finally:
        atexit._run_exitfuncs()  # multiprocessing leaves them out


def copy_machine_code(directory, *left_out):
    """Copy what was compiled so far to a directory for BYZMAB_CACHE_DIR, without the files of some patterns.

    Other workers go on compiling: files that numba has not finished yet may be gone before they are copied.
    """
    ignore = shutil.ignore_patterns("*.tmp.*", *left_out)
    shutil.copytree(CACHE, directory / "machine-code" / CACHE.name, ignore=ignore)


def byzmab(*arguments, cwd=None, code=0):
    """Run a command; its exit code is as expected, and no traceback is seen."""
    done = run_byzmab(arguments, cwd)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
