"""A certificate of our own making, for a platform that was given none: known by its fingerprint."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from qianka.errors import ConfigError, Text
from qianka.settings import Settings

DAYS = 825
"""how long ours holds: some browsers take no longer"""


class Certificate(NamedTuple):
    """What the server shows; `is_ours`: made here, so nobody vouches for it but its fingerprint."""

    file: Path
    key: Path
    fingerprint: str
    is_ours: bool


def certificate_of(settings: Settings) -> Certificate | None:
    """The certificate to serve with; None where none was given and the platform is not public.

    One of our own is made once, in the data directory, and made anew when it is about to end. Raises
    ConfigError for files that cannot be read or do not belong together.
    """
    if settings.server_certificate or settings.server_key:
        file, key = Path(settings.server_certificate), Path(settings.server_key)
        return Certificate(file, key, _fingerprint(_checked(file, key)), is_ours=False)
    if not settings.server_public:
        return None
    folder = Path(settings.data_dir) / "tls"
    file, key = folder / "cert.pem", folder / "key.pem"
    if not _is_good(file, key):
        folder.mkdir(mode=0o700, exist_ok=True)
        made, secret = make_certificate(names_of_this_machine(settings))
        _write(key, secret)
        _write(file, made)
    return Certificate(file, key, _fingerprint(_checked(file, key)), is_ours=True)


def names_of_this_machine(settings: Settings) -> list[str]:
    """The names and addresses by which this machine may be asked."""
    given = [name.strip() for name in settings.server_hosts.split(",") if name.strip() not in ("", "*")]
    names = ["localhost", "127.0.0.1", "::1", socket.gethostname(), *given]
    try:
        found = socket.getaddrinfo(socket.gethostname(), None)
        names += [str(address[4][0]).partition("%")[0] for address in found]
    except OSError:
        pass  # a machine that does not know its own name is reached by the others
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("192.0.2.1", 9))  # nothing is sent: the kernel says which of our addresses it would use
            names.append(outward.getsockname()[0])
        except OSError:
            pass  # no network
    return list(dict.fromkeys(names))


def make_certificate(names: Sequence[str]) -> tuple[bytes, bytes]:
    """A certificate for `names` that signs itself, and its private key, both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Qianka")])
    now = datetime.now(timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made.public_bytes(serialization.Encoding.PEM), secret


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name.encode("idna").decode("ascii"))


def _checked(file: Path, key: Path) -> x509.Certificate:
    try:
        found = x509.load_pem_x509_certificate(file.read_bytes())
        secret = serialization.load_pem_private_key(key.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(
            Text(
                f"证书 {file} 或私钥 {key} 读不了：{error}", f"certificate {file} or key {key} cannot be read: {error}"
            ),
            Text(
                "server.certificate 与 server.key 要是 PEM，私钥不加密，服务用户能读",
                "server.certificate and server.key must be PEM, the key without a passphrase, readable by the service",
            ),
        ) from error
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    if found.public_key().public_bytes(*form) != secret.public_key().public_bytes(*form):
        raise ConfigError(
            Text(f"私钥 {key} 不是证书 {file} 的", f"{key} is not the key of {file}"),
            Text("换成配套的一对", "give the two that belong together"),
        )
    return found


def _is_good(file: Path, key: Path) -> bool:
    try:
        found = _checked(file, key)
    except ConfigError:
        return False
    return found.not_valid_after_utc > datetime.now(timezone.utc) + timedelta(days=30)


def _fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256, as browsers show it."""
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def _write(path: Path, data: bytes) -> None:
    beside = path.with_name(f".new-{path.name}")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    beside.replace(path)
