"""OpenLDAP's server on this machine with a few people, by `ldap://` and `ldaps://`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qianka.server.certificates import make_certificate

BASE = "ou=people,dc=example,dc=edu"
READER = ("cn=reader,dc=example,dc=edu", "read only 1")

_CONF = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCertificateFile {folder}/cert.pem
TLSCertificateKeyFile {folder}/key.pem
database mdb
suffix "dc=example,dc=edu"
rootdn "{reader}"
rootpw "{password}"
directory {folder}/db
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{reader}" read by * none
"""

_PEOPLE = """\
dn: dc=example,dc=edu
objectClass: dcObject
objectClass: organization
o: example
dc: example

dn: ou=people,dc=example,dc=edu
objectClass: organizationalUnit
ou: people

"""

_PERSON = """\
dn: uid={uid},ou=people,dc=example,dc=edu
objectClass: inetOrgPerson
uid: {uid}
cn: {name}
sn: {name}
employeeNumber: {number}
mail: {uid}@example.edu
userPassword: {password}

"""


@dataclass(frozen=True)
class Directory:
    """Where it listens, and the certificate that `ldaps://` shows."""

    url: str
    tls_url: str
    ca_file: Path


def is_installed() -> bool:
    """Whether this machine has slapd (Debian: the package slapd)."""
    return _slapd() is not None


@contextmanager
def slapd(folder: Path, people: list[tuple[str, str, str, str]]) -> Iterator[Directory]:
    """A directory of `people`: (uid, employeeNumber, name, password) each; only READER may look."""
    program = _slapd()
    if program is None:
        raise FileNotFoundError("slapd")
    (folder / "db").mkdir(parents=True)
    cert, key = make_certificate(["localhost", "127.0.0.1"])
    (folder / "cert.pem").write_bytes(cert)
    (folder / "key.pem").write_bytes(key)
    conf = folder / "slapd.conf"
    conf.write_text(_CONF.format(folder=folder, reader=READER[0], password=READER[1]))
    entries = (_PERSON.format(uid=uid, number=number, name=name, password=word) for uid, number, name, word in people)
    listed = folder / "people.ldif"
    listed.write_text(_PEOPLE + "".join(entries), "utf-8")
    subprocess.run([program, "-T", "add", "-f", str(conf), "-l", str(listed)], check=True, capture_output=True)
    plain, tls = _free_port(), _free_port()
    directory = Directory(f"ldap://127.0.0.1:{plain}", f"ldaps://127.0.0.1:{tls}", folder / "cert.pem")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-d", "0", "-f", str(conf), "-h", f"{directory.url} {directory.tls_url}"],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            for port in (plain, tls):
                _wait_for(port, process)
            yield directory
        finally:
            process.terminate()
            process.wait(20)


def _slapd() -> str | None:
    return shutil.which("slapd", path="/usr/sbin:/usr/local/sbin:/usr/local/libexec:/usr/lib/openldap")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise TimeoutError(f"slapd does not listen on {port}")
