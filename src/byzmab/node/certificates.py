"""Certificates for the links of a network: one authority, and one certificate per node, as PEM files."""

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from byzmab.core.errors import BadInput
from byzmab.node.transport.base import Certificates

VALID = timedelta(days=365)
SKEW = timedelta(days=1)  # valid from so long ago, for clocks that are behind
LONGEST_NAME = 64  # characters of a common name


class Authority:
    """Issues the certificates of one network; its own key is never written down."""

    def __init__(self, name: str = "byzmab", valid: timedelta = VALID) -> None:
        self._valid = valid
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _common_name(f"{name} authority")
        self.certificate = (
            _begin(self._name, self._name, self._key.public_key(), valid)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def issue(self, name: str, hosts: tuple[str, ...], directory: Path) -> Certificates:
        """Write a node's key and certificate, for these names and addresses, and the authority's; return the files."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _begin(_common_name(name), self._name, key.public_key(), self._valid)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        files = Certificates(directory / "authority.pem", directory / "certificate.pem", directory / "certificate.key")
        _write(files.authority, self.certificate.public_bytes(serialization.Encoding.PEM), 0o644)
        _write(files.certificate, certificate.public_bytes(serialization.Encoding.PEM), 0o644)
        _write(files.key, _pem_of(key), 0o600)
        return files


def _begin(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, valid: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _common_name(name: str) -> x509.Name:
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadInput(f"certificate name {name!r} is not allowed; allowed: 1 to {LONGEST_NAME} characters")
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _write(path: Path, content: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)  # an older file keeps its mode, which may be wider
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
