"""Packages that come with an extra: what is told where one of them is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from byzmab.core.errors import BadInput


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a package that is missing within the block into the line that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "byzmab":
            raise
        raise missing(error.name, extra) from None


def missing(package: str, extra: str) -> BadInput:
    """The error for a package that is not installed."""
    return BadInput(f"this needs the package {package}; install it by: pip install 'byzmab[{extra}]'")
