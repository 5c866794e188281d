"""When the certificates of a node's links and HTTP expire, and warnings while there is time to renew them."""

import logging
from collections.abc import Mapping
from pathlib import Path

from byzmab.core.errors import BadInput
from byzmab.node.config import Config

DAY = 86_400.0  # seconds
SOON = 30 * DAY
log = logging.getLogger(__name__)


def expiry_files(config: Config) -> dict[str, str]:
    """The certificate files of a node: those of its links, and that of its HTTP; nothing without TLS."""
    links, http = config.links.tls, config.http.tls
    found = {} if links is None else {"authority": links.authority, "certificate": links.certificate}
    return found if http is None else {**found, "http": http.certificate}


def expiries(config: Config) -> dict[str, float]:
    """When the first certificate in each file expires, in seconds since 1970, by file; BadInput if one holds none."""
    return {what: _expiry(path) for what, path in expiry_files(config).items()}


def warn_of_expiry(expiries: Mapping[str, float], now: float) -> None:
    """Log every certificate that has expired or will within 30 days."""
    for setting, when in expiries.items():
        days = round((when - now) / DAY, 1)
        if when <= now:
            log.error("certificate has expired; whoever connects refuses it", extra={"file": setting, "days": days})
        elif when <= now + SOON:
            log.warning("certificate expires soon", extra={"file": setting, "days": days})


def _expiry(path: str) -> float:
    from cryptography import x509  # 10 MB that a node without TLS does not need

    try:
        found = x509.load_pem_x509_certificates(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it holds no certificate"
        raise BadInput(f"certificate file {path!r} cannot be read: {reason}") from None
    return min(certificate.not_valid_after_utc.timestamp() for certificate in found)
