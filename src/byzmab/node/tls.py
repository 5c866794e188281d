"""Certificates of a node's HTTP and links, which are read again when they are renewed."""

import ssl
import stat
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.node.config import HttpTls
from byzmab.node.transport.base import Certificates
from byzmab.node.watched import Watched

OTHERS = 0o007  # the part of a file's mode that is about everybody


def server_context(files: HttpTls) -> ssl.SSLContext:
    """A context that answers with the certificate in the files from now on, and with a renewed one when it is there."""
    watched = Watched("http.tls", (files.certificate, files.private_key), lambda: _read(files))

    def choose(connection: ssl.SSLObject, name: str | None, first: ssl.SSLContext) -> None:
        connection.context = watched.value

    context = _read(files)
    context.sni_callback = choose  # called at every handshake, with or without a name
    return context


def watch_certificates(files: Certificates) -> Watched[ssl.SSLContext]:
    """The certificates of a node's links: another value whenever they were renewed and can be used."""
    certificate, key, authority = str(files.certificate), str(files.key), str(files.authority)

    def read() -> ssl.SSLContext:
        context = load_certificate("links.tls", certificate, key)
        try:
            context.load_verify_locations(authority)
        except OSError as error:  # SSLError, too
            reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
            raise BadInput(f"links.tls.authority {authority!r} cannot be read: {reason}") from None
        return context

    return Watched("links.tls", (authority, certificate, key), read)


def load_certificate(what: str, certificate: str, private_key: str) -> ssl.SSLContext:
    """A server's context with a certificate and its private key, or BadInput."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, private_key, password="")  # an encrypted key would ask at the terminal
    except OSError as error:  # SSLError is one, too
        reason = "they do not fit together" if isinstance(error, ssl.SSLError) else error.strerror
        raise BadInput(
            f"{what}: certificate {certificate!r} and private key {private_key!r} cannot be used: {reason}; "
            "allowed: PEM files, the key not encrypted"
        ) from None
    return context


def _read(files: HttpTls) -> ssl.SSLContext:
    context = load_certificate("http.tls", files.certificate, files.private_key)
    mode = stat.S_IMODE(Path(files.private_key).stat().st_mode)
    if mode & OTHERS:
        raise BadInput(f"http.tls.private_key {files.private_key!r} has mode {mode:04o}; allowed: 0600 or 0640")
    context.set_alpn_protocols(["http/1.1"])
    return context
