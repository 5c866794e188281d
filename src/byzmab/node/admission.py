"""Who may ask a node: pages of its own origin, holders of its bearer token, and on loopback nobody from elsewhere."""

import hmac
from collections.abc import Iterable
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.node.config import is_loopback
from byzmab.node.identity import read_private
from byzmab.node.watched import Watched

Headers = dict[bytes, bytes]
SHORTEST_TOKEN = 16
OWN_SITES = (b"same-origin", b"none")  # what a browser says of our own pages, and of an address typed in


class Denied(Exception):
    """A request that is not passed on, with the answer that it gets."""

    def __init__(self, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


class TokenFile:
    """The bearer token in a file, read again when the file changes."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._header = Watched("token", (path,), self._read)

    def check(self, headers: Headers) -> None:
        """Denied unless the request carries the token."""
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._header.value):
            raise Denied(401, "a bearer token is needed", (b"www-authenticate", b"Bearer"))

    def look_again(self) -> None:
        """Use the file's token if the file changed; if it cannot be used, log why and keep the old one."""
        self._header.look_again()

    def _read(self) -> bytes:
        """The header that a request must carry, or BadInput."""
        token = read_private("http.token_file", self._path)
        if len(token) < SHORTEST_TOKEN or not token.isprintable():
            allowed = f"one line of {SHORTEST_TOKEN} or more signs"
            raise BadInput(f"http.token_file {str(self._path)!r} is not allowed; allowed: {allowed}")
        return f"Bearer {token}".encode()


def checked_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers by name, or Denied unless exactly one says which host is asked."""
    listed = list(pairs)
    if [name for name, value in listed if name == b"host" and value] != [b"host"]:
        raise Denied(400, "a request has exactly one Host header, which is not empty")
    return dict(listed)


def check_host(headers: Headers) -> None:
    """Denied where a node on loopback is asked under another name: somebody pointed that name at loopback."""
    text = headers[b"host"].decode("latin-1").lower()
    host = text[1:].partition("]")[0] if text.startswith("[") else text.partition(":")[0]
    if not is_loopback(host):
        raise Denied(421, f"this is answered on loopback alone, not as {host[:100]!r}")


def check_origin(headers: Headers) -> None:
    """Denied where a browser asks for a page from elsewhere, with or without a body."""
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    if site is not None and site not in OWN_SITES:
        raise Denied(403, "a page from elsewhere may not ask this")
    if origin is not None and origin.partition(b"://")[2].lower() != headers[b"host"].lower():
        raise Denied(403, f"a page of {origin.decode('latin-1')[:100]!r} may not ask this")


def check_path(path: str) -> None:
    """Denied for a path that no file or event can have."""
    if not path.isprintable():
        raise Denied(400, "the path holds a control sign; allowed: printable ones")
