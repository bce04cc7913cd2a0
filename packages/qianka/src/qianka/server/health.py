"""How the parts are, and what every page has to say while something is not as it should be."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from qianka.errors import Text
from qianka.services import leases
from qianka.services.platform import Platform
from qianka.store.tables import Lease

DISK_LOW = 2 << 30
"""bytes free below which hand-ins are in danger"""
_KEPT = 2.0  # seconds; every page asks
_SMALL = 1 << 20


class Doctor:
    """Looks at most every two seconds, however often it is asked."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self._seen: tuple[float, dict[str, Any], list[Finding]] | None = None

    def look(self) -> tuple[dict[str, Any], list[Finding]]:
        """The state of each part and what is wrong."""
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] > _KEPT:
            parts = self._parts()
            self._seen = (now, parts, findings(parts, self.platform.now()))
        return self._seen[1], self._seen[2]

    def _parts(self) -> dict[str, Any]:
        run = self.platform.folders.run
        database, left = self._database()
        disk = shutil.disk_usage(self.platform.folders.root)
        return {
            "database": database,
            "worker": {
                "alive": left is not None and left > timedelta(0),
                "lease_until": None if left is None else self.platform.now() + left,
            },
            "sandbox": read_small(run / "sandbox.json") or {},
            "process": {**(read_small(run / "up.json") or {}), "uid": os.geteuid()},
            "disk": {"free": disk.free, "total": disk.total},
        }

    def _database(self) -> tuple[dict[str, Any], timedelta | None]:
        """How it is, and how much longer the worker's lease holds by the clock that leases go by."""
        begun = time.perf_counter()
        try:
            with self.platform.store.reading() as session:
                lease = session.get(Lease, "worker")
                left = None if lease is None else lease.expires_at - leases.now_of(session, self.platform)
        except SQLAlchemyError:
            return {"alive": False}, None
        return {"alive": True, "milliseconds": round((time.perf_counter() - begun) * 1000, 2)}, left


class Finding:
    """One thing that is wrong: a code, what it is, what to do."""

    def __init__(self, code: str, text: Text, fix: Text | None = None, *, down: bool = False) -> None:
        self.code = code
        self.text = text
        self.fix = fix
        self.down = down


def findings(parts: dict[str, Any], now: datetime) -> list[Finding]:
    """What is wrong with the parts, worst first."""
    found: list[Finding] = []
    if not parts["database"]["alive"]:
        found.append(
            Finding(
                "database",
                Text("数据库没有应答", "the database does not answer"),
                Text("查看服务日志", "see the log of the server"),
                down=True,
            )
        )
    elif not parts["worker"]["alive"]:
        found.append(
            Finding(
                "worker",
                Text(
                    "评分程序没有运行：提交会保存并给回执，稍后评分",
                    "the worker is not running: hand-ins are kept and receipted, and graded later",
                ),
                Text("运行 qianka up，或单独运行 qianka worker", "run qianka up, or qianka worker by itself"),
            )
        )
    found.extend(_of_sandbox(parts["sandbox"]))
    if parts["process"]["uid"] == 0:
        why = parts["process"].get("kept_root") or {}
        found.append(
            Finding(
                "root",
                Text(
                    f"服务以 root 身份运行：{why.get('zh', '没有换成普通用户')}",
                    f"the server runs as root: {why.get('en', 'it did not change to an ordinary user')}",
                ),
                Text(*why["fix"]) if "fix" in why else None,
            )
        )
    if parts["disk"]["free"] < DISK_LOW:
        free = parts["disk"]["free"] / 1e9
        found.append(
            Finding(
                "disk",
                Text(f"磁盘只剩 {free:.1f} GB", f"only {free:.1f} GB of disk are free"),
                Text("清理数据目录所在的磁盘", "make room on the disk of the data directory"),
            )
        )
    return found


def _of_sandbox(sandbox: dict[str, Any]) -> list[Finding]:
    level = sandbox.get("level")
    if level in (None, "full"):
        return []
    missing = [item for item in sandbox.get("missing", []) if isinstance(item, dict)]
    zh = "；".join(str(item.get("zh", "")) for item in missing)
    en = "; ".join(str(item.get("en", "")) for item in missing)
    names = {"degraded": Text("降级", "degraded"), "none": Text("没有隔离", "none")}
    name = names.get(str(level), Text("不可用：学生代码不会运行", "refused: student code is not run"))
    return [
        Finding(
            f"isolation_{level}",
            Text(f"隔离级别：{name.zh}。{zh}".rstrip("。") + "。", f"isolation: {name.en}. {en}".rstrip(". ") + "."),
            Text("运行 qianka doctor 看每一项的修法", "run qianka doctor for the fix of each"),
        )
    ]


def status_of(found: list[Finding]) -> str:
    """ok, degraded or down."""
    if any(finding.down for finding in found):
        return "down"
    return "degraded" if found else "ok"


def read_small(path: Path) -> dict[str, Any] | None:
    """A small JSON object that another process left; None when there is none."""
    try:
        if path.stat().st_size > _SMALL:
            return None
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
