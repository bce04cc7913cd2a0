"""Clusters whose process was killed: stopped and removed by the next one that starts."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from qianka.jobdir.beat import same_process, start_ticks
from qianka.testing.slurm import daemons

PREFIX = "qianka-slurm-"
_OWNER = "owner"


def own(folder: Path, tag: str) -> None:
    """Note whose cluster this is: it is left alone while this process lives."""
    pid = os.getpid()
    (folder / _OWNER).write_text(f"{pid} {start_ticks(pid)} {tag}")


def sweep(base: Path) -> None:
    """Stop and remove the clusters of processes that are gone."""
    for owner in base.glob(f"{PREFIX}*/{_OWNER}"):
        try:
            pid, start, tag = owner.read_text().split()
        except (OSError, ValueError):
            continue  # it is being made, or removed, this moment
        if same_process(int(pid), int(start)):
            continue
        folder = owner.parent
        for part in ("slurmctld", "slurmd-*", "slurmdbd", "mysqld/mysqld", "munge/munged"):
            daemons.stop((folder / "run").glob(f"{part}.pid"))
        for account in pwd.getpwall():
            if account.pw_name.startswith(f"{tag}-"):
                subprocess.run(["userdel", "--force", account.pw_name], check=False, capture_output=True, timeout=30)
        remove_groups([path.name for path in (folder / "spool").glob("*")])
        shutil.rmtree(folder, ignore_errors=True)


def remove_groups(nodes: Iterable[str]) -> None:
    """The control groups that nodes leave behind; they empty a moment after their last process."""
    names = list(nodes)
    for _ in range(20):
        left = [
            Path(top)
            for name in names
            for root in Path("/sys/fs/cgroup").glob(f"*/slurm_{name}")
            for top, _, _ in os.walk(root, topdown=False)
        ]
        for folder in left:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if not any(folder.exists() for folder in left):
            return
        time.sleep(0.1)
