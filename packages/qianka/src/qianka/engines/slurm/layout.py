"""Where a run has its files: a person's own in a folder of theirs, the platform's in its job directory; both
on file systems that all nodes see."""

from __future__ import annotations

import os
import pwd
import sys

import qianka
from qianka.engines.slurm.script import Places
from qianka.engines.slurm.site import Site

SUPERVISOR = os.path.join(os.path.dirname(os.path.realpath(qianka.__file__)), "supervisor", "__main__.py")


def home_of(login: str) -> str:
    """The home of a login on this machine; /home/LOGIN where it is not known here."""
    try:
        return pwd.getpwnam(login).pw_dir
    except KeyError:
        return f"/home/{login}"


def folder_of(site: Site, job: str, login: str) -> str:
    """The folder of a person's own job: work/ (code), out/, runs/N/."""
    return site.folder.format(home=home_of(login), user=login).rstrip("/") + f"/{job}"


def own_places(site: Site, job: str, run: int, login: str, *, has_code: bool) -> Places:
    """The places of run number `run` of a person's own job."""
    folder = folder_of(site, job, login)
    return Places(
        stdout=f"{folder}/runs/{run}/stdout.log",
        stderr=f"{folder}/runs/{run}/stderr.log",
        out=f"{folder}/out",
        work=f"{folder}/work" if has_code else None,
        comment=f"qianka:{job}:{run}",
    )


def service_places(directory: str, job: str, run: int, work: str | None, supervisor: str = SUPERVISOR) -> Places:
    """The places of a run that the platform's supervisor contains, in the job directory `directory`."""
    python = os.path.realpath(sys.executable)
    return Places(
        stdout=f"{directory}/slurm-{run}.log",
        stderr=f"{directory}/slurm-{run}.log",
        out=f"{directory}/out",
        work=work,
        comment=f"qianka:{job}:{run}",
        supervisor=(python, "-I", "-S", supervisor, "--slurm", directory),
    )
