"""LDAP: a person is found by an attribute, then bound as, with the password they gave."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from qianka.domain.people import Identified
from qianka.errors import ConfigError, Text, Unavailable

if TYPE_CHECKING:
    from ldap3 import Connection, Server

SECONDS = 10
_STABLE = ("entryUUID", "objectGUID", "ipaUniqueID", "nsUniqueId")
"""what keeps its value when a person is renamed, by directory"""


@dataclass(frozen=True)
class Ldap:
    """One directory. A password never crosses the network in the clear: `ldap://` to another machine uses StartTLS."""

    url: str
    base: str
    attribute: str = "uid"
    bind: str = ""
    password: str = ""
    ca_file: str = ""

    def check(self, name: str, password: str) -> Identified | None:
        """Whose name and password these are; None where they are wrong, or the name is not one person's.

        Raises Unavailable where the directory does not answer or does not let us look, ConfigError for a bad address.
        """
        from ldap3.core.exceptions import LDAPException

        if not name or not password:
            return None  # RFC 4513 5.1.2: a bind without a password succeeds for anybody
        server = self._server()
        try:
            entry = self._find(server, name)
            if entry is None or not self._is_theirs(server, entry["dn"], password):
                return None
        except (LDAPException, OSError) as error:
            raise _away(type(error).__name__) from error
        return self._identified(entry)

    def _server(self) -> Server:
        from ldap3 import Server, Tls
        from ldap3.core.exceptions import LDAPException

        parts = urlsplit(self.url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.hostname or not self.base:
            raise ConfigError(
                Text("ldap.url 或 ldap.base 不对", "ldap.url or ldap.base is wrong"),
                Text("例：ldaps://ldap.example.edu 与 ou=people,dc=example,dc=edu", "such as ldaps://ldap.example.edu"),
            )
        try:
            tls = Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=self.ca_file or None)
            return Server(
                parts.hostname,
                port=parts.port or (636 if parts.scheme == "ldaps" else 389),
                use_ssl=parts.scheme == "ldaps",
                tls=tls,
                connect_timeout=SECONDS,
            )
        except LDAPException as error:
            raise ConfigError(Text(f"ldap.ca_file 读不了：{self.ca_file}", "ldap.ca_file cannot be read")) from error

    def _connect(self, server: Server, who: str, password: str) -> Connection:
        """A connection that is encrypted, or stays on this machine; not yet bound."""
        from ldap3 import Connection
        from ldap3.core.exceptions import LDAPException

        connection = Connection(server, who or None, password or None, receive_timeout=SECONDS, read_only=True)
        try:
            connection.open()
            if not server.ssl and not _is_this_machine(server.host):
                connection.start_tls()
        except (LDAPException, OSError):
            if connection.socket is not None:
                connection.socket.close()  # ldap3 leaves it open
            raise
        return connection

    def _find(self, server: Server, name: str) -> dict[str, Any] | None:
        from ldap3.utils.conv import escape_filter_chars

        connection = self._connect(server, self.bind, self.password)
        try:
            if not connection.bind():
                raise _away("bind")
            words = f"({self.attribute}={escape_filter_chars(name)})"
            connection.search(self.base, words, attributes=["*", "+"], size_limit=2, time_limit=SECONDS)
            found = [one for one in connection.response or [] if one.get("type") == "searchResEntry"]
        finally:
            connection.unbind()
        return found[0] if len(found) == 1 else None

    def _is_theirs(self, server: Server, dn: str, password: str) -> bool:
        connection = self._connect(server, dn, password)
        try:
            return bool(connection.bind())
        finally:
            connection.unbind()

    def _identified(self, entry: dict[str, Any]) -> Identified:
        told = {key.lower(): _first(value) for key, value in entry["attributes"].items()}
        stable = next((told[key.lower()] for key in _STABLE if told.get(key.lower())), "")
        return Identified(
            subject=stable or str(entry["dn"]).lower(),
            campus_id=told.get(self.attribute.lower(), ""),
            name=told.get("displayname") or told.get("cn") or "",
            email=told.get("mail") or "",
        )


def _first(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        value = value[0] if value else ""
    return value.hex() if isinstance(value, bytes) else str(value)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _away(why: str) -> Unavailable:
    return Unavailable(
        Text("目录服务（LDAP）没有正常回答", "the directory (LDAP) does not answer as it should"),
        Text("稍后再试，或用平台账户登录", "try again later, or sign in with the platform account"),
        reason="signin_away",
        cause=why,
    )
