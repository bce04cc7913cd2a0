"""Who submits and reads for a person's own job: we ourselves, or the launcher that runs as root."""

from __future__ import annotations

import base64
import os
import pwd
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from qianka import jobdir
from qianka.engines.slurm import layout
from qianka.engines.slurm.client import Client, refusal
from qianka.engines.slurm.site import Site
from qianka.errors import Unavailable
from qianka.jobdir import out as files

OPTIONS = ("--export=NONE", "--no-requeue")
"""clean environment; a requeue is the platform's: a new run with a number of its own"""
PIECE = 24 << 10
"""bytes of a log read at once"""
KEPT = {"stdout": "stdout.log", "stderr": "stderr.log", "metrics": "metrics.jsonl"}
_CODE = 2 << 30
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Hand(Protocol):
    """Acts for a person; every method may raise Unavailable."""

    def submit(self, job: Mapping[str, Any], run: int, script: str) -> str:
        """Make the folder, bring the code, submit; the Slurm id. Raises Refused."""
        ...

    def cancel(self, job: Mapping[str, Any], run: int, slurm_id: str) -> None:
        """Ask Slurm for the end."""
        ...

    def read(self, job: Mapping[str, Any], run: int, what: str, offset: int) -> bytes:
        """A piece of stdout, stderr or metrics from byte `offset` on; empty at the present end."""
        ...


def own_login() -> str:
    """The login of this process."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


class OwnHand:
    """For the jobs of whoever runs the platform: no other rights are needed."""

    def __init__(self, client: Client, site: Site) -> None:
        self._client = client
        self._site = site

    def submit(self, job: Mapping[str, Any], run: int, script: str) -> str:
        folder = Path(layout.folder_of(self._site, str(job["job"]), str(job["account"])))
        (folder / "runs" / str(run)).mkdir(parents=True, exist_ok=True)
        (folder / "out").mkdir(exist_ok=True)
        if job.get("work") and not (folder / "work").exists():
            _copy(Path(job["work"]), folder)
        return self._client.sbatch(OPTIONS, script)

    def cancel(self, job: Mapping[str, Any], run: int, slurm_id: str) -> None:
        self._client.scancel([slurm_id])

    def read(self, job: Mapping[str, Any], run: int, what: str, offset: int) -> bytes:
        folder = layout.folder_of(self._site, str(job["job"]), str(job["account"]))
        path = f"{folder}/out/metrics.jsonl" if what == "metrics" else f"{folder}/runs/{run}/{KEPT[what]}"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            return os.pread(descriptor, PIECE, offset)
        except OSError:
            return b""
        finally:
            os.close(descriptor)


class LauncherHand:
    """Through the launcher, which reads job.json itself and becomes the person named there."""

    def __init__(self, jobs: Path, site: Site, ask: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._jobs = jobs
        self._site = site
        self._ask = ask

    def submit(self, job: Mapping[str, Any], run: int, script: str) -> str:
        path = Path(jobdir.job_dir(self._jobs, str(job["job"]))) / f"slurm-{run}.sh"
        path.write_text(script, "utf-8")
        answer = self._ask(self._request("sbatch", job, run))
        if answer.get("said"):
            raise refusal(str(answer["said"]))
        return str(answer["id"])

    def cancel(self, job: Mapping[str, Any], run: int, slurm_id: str) -> None:
        self._ask(self._request("scancel", job, run))

    def read(self, job: Mapping[str, Any], run: int, what: str, offset: int) -> bytes:
        answer = self._ask({**self._request("read", job, run), "what": what, "offset": offset})
        return base64.b64decode(str(answer.get("data") or ""))

    def _request(self, do: str, job: Mapping[str, Any], run: int) -> dict[str, Any]:
        folder = layout.folder_of(self._site, str(job["job"]), str(job["account"]))
        return {"do": do, "job": job["job"], "run": run, "folder": folder}


def mirror(hand: Hand, job: Mapping[str, Any], directory: str, run: int, *, pieces: int) -> None:
    """Append what a person's job printed since the last time to the run's folder, where everybody looks for it."""
    caps = {"stdout": int(job["limits"].get("output", 1 << 20)), "metrics": 16 << 20}
    caps["stderr"] = caps["stdout"]
    for what, name in KEPT.items():
        path = os.path.join(jobdir.run_dir(directory, run), name)
        try:
            have = os.path.getsize(path)
        except OSError:
            have = 0
        for _ in range(pieces):
            if have >= caps[what]:
                break
            try:
                piece = hand.read(job, run, what, have)[: caps[what] - have]
            except Unavailable:
                return  # the next look brings it
            if not piece:
                break
            with open(path, "ab") as file:
                file.write(piece)
            have += len(piece)


def _copy(tree: Path, folder: Path) -> None:
    """The code beside the run, whole or not at all."""
    aside = folder / "work.new"
    aside.mkdir(exist_ok=True)
    source, target = os.open(tree, _FOLDER), os.open(aside, _FOLDER)
    try:
        files.copy_out(source, target, files.Report(_CODE))
    finally:
        os.close(source)
        os.close(target)
    aside.rename(folder / "work")
