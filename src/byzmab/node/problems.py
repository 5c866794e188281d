"""Which errors of a host are answers, and with what status."""

from byzmab.core.errors import BadInput
from byzmab.node.api import Problem
from byzmab.node.decisions import Conflict, TooLate, UnknownEvent
from byzmab.node.store import StoreTrouble

STATUS: dict[type[Exception], int] = {
    BadInput: 400,
    UnknownEvent: 404,
    Conflict: 409,
    TooLate: 410,
    StoreTrouble: 503,
}
PROBLEMS = tuple(STATUS)


def problem_of(error: Exception) -> tuple[Problem, dict[str, str]]:
    """The answer to a request that ended with this error, and its headers."""
    status = STATUS[type(error)]
    return Problem(status, str(error)), {"retry-after": "1"} if status == STATUS[StoreTrouble] else {}
