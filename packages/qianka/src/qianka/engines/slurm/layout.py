"""Where a person's own run has its files: in a folder of theirs, on a file system that all nodes see."""

from __future__ import annotations

import pwd

from qianka.engines.slurm.script import Places
from qianka.engines.slurm.site import Site


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
