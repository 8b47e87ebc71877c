"""A small certificate authority for tests of mutual TLS."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Pair:
    """A certificate with its key, both PEM."""

    certificate: bytes
    key: bytes


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Authority:
    """Issues certificates that are valid for an hour."""

    def __init__(self, name: str = "test authority") -> None:
        self._key = generate_private_key(SECP256R1())
        self._name = _name(name)
        constraint = x509.BasicConstraints(ca=True, path_length=0)
        self._certificate = self._sign(self._name, self._key, [constraint])
        self.certificate = self._certificate.public_bytes(Encoding.PEM)

    def _sign(
        self,
        subject: x509.Name,
        key: EllipticCurvePrivateKey,
        extensions: list[x509.ExtensionType],
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
        )
        for extension in extensions:
            critical = isinstance(extension, x509.BasicConstraints)
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, SHA256())

    def issue(self, common_name: str, *names: x509.GeneralName) -> Pair:
        """A leaf certificate with these subject alternative names, if any."""
        key = generate_private_key(SECP256R1())
        extensions: list[x509.ExtensionType] = []
        if names:
            extensions.append(x509.SubjectAlternativeName(names))
        certificate = self._sign(_name(common_name), key, extensions)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Pair(certificate.public_bytes(Encoding.PEM), pem)


def write_server_files(directory: Path, authority: Authority, clients: Authority) -> dict[str, str]:
    """The three files of a server's settings; its certificate is for "localhost"."""
    pair = authority.issue("localhost", x509.DNSName("localhost"))
    contents = {
        "tls_certificate": pair.certificate,
        "tls_key": pair.key,
        "tls_client_ca": clients.certificate,
    }
    for name, content in contents.items():
        (directory / f"{name}.pem").write_bytes(content)
    return {name: str(directory / f"{name}.pem") for name in contents}
