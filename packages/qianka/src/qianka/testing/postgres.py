"""A PostgreSQL server of one's own for tests: made, used and removed; nothing of the system's is touched.

It listens on a socket in its folder alone, as an unprivileged user also when root starts it, and takes
no care of the disk (fsync off).
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from qianka.store.session import Store
from qianka.store.tables import Base
from qianka.store.upgrade import stamp

_NAMES = ("postgres", "qianka", "nobody")
_FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "listen_addresses": "",
    "shared_buffers": "32MB",
    "max_connections": "200",
    "autovacuum": "off",
    "log_min_messages": "warning",
}
TEMPLATE = "qianka_template"


def programs() -> Path | None:
    """The folder of the newest installed server's programs; None: there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: _number(path.parts[-3]))
    found += [Path(path) for path in [shutil.which("initdb")] if path]
    return found[-1].parent if found else None


class PostgresServer:
    """One server in `folder`; `start` and `stop` may alternate, as in a test of a restart."""

    def __init__(self, folder: Path, **parameters: str) -> None:
        """`parameters`: of the server's own, such as fsync="on", instead of those for speed."""
        self.folder = folder
        self._parameters = {**_FAST, **parameters}
        self.data = folder / "data"
        bin_folder = programs()
        if bin_folder is None:
            raise FileNotFoundError("PostgreSQL is not installed (Debian: postgresql)")
        self._bin = bin_folder

    def make(self, *, encoding: str = "UTF8") -> None:
        """Create the empty cluster and the template from which `database` copies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        who = _ordinary_user()
        if "user" in who:
            os.chown(self.folder, who["user"], who["group"])
        subprocess.run(
            [self._bin / "initdb", "-D", self.data, "-U", "qianka", "-A", "trust", "-E", encoding, "--locale=C", "-N"],
            cwd="/",
            check=True,
            capture_output=True,
            **who,
        )

    def start(self) -> None:
        """Start, and return when it answers. It is nobody's child: `stop` works from any process."""
        options = " ".join(f"-c {name}={value or chr(39) * 2}" for name, value in self._parameters.items())
        command: list[str | Path] = [self._bin / "pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-t", "60"]
        done = subprocess.run(
            [*command, "-o", f"-k {self.folder} {options}", "start"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            **_ordinary_user(),
        )
        if done.returncode != 0:
            raise RuntimeError((self.folder / "log").read_text("utf-8", "replace")[-2000:])

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it at once; SIGINT: in order, but without waiting for clients."""
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, how)
        until = time.monotonic() + 60
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
            time.sleep(0.02)

    def remove(self) -> None:
        """Stop and delete everything."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def pid(self) -> int | None:
        """The server's process; None: it does not run."""
        try:
            found = int((self.data / "postmaster.pid").read_text().split()[0])
            os.kill(found, 0)
        except (OSError, ValueError, IndexError):
            return None
        return found

    def url(self, database: str = "postgres") -> str:
        """The address of a database on this server."""
        return f"postgresql+psycopg://qianka@/{database}?host={self.folder}"

    def execute(self, statement: str) -> None:
        """Run one statement outside of any transaction, on the database of the administrator."""
        import psycopg

        with psycopg.connect(host=str(self.folder), user="qianka", dbname="postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def make_template(self) -> None:
        """Make the database with all tables that `database` copies."""
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        store = Store(self.url(TEMPLATE))
        Base.metadata.create_all(store.engine)
        stamp(store)
        store.close()

    def database(self, *, bare: bool = False) -> str:
        """The address of a new database with all tables; `bare`: with none."""
        name = f"t{secrets.token_hex(8)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {'template0' if bare else TEMPLATE}")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Delete a database, whoever is connected to it."""
        match = re.search(r"@/(\w+)", url)
        if match:
            self.execute(f"DROP DATABASE IF EXISTS {match[1]} WITH (FORCE)")


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9.]+", text) else 0.0


def _ordinary_user() -> dict[str, Any]:
    """Arguments for Popen: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in _NAMES:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise RuntimeError("no ordinary user to run PostgreSQL as")
