"""Which errors of a host are answers, and with what status."""

from byzmab.core.errors import BadInput
from byzmab.node.api import Problem
from byzmab.node.decisions import Conflict, TooLate, UnknownEvent
from byzmab.node.store import StoreTrouble
from byzmab.node.streams import TooManyStreams

STATUS: dict[type[Exception], int] = {
    BadInput: 400,
    UnknownEvent: 404,
    Conflict: 409,
    TooLate: 410,
    RecursionError: 400,
    StoreTrouble: 503,
    TooManyStreams: 503,
}
PROBLEMS = tuple(STATUS)


def problem_of(error: Exception) -> tuple[Problem, dict[str, str]]:
    """The answer to a request that ended with this error, and its headers."""
    status = STATUS[type(error)]
    said = "the body is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return Problem(status, said), {"retry-after": "1"} if status == STATUS[StoreTrouble] else {}
