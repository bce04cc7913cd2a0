"""The cluster: up, down, and the faults that tests bring about."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from pathlib import Path

from qianka.testing.slurm import accounts, configs, daemons, leftovers
from qianka.testing.slurm.needs import found, has_control_groups
from qianka.testing.slurm.ports import free_row

_PARTS = ("slurmctld", "slurmdbd", "mariadb")


class Cluster:
    """`nodes` nodes of `cpus` cores, `memory` MiB and `gpus` cards each, whatever the machine has."""

    def __init__(self, nodes: int = 4, *, cpus: int = 16, memory: int = 64_000, gpus: int = 8) -> None:
        folder = Path(tempfile.mkdtemp(prefix=leftovers.PREFIX, dir="/var/tmp"))
        first = free_row(4 + nodes)
        ports = {name: first + number for number, name in enumerate((*_PARTS, "slurmd"))}
        # Node names name control groups as well, and those are the machine's: a tag of our own.
        tag = "q" + "".join(letter for letter in folder.name[-8:].lower() if letter.isalpha())[:6]
        self.shape = configs.Shape(
            folder=folder,
            tag=f"{tag}{first % 1000:03d}x",
            nodes=nodes,
            cpus=cpus,
            memory=memory,
            gpus=gpus,
            ports=ports,
            grouped=has_control_groups(),
        )
        self.folder = folder
        self.conf = folder / "etc/slurm.conf"
        self.names = self.shape.names
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "SLURM_CONF": str(self.conf),
            "LANG": "C.UTF-8",
        }
        self._accounts = accounts.Accounts(self)
        self._mariadb: subprocess.Popen[bytes] | None = None

    def up(self) -> None:
        """Start everything; returns when all nodes are idle. Raises DoesNotStart."""
        leftovers.sweep(self.folder.parent)
        try:
            leftovers.own(self.folder, self.shape.tag)
            self._prepare()
            self._start_munge()
            self._start_mariadb()
            self.start_slurmdbd()
            self.start_slurmctld()
            for name in self.names:
                self.start_slurmd(name)
            if not daemons.wait_for(lambda: self.idle() == len(self.names), 60):
                raise daemons.DoesNotStart("nodes: " + self.ask("sinfo", "-N", "-l"))
            self.ask("sacctmgr", "-i", "add", "account", "course", "Description=course", "Organization=course")
            for name, priority, preempt in (("idle", 0, ""), ("urgent", 1000, "normal,idle")):
                words = [f"priority={priority}", *([f"preempt={preempt}"] if preempt else [])]
                self.ask("sacctmgr", "-i", "add", "qos", name, *words)
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """Stop everything and remove it."""
        if daemons.pid_of(self._pid("slurmctld")) is not None:
            with contextlib.suppress(subprocess.SubprocessError):
                self.ask("scancel", "--partition=main", check=False)
                daemons.wait_for(lambda: not self.ask("squeue", "-h", check=False).strip(), 10)
        # The controller first: without its nodes it waits for them.
        for names in (["slurmctld"], [f"slurmd-{name}" for name in self.names], ["slurmdbd"]):
            daemons.stop([self._pid(name) for name in names])
        daemons.stop([self.folder / "run/mysqld/mysqld.pid", self.folder / "run/munge/munged.pid"])
        if self._mariadb is not None:
            self._mariadb.wait(10)
        self._accounts.remove()
        leftovers.remove_groups(self.names)
        shutil.rmtree(self.folder, ignore_errors=True)

    def person(self, name: str, *, qos: tuple[str, ...] = ("normal",)) -> str:
        """A Unix account for a person or service, known to Slurm's accounting; returns its login."""
        return self._accounts.add(name, qos)

    def ask(self, *argv: str, check: bool = True, stdin: str = "", user: str | None = None) -> str:
        """What a Slurm command prints. Raises CalledProcessError with both outputs in its notes."""
        ended = subprocess.run(
            list(argv),
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            cwd="/",
        )
        if check and ended.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)}: {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def idle(self) -> int:
        """How many nodes are idle."""
        told = self.ask("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", check=False)
        return len(set(told.split()))

    def start_slurmctld(self) -> None:
        """Start the controller and wait until it answers."""
        self._start("slurmctld", ["slurmctld"])
        if not daemons.wait_for(lambda: bool(self.ask("sinfo", "-h", check=False).strip())):
            raise daemons.DoesNotStart(daemons.tail(self.folder / "log/slurmctld.log"))

    def stop_slurmctld(self) -> None:
        """Take the controller away."""
        daemons.stop([self._pid("slurmctld")])

    def start_slurmdbd(self) -> None:
        """Start the accounting and wait until it answers."""
        self._start("slurmdbd", ["slurmdbd"])
        if not daemons.wait_for(lambda: self._succeeds("sacctmgr", "-n", "show", "cluster")):
            raise daemons.DoesNotStart(daemons.tail(self.folder / "log/slurmdbd.log"))

    def stop_slurmdbd(self) -> None:
        """Take the accounting away."""
        daemons.stop([self._pid("slurmdbd")])

    def start_slurmd(self, node: str) -> None:
        """Start a node's daemon."""
        (self.folder / "spool" / node).mkdir(parents=True, exist_ok=True)
        self._start(f"slurmd-{node}", ["slurmd", "-N", node])

    def kill_slurmd(self, node: str) -> None:
        """SIGKILL to a node's daemon; what it started lives on."""
        pid = daemons.pid_of(self._pid(f"slurmd-{node}"))
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def revive(self) -> None:
        """Bring back the nodes whose daemon is gone."""
        for node in self.names:
            if daemons.pid_of(self._pid(f"slurmd-{node}")) is None:
                self.start_slurmd(node)

    def wait_idle(self, seconds: float = 60.0) -> None:
        """Wait until every node is idle again, bringing back those whose daemon is gone."""
        self.revive()
        if not daemons.wait_for(lambda: self.idle() == len(self.names), seconds):
            raise daemons.DoesNotStart("nodes: " + self.ask("sinfo", "-N", "-l"))

    def _prepare(self) -> None:
        self.folder.chmod(0o755)
        for name in ("etc", "run/munge", "run/mysqld", "log", "state", "spool", "dev", "home", "mysql"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for name, owner in {
            "state": "slurm",
            "log": "slurm",
            "run/munge": "munge",
            "run/mysqld": "mysql",
            "mysql": "mysql",
        }.items():
            shutil.chown(self.folder / name, owner)
        for number in range(self.shape.gpus):
            device = self.folder / f"dev/gpu{number}"
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            device.chmod(0o666)
        self.conf.write_text(configs.slurm_conf(self.shape))
        (self.folder / "etc/cgroup.conf").write_text(configs.cgroup_conf(self.shape))
        (self.folder / "etc/gres.conf").write_text(configs.gres_conf(self.shape))
        dbd = self.folder / "etc/slurmdbd.conf"
        dbd.write_text(configs.slurmdbd_conf(self.shape))
        shutil.chown(dbd, "slurm")
        dbd.chmod(0o600)

    def _start_munge(self) -> None:
        key, run = self.folder / "etc/munge.key", self.folder / "run/munge"
        key.write_bytes(os.urandom(1024))
        shutil.chown(key, "munge")
        key.chmod(0o400)
        words = [f"--socket={self.shape.socket}", f"--key-file={key}", f"--log-file={run}/munged.log"]
        words += [f"--pid-file={run}/munged.pid", f"--seed-file={run}/seed", "--num-threads=4"]
        self._start("munged", ["munged", *words], user="munge")

    def _start_mariadb(self) -> None:
        where, run = self.folder / "mysql", self.folder / "run/mysqld"
        socket = run / "mysqld.sock"
        install = ["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={where}", "--skip-test-db"]
        self._start("mysql-install", [*install, "--auth-root-authentication-method=socket"])
        words = ["--no-defaults", "--user=mysql", f"--datadir={where}", f"--socket={socket}"]
        words += [f"--pid-file={run}/mysqld.pid", "--bind-address=127.0.0.1", f"--port={self.shape.ports['mariadb']}"]
        words += ["--innodb-buffer-pool-size=128M", "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin"]
        words += ["--innodb-lock-wait-timeout=900"]
        with (self.folder / "log/mariadbd.log").open("ab") as log:
            # It has no way to become a daemon by itself; it is ended by its pid file like the others.
            self._mariadb = subprocess.Popen(
                [str(found("mariadbd")), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        client = ["mariadb", "--no-defaults", "-S", str(socket)]
        if not daemons.wait_for(lambda: self._succeeds("mariadb-admin", "--no-defaults", "-S", str(socket), "ping")):
            raise daemons.DoesNotStart(daemons.tail(self.folder / "log/mariadbd.log"))
        self.ask(
            *client,
            "-e",
            "create database slurm_acct_db; create user 'slurm'@'127.0.0.1' identified by 'slurmpw'; "
            "grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';",
        )

    def _start(self, name: str, argv: list[str], user: str | None = None) -> None:
        program = found(argv[0]) or argv[0]
        log = self.folder / "log" / f"{name}.out"
        daemons.started([program, *argv[1:]], self.environment, log, user)

    def _succeeds(self, *argv: str) -> bool:
        ended = subprocess.run(argv, env=self.environment, capture_output=True, timeout=30, check=False)
        return ended.returncode == 0

    def _pid(self, name: str) -> Path:
        return self.folder / "run" / f"{name}.pid"

    def __enter__(self) -> Cluster:
        self.up()
        return self

    def __exit__(self, *_: object) -> None:
        self.down()
