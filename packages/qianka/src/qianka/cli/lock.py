"""One `qianka up` a data directory: a lock that the kernel lets go of when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from qianka.cli.owner import as_owner
from qianka.errors import ConfigError, Conflict, Text


class DataLock:
    """Holds DATA/run/up.lock while the platform is up, and says in it where it is."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "run" / "up.lock"
        try:
            data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            with as_owner(data_dir):
                self.path.parent.mkdir(exist_ok=True, mode=0o700)
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(data_dir, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise _taken(data_dir, holder(data_dir)) from error

    def tell(self, **facts: Any) -> None:
        """Write who holds it."""
        text = json.dumps({"pid": os.getpid(), **facts}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text, 0)

    def release(self) -> None:
        """Let go; also happens by itself when the process ends."""
        os.ftruncate(self._file, 0)
        os.close(self._file)


def holder(data_dir: Path) -> dict[str, Any]:
    """What the running platform on `data_dir` said of itself; empty when none does."""
    try:
        with as_owner(data_dir):
            descriptor = os.open(data_dir / "run" / "up.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                found = json.loads(file.read(1 << 16))
                return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        pass
    return {}


def _unusable(data_dir: Path, error: OSError) -> ConfigError:
    return ConfigError(
        Text(
            f"数据目录 {data_dir} 用不了：{error.filename}：{error.strerror}",
            f"the data directory {data_dir} cannot be used: {error.filename}: {error.strerror}",
        ),
        Text(
            "换一个可写的 --data-dir，或检查权限和磁盘空间", "name another --data-dir, or mend its rights or the disk"
        ),
        reason="data_dir",
    )


def _taken(data_dir: Path, facts: dict[str, Any]) -> Conflict:
    where, pid = facts.get("address", "?"), facts.get("pid", "?")
    return Conflict(
        Text(
            f"数据目录 {data_dir} 上已经有平台在运行：{where}（进程 {pid}）",
            f"a platform is already up on {data_dir}: {where} (process {pid})",
        ),
        Text(
            "用它的地址，或先停掉它；再开一个请用另一个 --data-dir",
            "use it, or stop it first; for another one name another --data-dir",
        ),
        reason="already_up",
        address=where,
        pid=pid,
    )
