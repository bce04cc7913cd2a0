"""What the launcher does for the service: start, kill, clean. Each request names a job; the rest is read here."""

from __future__ import annotations

import os

from qianka.jobdir import out as pickup
from qianka.jobdir import records, spec
from qianka.jobdir.codec import FormatError, dumps
from qianka.jobdir.files import read_bytes
from qianka.jobdir.layout import run_dir, safe_id
from qianka.launcher import forked, system
from qianka.launcher.person import POWERS, NotForThem, Slurm, refused
from qianka.launcher.register import Register
from qianka.launcher.sources import NotAllowed, Sources
from qianka.launcher.stage import Stage
from qianka.launcher.uids import NoneFree, UidPool, lives
from qianka.sandbox import cgroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
TERM = 15


class Refusal(Exception):
    """A request that is not granted; the message is the answer."""


class Launcher:
    """Root's hand for one data directory; `service` is the uid and gid that own it."""

    def __init__(
        self,
        data: str,
        service: tuple[int, int],
        pool: UidPool,
        sources: Sources,
        place: str,
        level: dict[str, Any],
        register: Register,
    ) -> None:
        self.jobs = os.path.join(data, "jobs")
        self.service = service
        self.pool = pool
        self.sources = sources
        self.place = place
        self.level = level
        self.register = register
        self.running: dict[int, tuple[str, int, tuple[int, ...]]] = {}
        """pid of a supervisor → job, run, uids"""
        self.slurm: Slurm | None = None
        """acts for people where the platform uses Slurm"""

    def adopt(self) -> int:
        """Find the supervisors that other launchers started, so that their uids stay theirs; returns ours."""
        for pid, (jobs, job, run, uids) in self.register.living().items():
            # Another platform on this machine may share the pool: its uids are kept, its runs are not ours.
            self.running[pid] = (job if jobs == self.jobs else "", run, uids)
            self.pool.keep(*uids)
        return sum(bool(job) for job, _, _ in self.running.values())

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Grant or refuse one request."""
        try:
            what = request.get("do")
            if what == "ping":
                self.forget_the_gone()  # of an end we may hear a moment after whoever asks
                return {"ok": True, "uid": os.getuid(), "running": len(self.running), **self.level}
            job = safe_id(request.get("job"))
            if what == "start":
                return self._start(job, _run_number(request))
            if what == "kill":
                return self._kill(job, _run_number(request))
            if what == "clean":
                return self._clean(job)
            if what in POWERS:
                return self._for_person(what, job, _run_number(request), request)
            raise Refusal(f"{what!r} is nothing a launcher does: start, kill, clean, ping, {', '.join(POWERS)}")
        except (Refusal, NoneFree, NotAllowed, NotForThem, OSError) as error:
            return {"ok": False, "error": str(error)}
        except (ValueError, TypeError, KeyError) as error:
            # What the service wrote is no job: a name with a NUL, a script that is no text. The launcher goes on.
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}

    def ended(self, pid: int) -> None:
        """A supervisor is gone."""
        known = self.running.pop(pid, None)
        if known is not None:
            # One that was started twice goes at once, and the run is the other's.
            if not any(other[:2] == known[:2] for other in self.running.values()):
                self._end_the_rest(*known[:2])
            self.pool.give_back(*known[2])
            self.register.strike(pid)

    def _end_the_rest(self, job: str, run: int) -> None:
        """What a killed supervisor has left: a sandbox that was just being made does not end with it by itself."""
        directory = os.path.join(self.jobs, job)
        try:
            place = self._as_service(lambda: os.stat(directory).st_ino)
        except OSError:
            return
        for peer in (False, True):
            cgroup.end(cgroup.name_of(job, place, run, peer))

    def forget_the_gone(self) -> None:
        """Let go of supervisors that ended: adopted ones are not our children, of others we may not have heard yet."""
        for pid in [pid for pid in self.running if not lives(pid)]:
            self.ended(pid)

    def _start(self, job: str, run: int) -> dict[str, Any]:
        directory = os.path.join(self.jobs, job)
        if not self._as_service(lambda: os.path.isdir(directory)):
            raise Refusal(f"there is no job {job}")
        self.forget_the_gone()
        uids = self.pool.take(2 if self._as_service(lambda: _is_paired(directory)) else 1)
        try:
            pid = os.fork()
        except OSError:
            self.pool.give_back(*uids)
            raise
        if pid == 0:
            self._become_supervisor(directory, job, run, uids)
        self.running[pid] = (job, run, uids)
        return {"ok": True, "pid": pid, "uid": uids[0]}

    def _kill(self, job: str, run: int) -> dict[str, Any]:
        # By our own list, never by what a file of the service says: it could name any process.
        self.forget_the_gone()
        pids = [pid for pid, known in self.running.items() if known[:2] == (job, run)]
        for pid in pids:
            os.kill(pid, TERM)
        return {"ok": True, "killed": len(pids)}

    def _clean(self, job: str) -> dict[str, Any]:
        self.forget_the_gone()
        if any(known[0] == job for known in self.running.values()):
            raise Refusal(f"{job} is running")
        jobs = self._as_service(lambda: os.open(self.jobs, _FOLDER))
        try:
            pickup.remove(jobs, job)
        finally:
            os.close(jobs)
        return {"ok": True}

    def _for_person(self, what: str, job: str, run: int, request: dict[str, Any]) -> dict[str, Any]:
        if self.slurm is None:
            raise Refusal("this platform does not use Slurm")
        directory = os.path.join(self.jobs, job)
        text = self._as_service(lambda: spec.filled(records.read_job(directory)))
        script = b""
        if what == "sbatch":
            script = self._as_service(lambda: read_bytes(os.path.join(directory, f"slurm-{run}.sh")))
        try:
            return self.slurm.answer(what, text, run, request, script.decode())
        except NotForThem as error:
            if what != "sbatch":
                raise
            return refused(str(error))  # whoever waits for the job is told, instead of it being tried for ever

    def _become_supervisor(self, directory: str, job: str, run: int, uids: tuple[int, ...]) -> None:
        """In the fork: enter the register, mount the stage, supervise; never returns."""
        try:
            os.setsid()
            words = [directory, str(run), "--uid", str(uids[0])]
            words += ["--peer-uid", str(uids[1])] if len(uids) > 1 else []
            words += ["--stage", self.place, "--owner", "{}:{}".format(*self.service)]
            try:
                self.register.enter(self.jobs, job, run, *uids)
                # First, since what is opened before belongs to other mounts and could not be bound.
                system.own_mounts()
                text, out = self._as_service(lambda: self._read(directory, run))
                bwrap = Stage(self.place, self.sources).build(text, out, uids, self.level["bwrap"])
                if bwrap:
                    words += ["--bwrap", bwrap, "--bwrap-version", self.level["bwrap_version"]]
                known = {key: self.level.get(key) for key in ("backend", "level", "missing", "engine")}
                words += ["--known", dumps(known)]
            except (OSError, FormatError, NotAllowed, KeyError, TypeError) as error:
                # The supervisor writes it down: a run that was asked for always gets a result.
                words += ["--fault", f"{type(error).__name__}: {error}"]
            forked.become(words)
        finally:
            os._exit(forked.FAILED)

    def _read(self, directory: str, run: int) -> tuple[dict[str, Any], int | None]:
        """With the service's rights: the job, and for a folder volume the folder."""
        run_dir(directory, run)
        job = spec.filled(records.read_job(directory))
        if job["isolation"]["backend"] == "none":
            raise NotAllowed("the launcher runs nothing without a sandbox")
        if job["volume"] == "tmpfs":
            return job, None
        os.makedirs(os.path.join(directory, "out"), exist_ok=True)
        return job, os.open(os.path.join(directory, "out"), _FOLDER)

    def _as_service(self, act: Any) -> Any:
        """Do something in the data directory with no more rights than its owner has."""
        uid, gid = self.service
        os.setegid(gid)
        os.seteuid(uid)
        try:
            return act()
        finally:
            os.seteuid(0)
            os.setegid(0)


def _is_paired(directory: str) -> bool:
    """Whether a job has two sides; a job that cannot be read has one, and its supervisor says what is wrong."""
    try:
        return records.read_job(directory).get("peer") is not None
    except (OSError, FormatError):
        return False


def _run_number(request: dict[str, Any]) -> int:
    run = request.get("run")
    if isinstance(run, bool) or not isinstance(run, int) or run < 1:
        raise Refusal(f"{run!r} is no run number")
    return run
