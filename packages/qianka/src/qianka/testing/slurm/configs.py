"""The configuration files of a test cluster: small, quick to notice failures, sizes that are not the machine's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a cluster looks like; `memory` of a node in MiB."""

    folder: Path
    tag: str
    nodes: int
    cpus: int
    memory: int
    gpus: int
    ports: dict[str, int]
    grouped: bool
    """whether control groups of version 1 are to be had"""

    @property
    def names(self) -> list[str]:
        """The nodes."""
        return [f"{self.tag}n{number}" for number in range(1, self.nodes + 1)]

    @property
    def socket(self) -> Path:
        """Where munge is asked."""
        return self.folder / "run/munge/munge.socket"


def slurmdbd_conf(shape: Shape) -> str:
    """slurmdbd.conf."""
    folder, ports = shape.folder, shape.ports
    return f"""\
AuthType=auth/munge
AuthInfo=socket={shape.socket}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={ports["slurmdbd"]}
SlurmUser=slurm
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports["mariadb"]}
StorageUser=slurm
StoragePass=slurmpw
StorageLoc=slurm_acct_db
"""


def slurm_conf(shape: Shape) -> str:
    """slurm.conf. The reason of each unusual line stands in docs/howto of the tests: own munge socket, fake sizes."""
    folder, ports = shape.folder, shape.ports
    return f"""\
ClusterName={shape.tag}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports["slurmctld"]}
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket={shape.socket}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
MailProg=/bin/true
MpiDefault=none
SlurmdParameters=config_overrides
TreeWidth=65533
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=300
MaxJobCount=20000
MaxArraySize=10001
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=0,bf_interval=2,bf_continue,batch_sched_delay=0,default_queue_depth=1000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
DefMemPerCPU=500
PreemptType=preempt/qos
PreemptMode=REQUEUE
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports["slurmdbd"]}
AccountingStoragePass={shape.socket}
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu
PriorityType=priority/multifactor
PriorityDecayHalfLife=0
PriorityUsageResetPeriod=WEEKLY
PriorityCalcPeriod=1
PriorityFlags=MAX_TRES
PriorityWeightFairshare=100000
PriorityWeightQOS=1000000
PriorityWeightAge=1000
JobAcctGatherFrequency=task=1
{_containment(shape)}
{_nodes(shape)}
PartitionName=main Nodes=ALL Default=YES MaxTime=7-0 State=UP TRESBillingWeights="CPU=0.1,GRES/gpu=1.0"
"""


def cgroup_conf(shape: Shape) -> str:
    """cgroup.conf."""
    return f"""\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace={"yes" if shape.grouped else "no"}
AllowedSwapSpace=0
ConstrainDevices=no
"""


def gres_conf(shape: Shape) -> str:
    """gres.conf: the cards are character devices of our own that read as nothing."""
    files = "gpu0" if shape.gpus == 1 else f"gpu[0-{shape.gpus - 1}]"
    return f"Name=gpu Type=a100 File={shape.folder}/dev/{files} Flags=nvidia_gpu_env\n" if shape.gpus else ""


def _containment(shape: Shape) -> str:
    if shape.grouped:
        return "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\nJobAcctGatherType=jobacct_gather/cgroup"
    return (
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/linux\n"
        "JobAcctGatherParams=OverMemoryKill"
    )


def _nodes(shape: Shape) -> str:
    gres = f" Gres=gpu:a100:{shape.gpus}" if shape.gpus else ""
    size = f"CPUs={shape.cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={shape.cpus} ThreadsPerCore=1"
    lines = [
        # Addresses of their own, all of them this machine: who dials the wrong one notices.
        f"NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.{10 + number} Port={shape.ports['slurmd'] + number} "
        f"{size} RealMemory={shape.memory}{gres} State=UNKNOWN"
        for number, name in enumerate(shape.names)
    ]
    return "\n".join(lines)
