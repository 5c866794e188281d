"""Files that are read again when they change, while what they last held stays in force until the new can be used."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

from byzmab.core.errors import BadInput

LOOK_AGAIN: Final = 1.0  # seconds between two looks at whether files changed
Value = TypeVar("Value")
log = logging.getLogger(__name__)


class Watched(Generic[Value]):
    """What some files hold; `read` returns it, or raises BadInput."""

    def __init__(self, what: str, paths: tuple[str, ...], read: Callable[[], Value]) -> None:
        self._what, self._paths, self._read = what, paths, read
        self._stamps = self._stamps_now()
        self._value = read()
        self._looked = time.monotonic()

    @property
    def value(self) -> Value:
        """What the files hold, at most a second ago."""
        if time.monotonic() - self._looked > LOOK_AGAIN:
            self.look_again()
        return self._value

    def look_again(self) -> None:
        """Read the files if they changed; if they cannot be used, log why and keep what they held."""
        self._looked = time.monotonic()
        stamps = self._stamps_now()
        if stamps == self._stamps:
            return
        self._stamps = stamps
        try:
            self._value = self._read()
            log.info("%s read again", self._what)
        except BadInput as error:
            log.error("%s not read again", self._what, extra={"reason": str(error)})

    def _stamps_now(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_stamp(Path(path)) for path in self._paths)


def _stamp(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written; nothing for one that cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode
