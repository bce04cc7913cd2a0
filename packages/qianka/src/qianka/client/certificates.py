"""A platform whose certificate is of its own making: known by the fingerprint that its operator tells."""

from __future__ import annotations

import hashlib
import socket
import ssl
from urllib.parse import urlsplit

from qianka.errors import Forbidden, Text, Unavailable

SECONDS = 10.0


def shown_by(address: str) -> str:
    """The certificate that a platform shows now, PEM; whose it is, is not known by that. Raises Unavailable."""
    parts = urlsplit(address)
    try:
        return ssl.get_server_certificate((parts.hostname or "", parts.port or 443), timeout=SECONDS)
    except (OSError, ValueError) as error:
        raise Unavailable(
            Text(f"连不上 {address}", f"{address} does not answer"),
            Text("检查地址和网络", "check the address and the network"),
            cause=type(error).__name__,
        ) from error


def fingerprint(pem: str) -> str:
    """SHA-256 of a certificate, as browsers show it."""
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest().upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def pinned(address: str, expected: str) -> str:
    """The certificate of the platform, which has that fingerprint. Raises Forbidden when it shows another one."""
    pem = shown_by(address)
    found = fingerprint(pem)
    if _plain(found) != _plain(expected):
        raise Forbidden(
            Text(f"{address} 的证书指纹是 {found}，与给出的不同", f"{address} shows a certificate with {found}"),
            Text("不要继续：向平台的管理员核对", "do not go on: ask the operator of the platform"),
            reason="fingerprint",
        )
    return pem


def context_of(pem: str) -> ssl.SSLContext:
    """Trusts this very certificate and no other; by which name it was asked for does not matter then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=pem)
    return context


def is_trusted(address: str) -> bool:
    """Whether this machine's own authorities vouch for the platform's certificate. Raises Unavailable."""
    parts = urlsplit(address)
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 443), SECONDS) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname),
        ):
            return True
    except ssl.SSLCertVerificationError:
        return False
    except (OSError, ValueError) as error:
        raise Unavailable(
            Text(f"连不上 {address}", f"{address} does not answer"), cause=type(error).__name__
        ) from error


def _plain(fingerprint: str) -> str:
    return "".join(letter for letter in fingerprint.upper() if letter in "0123456789ABCDEF")
