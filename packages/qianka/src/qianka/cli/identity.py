"""Started by root, the platform serves as an ordinary user where that user can read code and interpreter."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from qianka.errors import Text

_TRY = "import os, sys; os.chdir(sys.argv[1]); import qianka.server.app"


class Identity(NamedTuple):
    """Whom server and worker run as: `user` None is whoever started us; then `why` says why root was kept."""

    user: pwd.struct_passwd | None
    why: Text | None = None
    fix: Text | None = None

    def popen(self) -> dict[str, Any]:
        """Arguments for Popen."""
        if self.user is None:
            return {}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}


def choose(service_user: str, data_dir: Path) -> Identity:
    """The identity to serve with; gives the data directory to the service user when that is chosen."""
    chosen = look(service_user)
    if chosen.user is None:
        return chosen
    _give(data_dir, chosen.user)
    if _reaches(chosen, data_dir):
        return chosen
    _give(data_dir, pwd.getpwuid(0))
    return _unreachable(service_user)


def look(service_user: str) -> Identity:
    """The identity that `choose` would try first; changes nothing."""
    if os.geteuid() != 0:
        return Identity(None)
    try:
        user = pwd.getpwnam(service_user)
    except KeyError:
        command = f"useradd --system --no-create-home --shell /usr/sbin/nologin {service_user}"
        return Identity(
            None,
            Text(f"没有用户 {service_user}", f"there is no user {service_user}"),
            Text(f"运行：{command}", f"run: {command}"),
        )
    if user.pw_uid == 0:
        return Identity(None, Text("service.user 就是 root", "service.user is root itself"))
    return Identity(user) if _may_execute(user) else _unreachable(service_user)


def _reaches(chosen: Identity, data_dir: Path) -> bool:
    tried = subprocess.run(
        [sys.executable, "-c", _TRY, str(data_dir)],
        cwd="/",
        env={"PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
        timeout=60,
        **chosen.popen(),
    )
    return tried.returncode == 0


def _unreachable(service_user: str) -> Identity:
    return Identity(
        None,
        Text(
            f"用户 {service_user} 读不到代码、解释器或数据目录（{sys.prefix}）",
            f"the user {service_user} cannot reach code, interpreter or data directory ({sys.prefix})",
        ),
        Text(
            "把仓库放到人人可读的位置（如 /opt/qianka），或给沿途目录加上 o+rx",
            "keep the repository where everybody may read (/opt/qianka), or add o+rx to the folders on the way",
        ),
    )


def _may_execute(user: pwd.struct_passwd) -> bool:
    # Popen could not even start an interpreter that the user cannot reach; that is an answer, not an error.
    for folder in [Path(sys.executable), *Path(sys.executable).parents]:
        status = folder.stat()
        shift = 6 if status.st_uid == user.pw_uid else 3 if status.st_gid == user.pw_gid else 0
        if not (status.st_mode >> shift) & 1:
            return False
    return True


def _give(data_dir: Path, user: pwd.struct_passwd) -> None:
    """Make what root or the service owns in the data directory `user`'s; files of runs keep their own uid."""
    if data_dir.stat().st_uid == user.pw_uid:
        return
    ours = {0, data_dir.stat().st_uid}
    for root, folders, files in os.walk(data_dir, topdown=False):
        for name in [*folders, *files]:
            path = os.path.join(root, name)
            if os.lstat(path).st_uid in ours:
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    os.chown(data_dir, user.pw_uid, user.pw_gid)
