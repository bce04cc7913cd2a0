"""What a site says of its Slurm: the file site.toml as one frozen value (`sitefile` reads it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

LABEL_QOS = {"urgent": "urgent", "normal": "", "idle": "idle"}
CONTAINERS = ("apptainer", "docker", "podman")


@dataclass(frozen=True, kw_only=True)
class Containers:
    """Which containers jobs may ask for; no `kinds`: none."""

    kinds: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    """patterns (`/nfs/images/*.sif`) one of which an image must match"""
    default: tuple[str, str] | None = None
    """(kind, image) of jobs that name none; None: bare"""
    mounts: tuple[str, ...] = ()
    """folders seen inside at their own path, read-only"""
    commands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """what runs a kind where it is not its name: `singularity`, `sudo docker`"""

    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """further options of a kind, before the image"""

    def command_of(self, kind: str) -> tuple[str, ...]:
        """The words that begin a command of `kind`."""
        return self.commands.get(kind, (kind,))


@dataclass(frozen=True, kw_only=True)
class Site:
    """One cluster's ways. Without a site.toml these defaults hold.

    Texts that go into the batch script are plain values: `script.render` quotes them.
    """

    account: str = ""
    """Slurm account of jobs of no cohort listed in `accounts`; empty: the person's default account"""
    accounts: dict[str, str] = field(default_factory=dict)
    """by cohort"""
    qos: dict[str, str] = field(default_factory=lambda: dict(LABEL_QOS))
    """by label; empty: the person's default QOS"""
    partition: str = ""
    """empty: the cluster's default partition"""
    partition_gpu: str = ""
    """of jobs with cards; empty: `partition`"""
    partitions: dict[str, str] = field(default_factory=dict)
    """by label; goes before the two above"""
    gres: str = "gpu"
    """how a card is asked for: `gpu`, or `gpu:a100` where the type must be named"""
    directives: tuple[str, ...] = ()
    """further options of every job, such as `--constraint=ib`"""
    modules_init: str = ""
    """file to source before `module`; empty: the usual places are looked at"""
    modules: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    """lines of shell run on the first node before the job, as they are"""
    environment: dict[str, str] = field(default_factory=dict)
    interface: str = ""
    """network interface between nodes for NCCL and gloo; empty: they choose"""
    ports: tuple[int, int] = (20000, 29999)
    """first and last port of the rendezvous; below the kernel's own range (32768 up)"""
    runtime: str = ""
    """the student runtime (a venv) as the nodes see it; empty: the platform's"""
    folder: str = "{home}/qianka"
    """where a person's own runs get their folder; {home}, {user}; on a file system that all nodes see"""
    forbid: tuple[str, ...] = ()
    """options that `--sbatch` may not pass on this site, by long name"""
    allow: tuple[str, ...] = ()
    """options of the site's own plugins that `--sbatch` may pass as well"""
    containers: Containers = field(default_factory=Containers)
    template: Path | None = None
    """the site's own batch template; None: job.sh.txt beside this file"""

    def account_of(self, cohort: str | None) -> str:
        """The Slurm account that a cohort's jobs are put on; empty: the person's default."""
        return self.accounts.get(cohort or "", self.account)

    def qos_of(self, label: str) -> str:
        """The QOS of a label; empty: the person's default."""
        return self.qos.get(label, "")

    def partition_of(self, label: str, gpus: int) -> str:
        """Where a job goes; empty: the cluster's default partition."""
        return self.partitions.get(label) or (self.partition_gpu if gpus else "") or self.partition
