"""Slurm's commands, each with a limit of time: squeue, sacct, sinfo, sbatch, scancel."""

from __future__ import annotations

import math
import re
import subprocess
import time
from collections.abc import Iterable, Sequence

from qianka.engines.slurm import parse
from qianka.engines.slurm.models import Line, Machine, Used
from qianka.errors import Refused, Text, Unavailable

PATIENCE = 30.0
"""seconds for an answer; the commands themselves try for about ten to reach the controller"""
_MOST_IDS = 500
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/slurm/bin"
_PASSING = re.compile(
    r"unable to contact|timed out|connect failure|communication|connection|transport|zero bytes|temporar|munge|"
    r"authentication|credential|s_p_parse_file|configuration file|try again|in standby|resource limit|"
    r"error code 1\d\d\d\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"^sbatch: (?:error: |fatal: )?(?:Batch job submission failed: )?(.+)$", re.MULTILINE)


class Client:
    """`conf`: path of slurm.conf, empty for the system's; `user`: uid to run the commands as (root only)."""

    def __init__(self, conf: str = "", *, user: int | None = None, patience: float = PATIENCE) -> None:
        self.environment = {"PATH": _PATH, "LANG": "C.UTF-8", "SLURM_TIME_FORMAT": "%s"}
        if conf:
            self.environment["SLURM_CONF"] = conf
        self._user = user
        self._patience = patience

    def jobs(self) -> dict[str, Line]:
        """All jobs that the controller remembers, those lately ended too, by id. Raises Unavailable."""
        return parse.jobs(self._ask("squeue", "-h", "-r", "-t", "all", "-o", parse.SQUEUE))

    def named(self, name: str, user: str, since: float) -> list[str]:
        """The ids of the jobs of `user` called `name`, ended ones too, oldest first. Raises Unavailable.

        The controller forgets ended jobs after minutes; then the accounting is asked, from `since` on.
        """
        text = self._ask("squeue", "-h", "-r", "-t", "all", f"--name={name}", f"--user={user}", "-o", "%i")
        found = [word for word in text.split() if word.isdecimal()]
        if not found:
            minutes = max(1, math.ceil((time.time() - since) / 60) + 2)
            words = ["-X", "-n", "-P", f"--name={name}", f"--user={user}", f"--starttime=now-{minutes}minutes"]
            text = self._ask("sacct", *words, "-o", "JobID")
            found = [word for word in text.split() if word.isdecimal()]
        return sorted(set(found), key=int)

    def used(self, ids: Sequence[str]) -> dict[str, Used]:
        """What the accounting knows of `ids`. Raises Unavailable."""
        found: dict[str, Used] = {}
        for start in range(0, len(ids), _MOST_IDS):
            some = ",".join(ids[start : start + _MOST_IDS])
            found |= parse.used(self._ask("sacct", "-P", "-n", "-j", some, "-o", parse.SACCT))
        return found

    def machines(self) -> list[Machine]:
        """All nodes. Raises Unavailable."""
        return parse.machines(self._ask("sinfo", "-h", "-N", "-o", parse.SINFO))

    def sbatch(self, options: Iterable[str], script: str) -> str:
        """Submit `script`; the job's id. Raises Refused (Slurm's own words) and Unavailable (try again)."""
        ended = self._run(["sbatch", "--parsable", *options], script)
        if ended.returncode != 0:
            raise refusal(ended.stderr)
        try:
            return parse.submitted(ended.stdout)
        except ValueError as error:
            raise silent("sbatch", str(error)) from error

    def scancel(self, ids: Sequence[str]) -> None:
        """Cancel jobs; those that are over are fine. Raises Unavailable."""
        if ids:
            ended = self._run(["scancel", "--quiet", *ids])
            if ended.returncode != 0 and "Invalid job id" not in ended.stderr and "already" not in ended.stderr:
                raise silent("scancel", ended.stderr)

    def _ask(self, *argv: str) -> str:
        ended = self._run(list(argv))
        if ended.returncode != 0 and argv[0] == "sacct" and "accounting storage is disabled" in ended.stderr:
            return ""  # that is an answer: a site without accounting knows of nothing
        if ended.returncode != 0:
            raise silent(argv[0], ended.stderr)
        return ended.stdout

    def _run(self, argv: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                argv,
                input=stdin,
                env=self.environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self._patience,
                check=False,
                cwd="/",
                user=self._user,
                group=self._user,
                extra_groups=None if self._user is None else [],
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise silent(argv[0], str(error)) from error


def refusal(said: str) -> Refused | Unavailable:
    """What sbatch's complaint means: this job will never be taken, or not just now."""
    if _PASSING.search(said) or not _REFUSED.search(said):
        return silent("sbatch", said)
    why = "; ".join(dict.fromkeys(match[1].strip() for match in _REFUSED.finditer(said)))[:500]
    return Refused(
        Text(f"Slurm 不收这个任务：{why}", f"Slurm does not take this job: {why}"),
        Text(
            "减少资源、换标签，或请管理员看 Slurm 的账户、分区和 QOS",
            "ask for less, take another label, or have the operator look at Slurm's account, partition and QOS",
        ),
        reason="slurm_refused",
        said=why,
    )


def silent(command: str, said: str) -> Unavailable:
    """Slurm does not answer."""
    why = " ".join(said.split())[-300:]
    return Unavailable(
        Text(f"Slurm 没有应答（{command}）：{why}", f"Slurm does not answer ({command}): {why}"),
        Text("平台会自己再问；管理员可用 scontrol ping 检查", "it is asked again by itself; operators: scontrol ping"),
    )
