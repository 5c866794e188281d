"""Who may pass which frames on a link with TLS: zenoh's access control, by the common name on the certificate."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from byzmab.node.transport.base import Certificates, Link

IN, OUT = "ingress", "egress"
PUT, DECLARED = "put", "declare_subscriber"  # a frame; that one wants to hear frames


class Passage(NamedTuple):
    """One kind of message that a neighbour may exchange with us."""

    flow: str
    message: str
    path: str

    def rule(self) -> dict[str, Any]:
        """The rule that allows this, as zenoh's configuration has it."""
        return {
            "id": " ".join(self),
            "permission": "allow",
            "flows": [self.flow],
            "messages": [self.message],
            "key_exprs": [self.path],
        }


def access_control(passing: Mapping[Link, Sequence[Passage]]) -> dict[str, Any]:
    """zenoh's configuration that lets each neighbour exchange what is listed for it, and nothing else."""
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": [
            passage.rule() for passage in dict.fromkeys(passage for listed in passing.values() for passage in listed)
        ],
        "subjects": [{"id": link.name, "cert_common_names": [link.certificate or link.name]} for link in passing],
        "policies": [
            {"rules": [" ".join(passage) for passage in listed], "subjects": [link.name]}
            for link, listed in passing.items()
        ],
    }


def tls_settings(files: Certificates) -> dict[str, Any]:
    """zenoh's configuration for TLS alone, with both sides authenticated."""
    own = {"certificate": str(files.certificate), "private_key": str(files.key)}
    return {
        "transport/link/protocols": ["tls"],
        "transport/link/tls": {
            "root_ca_certificate": str(files.authority),
            "enable_mtls": True,
            "verify_name_on_connect": True,
            "close_link_on_expiration": True,
            **{f"{side}_{name}": path for side in ("listen", "connect") for name, path in own.items()},
        },
    }
