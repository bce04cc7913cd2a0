"""What a test cluster needs of the machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

PROGRAMS = {
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "slurmdbd": "slurmdbd",
    "munged": "munge",
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CONTROLLERS = ("memory", "freezer", "cpuset", "devices", "cpuacct")


def missing() -> str | None:
    """Why no cluster can be started here, as a sentence; None: one can be."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "a Slurm cluster is started by root on Linux"
    packages = sorted({package for name, package in PROGRAMS.items() if found(name) is None})
    if packages:
        return f"a Slurm cluster needs the packages {', '.join(packages)}"
    return None


def found(program: str) -> str | None:
    """Where `program` is; the sbin folders are looked at as well."""
    return shutil.which(program, path=_PATH)


def has_control_groups() -> bool:
    """Whether Slurm can use control groups of version 1 here (version 2 wants systemd)."""
    root = Path("/sys/fs/cgroup")
    return all((root / name).is_dir() and os.access(root / name, os.W_OK) for name in _CONTROLLERS)
