"""Acting for a person on Slurm: submit, cancel, read, each as the account that job.json names and never as another.

What touches the person's files is done with the person's rights: a link they laid leads only where they may go.
"""

from __future__ import annotations

import grp
import os
import pwd

from qianka.jobdir import out as files
from qianka.launcher import batch
from qianka.launcher.sources import Sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

POWERS = ("sbatch", "scancel", "read")
LEAST_UID = 1000
"""below are the system's own accounts"""
NOBODY = 65534
PATIENCE = 15.0
PIECE = 24 << 10
_FURTHEST = 1 << 60
KEPT = {"stdout": "runs/{run}/stdout.log", "stderr": "runs/{run}/stderr.log", "metrics": "out/metrics.jsonl"}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/slurm/bin"
_CODE = 2 << 30
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotForThem(Exception):
    """A person whom the launcher does not act for, or a place that is no run's; the message says which."""


class Person:
    """An ordinary account. Raises NotForThem for root, system accounts and names that are none."""

    def __init__(self, login: Any, taken: range, group: str = "") -> None:
        """`taken`: uids that runs of the platform get; no person has one of them. `group`: who must be in it."""
        if not isinstance(login, str) or not login:
            raise NotForThem("the job names no account")
        try:
            found = pwd.getpwnam(login)
        except KeyError:
            raise NotForThem(f"there is no account {login!r} on this machine") from None
        if found.pw_uid < LEAST_UID or found.pw_uid == NOBODY or found.pw_uid in taken or found.pw_gid == 0:
            raise NotForThem(f"{login!r} (uid {found.pw_uid}, gid {found.pw_gid}) is no ordinary person's account")
        if group and not _is_in(group, found.pw_name, found.pw_gid):
            raise NotForThem(f"{login!r} is not in the group {group!r} (slurm.group) of this machine")
        self.login, self.uid, self.gid = found.pw_name, found.pw_uid, found.pw_gid

    def act(self, what: Callable[[], Any]) -> Any:
        """Do something with this person's rights."""
        os.setegid(self.gid)
        os.seteuid(self.uid)
        try:
            return what()
        finally:
            os.seteuid(0)
            os.setegid(0)


