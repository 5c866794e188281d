"""Faults that may pass by themselves: a node that cannot start because of one is worth starting again."""

import errno
import re
import socket
import sqlite3

from byzmab.core.errors import BadInput

TRY_AGAIN = 75  # exit code, EX_TEMPFAIL of sysexits.h; wrong settings end with 2
PASSING = frozenset(
    {
        errno.EADDRINUSE,
        errno.EADDRNOTAVAIL,  # the interface is not up yet
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.ESTALE,
        errno.EAGAIN,
        errno.EBUSY,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    }
)
PASSING_SQLITE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,  # of its log: the directory and the file itself were opened before
    }
)
OS_ERROR = re.compile(r"\(os error (\d+)\)")  # in the messages of libraries written in Rust
NO_NAMES_YET = "Temporary failure in name resolution"


class Unavailable(BadInput):
    """The settings may be right, but something that the node needs is not there now."""


def refusal(sentence: str, cause: Exception) -> BadInput:
    """Return Unavailable with a sentence if its cause may pass by itself, otherwise BadInput."""
    return (Unavailable if may_pass(cause) else BadInput)(sentence)


def may_pass(cause: Exception) -> bool:
    """Whether an error may be gone when the same is tried again."""
    if isinstance(cause, socket.gaierror):
        return cause.errno == socket.EAI_AGAIN
    if isinstance(cause, OSError):
        return cause.errno in PASSING
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF in PASSING_SQLITE  # the low byte is the primary code
    text = str(cause)
    return any(int(code) in PASSING for code in OS_ERROR.findall(text)) or NO_NAMES_YET in text
