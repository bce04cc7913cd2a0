"""Unix accounts of a test cluster: made for it, removed with it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qianka.testing.slurm.cluster import Cluster


class Accounts:
    """Who may submit; every login carries the cluster's tag, so nobody else's account is touched."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, str] = {}

    def add(self, name: str, qos: tuple[str, ...]) -> str:
        """The login of `name`, made at the first call: with a home folder, in Slurm's account `course`."""
        if name in self._known:
            return self._known[name]
        login = f"{self._cluster.shape.tag}-{name}"
        home = self._cluster.folder / "home" / name
        words = ["useradd", "--create-home", "--home-dir", str(home), "--shell", "/bin/sh", login]
        subprocess.run(words, check=True, capture_output=True, timeout=30)
        home.chmod(0o700)
        self._known[name] = login
        given = [f"qos={','.join(qos)}", "defaultqos=" + qos[0]]
        self._cluster.ask("sacctmgr", "-i", "add", "user", login, "account=course", *given)
        return login

    def remove(self) -> None:
        """Take the accounts off the machine."""
        for login in self._known.values():
            subprocess.run(["userdel", "--force", login], check=False, capture_output=True, timeout=30)
        self._known.clear()
