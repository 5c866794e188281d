"""The one error that is the user's to mend."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

_PARTS = re.compile(r"(\d+)")  # of a name: F2 stands before F10


Target = TypeVar("Target", bound=Callable[..., Any])


class BadInput(ValueError):
    """Input that cannot be used; its message is one sentence naming the option, the value and what is allowed."""


def nearest(name: str, known: Iterable[str]) -> str:
    """What is known, led by the nearest name; capitals are as good as small letters."""
    names = sorted(known, key=lambda name: [int(part) if part.isdecimal() else part for part in _PARTS.split(name)])
    small = {name.lower(): name for name in names}
    near = difflib.get_close_matches(name.lower(), small, n=1, cutoff=0.5)
    return (f"did you mean {small[near[0]]!r}? " if near else "") + f"known: {', '.join(names)}"


def unknown(kind: str, name: str, known: Iterable[str]) -> BadInput:
    """The error for a name nobody registered, with the nearest known one."""
    return BadInput(f"{kind} {name!r} is not known; {nearest(name, known)}")


def suggesting(target: Target) -> Target:
    """Decorate a function or a class: an unknown keyword raises TypeError with the nearest that there is."""
    called: Any = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
    known = inspect.signature(called).parameters

    @wraps(called)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                raise TypeError(
                    f"{target.__name__}() has no parameter {name!r}; {nearest(name, set(known) - {'self'})}"
                )
        return called(*arguments, **keywords)

    if isinstance(target, type):
        target.__init__ = checked  # type: ignore[misc]
        return target
    return checked  # type: ignore[return-value]
