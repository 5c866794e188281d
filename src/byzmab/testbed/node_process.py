"""The process of a node in a testbed.

Importing all that a node needs takes two seconds of processor time. Here one process does it, and every node is
forked from it; so ten nodes are there almost as soon as one. They end with us, in whatever way we end: we hold one end
of a pipe, and a node that finds it closed ends itself.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

COMMAND = "byzmab.cli.main"
IMPORTED = (
    COMMAND,
    "byzmab.dashboard.live.node",
    "byzmab.node.main",
    "byzmab.testbed.liar",
    "byzmab.testbed.warm",
    __name__,
)
GRACE = 5.0  # seconds that a node may take to end by itself when we are gone

_forked = get_context("forkserver")


class NodeProcess:
    """`byzmab ARGUMENTS` in a process of its own, whose output goes to the end of a log file."""

    def __init__(self, arguments: Sequence[str], log: Path) -> None:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # read where numpy is imported: in the process to fork from
        _forked.set_forkserver_preload(list(IMPORTED))
        reader, self._writer = _forked.Pipe(duplex=False)
        settings = list(arguments), str(log), str(Path.cwd()), dict(os.environ)
        self._process = _forked.Process(target=_run, args=(*settings, reader), daemon=True)
        with _without_main():
            self._process.start()
        reader.close()

    @property
    def ended(self) -> bool:
        """Whether it is no longer there."""
        return self._process.exitcode is not None

    def signal(self, what: signal.Signals) -> None:
        """Send a signal to it, if it is there."""
        if not self.ended and self._process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, what)

    def stop(self, seconds: float) -> None:
        """Wait so long for it to end, then end it, and return when it is gone."""
        self._process.join(max(0.0, seconds))
        if not self.ended:
            self._process.kill()
            self._process.join()
        self._writer.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the user's script, which multiprocessing would import in the new process: it is not needed there."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _run(
    arguments: list[str], log: str, directory: str, environment: dict[str, str], reader: "Connection[object, object]"
) -> None:
    """What the forked process does."""
    os.setsid()  # Ctrl-C is for the parent, which ends us
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    end_of_log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(end_of_log, stream)
    threading.Thread(target=_end_with_parent, args=(reader,), name="end with parent", daemon=True).start()
    sys.argv = ["byzmab", *arguments]
    import_module(COMMAND).main()


def _end_with_parent(reader: "Connection[object, object]") -> None:
    with suppress(EOFError, OSError):
        reader.recv()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)