class Slurm:
    """`conf`: path of slurm.conf, empty for the system's; `group`: the only people acted for, empty for all."""

    def __init__(self, conf: str, sources: Sources, service: tuple[int, int], taken: range, group: str = "") -> None:
        self.environment = {"PATH": _PATH, "LANG": "C.UTF-8"}
        if conf:
            self.environment["SLURM_CONF"] = conf
        self._sources = sources
        self._service = service
        self._taken = taken
        self._group = group

    def answer(self, what: str, job: dict[str, Any], run: int, request: dict[str, Any], script: str) -> dict[str, Any]:
        """Grant one of POWERS for the job's person. Raises NotForThem, NotAllowed, OSError."""
        if job["kind"] != "run":
            raise NotForThem("only a person's own job runs as that person")
        person = Person(job["account"], self._taken, self._group)
        if what == "scancel":
            return self.cancel(person, job, run)
        folder = _checked(request.get("folder"), job["job"])
        if what == "read":
            return self.read(person, job, run, folder, request.get("what"), request.get("offset"))
        return self.submit(person, job, run, folder, script)

    def submit(self, person: Person, job: dict[str, Any], run: int, folder: str, script: str) -> dict[str, Any]:
        """Make the folders, bring the code, call sbatch: {"id"}, or {"said"} when sbatch complained."""
        why = batch.refusal(script)
        if why is not None:
            return refused(why)
        try:
            self._prepare(person, job, run, folder)
        except OSError as error:
            return refused(f"{folder} cannot be made by {person.login}: {error.strerror}")
        # On the command line these go before whatever the script says.
        words = [f"--uid={person.uid}", f"--gid={person.gid}", "--export=NONE", "--no-requeue", "--parsable"]
        words.append("--ignore-pbs")
        status, said, complaint = self._run(["sbatch", *words], script)
        number = said.strip().split(";")[0].splitlines()[-1:] or [""]
        if status != 0 or not number[0].isdecimal():
            return {"ok": True, "said": (complaint or said or f"sbatch: exit {status}")[-2000:]}
        return {"ok": True, "id": number[0]}

    def cancel(self, person: Person, job: dict[str, Any], run: int) -> dict[str, Any]:
        """By name and owner: whatever number the service believes it has, nobody else's job is touched."""
        words = ["--quiet", f"--name={job['job']}.{run}", f"--user={person.login}"]
        status, _, complaint = self._run(["scancel", *words], "")
        if status != 0:
            raise OSError(complaint.strip()[-500:] or f"scancel: exit {status}")
        return {"ok": True}

    def read(
        self, person: Person, job: dict[str, Any], run: int, folder: str, what: Any, offset: Any
    ) -> dict[str, Any]:
        """A piece of what a run printed, base64; empty at the present end and where there is nothing."""
        from binascii import b2a_base64

        if what not in KEPT or not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset < _FURTHEST:
            raise NotForThem(f"{what!r} from {offset!r} on is nothing to read")
        path = f"{folder}/{KEPT[what].format(run=run)}"
        try:
            data = person.act(lambda: _piece(path, offset))
        except OSError:
            data = b""
        return {"ok": True, "data": b2a_base64(data, newline=False).decode("ascii")}

    def _prepare(self, person: Person, job: dict[str, Any], run: int, folder: str) -> None:
        source = self._sources.open(job["work"]) if job["work"] else None
        try:
            person.act(lambda: self._make(folder, run, source, person))
        finally:
            if source is not None:
                os.close(source)

    def _make(self, folder: str, run: int, source: int | None, person: Person) -> None:
        os.makedirs(f"{folder}/runs/{run}", mode=0o755, exist_ok=True)
        os.makedirs(f"{folder}/out", mode=0o755, exist_ok=True)
        if source is None or os.path.lexists(f"{folder}/work"):
            return
        os.makedirs(f"{folder}/work.new", mode=0o755, exist_ok=True)
        target = os.open(f"{folder}/work.new", _FOLDER)
        try:
            # A descriptor of O_PATH cannot be listed: it is opened again, with the service's rights.
            with _As(self._service, person):
                tree = os.open(f"/proc/self/fd/{source}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                files.copy_out(tree, target, files.Report(_CODE), _As(self._service, person))
            finally:
                os.close(tree)
        finally:
            os.close(target)
        os.rename(f"{folder}/work.new", f"{folder}/work")

    def _run(self, argv: list[str], stdin: str) -> tuple[int, str, str]:
        import subprocess

        try:
            ended = subprocess.run(
                argv,
                input=stdin.encode(),
                env=self.environment,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
                cwd="/",
            )
        except subprocess.TimeoutExpired:
            raise OSError(f"{argv[0]} timed out") from None
        return ended.returncode, ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")


def _is_in(group: str, login: str, gid: int) -> bool:
    """Whether an account is in a group of the machine; one that is not there has nobody in it."""
    try:
        return grp.getgrnam(group).gr_gid in os.getgrouplist(login, gid)
    except KeyError:
        return False


def refused(why: str) -> dict[str, Any]:
    """An answer like sbatch's own No: asking again would not help."""
    return {"ok": True, "said": f"sbatch: error: {why}"}


class _As:
    """`with`: the service's rights for a moment, then the person's again."""

    def __init__(self, service: tuple[int, int], person: Person) -> None:
        self._service = service
        self._person = person

    def __enter__(self) -> None:
        _become(*self._service)

    def __exit__(self, *_: object) -> None:
        _become(self._person.uid, self._person.gid)


def _become(uid: int, gid: int) -> None:
    os.seteuid(0)
    os.setegid(gid)
    os.seteuid(uid)


def _checked(folder: Any, job: str) -> str:
    """A run's folder: absolute, without detours, named after its job."""
    if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
        raise NotForThem(f"{folder!r} is no folder of a run")
    parts = folder.split("/")
    if parts[-1] != job or any(part in ("", ".", "..") for part in parts[1:]):
        raise NotForThem(f"{folder!r} is no folder of {job}")
    return folder


def _piece(path: str, offset: int) -> bytes:
    descriptor = os.open(path, _FILE)
    try:
        return os.pread(descriptor, PIECE, offset) if os.fstat(descriptor).st_mode >> 12 == 8 else b""
    finally:
        os.close(descriptor)
