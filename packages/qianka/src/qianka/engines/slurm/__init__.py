"""Slurm: jobs go to an existing cluster; its own queue decides when and where they run."""

from __future__ import annotations

import os
from pathlib import Path

from qianka.engines.local.starters import LauncherStarter
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.engine import SlurmEngine as SlurmEngine
from qianka.engines.slurm.hands import LauncherHand, OwnHand
from qianka.engines.slurm.sitefile import load
from qianka.engines.slurm.submitting import Submitting
from qianka.errors import SandboxRefused, Text
from qianka.settings import Settings


def make_engine(settings: Settings, jobs: Path, run: Path) -> SlurmEngine:
    """The engine of the cluster that this machine can submit to.

    Raises ConfigError (site.toml) and SandboxRefused: as root the platform's own jobs would run as root.
    """
    if os.geteuid() == 0 and settings.sandbox_backend != "none":
        raise SandboxRefused(
            Text(
                "用 Slurm 时，服务不能以 root 运行：评分任务会变成 root 的任务",
                "with Slurm the service cannot be root: its gradings would run as root",
            ),
            Text(
                "让 service.user 读得到代码和解释器（qianka doctor 说明怎么做），再用 root 启动 qianka up",
                "let service.user read code and interpreter (qianka doctor says how) and start qianka up as root again",
            ),
        )
    client = Client(settings.slurm_conf)
    site = load(settings.slurm_site)
    launcher = LauncherStarter(run / "launcher.sock")
    hand = LauncherHand(jobs, site, launcher.ask) if launcher.listens() else None
    submitting = Submitting(jobs, client, site, OwnHand(client, site), hand, reread=lambda: load(settings.slurm_site))
    return SlurmEngine(jobs, client, submitting, settings.slurm_poll)
