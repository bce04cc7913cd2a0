"""site.toml is mended and changed while the engine runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qianka import jobdir
from qianka.engines.slurm import sitefile
from qianka.engines.slurm.client import Client
from qianka.engines.slurm.hands import OwnHand
from qianka.engines.slurm.submitting import Submitting
from qianka.errors import Refused, Unavailable


class Sbatch(Client):
    """Takes every script and keeps it."""

    def __init__(self) -> None:
        super().__init__("")
        self.scripts: list[str] = []

    def sbatch(self, options: Any, script: str) -> str:
        self.scripts.append(script)
        return str(len(self.scripts))

    def named(self, name: str, user: str, since: float) -> list[str]:
        return []


@pytest.fixture
def site(tmp_path: Path) -> Path:
    file = tmp_path / "site.toml"
    file.write_text(f'folder = "{tmp_path}/{{user}}"\n[partition]\ndefault = "first"\n')
    return file


@pytest.fixture
def slurm() -> Sbatch:
    return Sbatch()


@pytest.fixture
def submit(tmp_path: Path, site: Path, slurm: Sbatch, job: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    at_start = sitefile.load(site)
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    hand = OwnHand(slurm, at_start)
    submitting = Submitting(jobs, slurm, at_start, hand, hand, login="qianka", reread=lambda: sitefile.load(site))

    def run(name: str, **changes: Any) -> Any:
        made = {"format": 1, "kind": "grade", **job(job=name, **changes)}
        return submitting.submit(jobdir.filled(made), jobdir.make(jobs, made), 1)

    return run


def test_a_change_holds_for_the_next_job(submit: Callable[..., Any], site: Path, slurm: Sbatch) -> None:
    submit("j-1")
    site.write_text('[partition]\ndefault = "the other"\n'.replace("the other", "other"))
    submit("j-2")
    assert ["--partition=first" in slurm.scripts[0], "--partition=other" in slurm.scripts[1]] == [True, True]


@pytest.mark.parametrize("whose", [{}, {"kind": "run", "account": "alice"}], ids=["ours", "a person's"])
def test_a_mistake_makes_jobs_wait_until_it_is_mended(
    submit: Callable[..., Any], site: Path, slurm: Sbatch, whose: dict[str, Any]
) -> None:
    site.write_text('[partition]\ndefalut = "x"\n')
    with pytest.raises(Unavailable, match=r"site\.toml:2"):
        submit("j-1", **whose)
    assert slurm.scripts == []
    site.write_text('[partition]\ndefault = "mended"\n')
    assert submit("j-1", **whose).id == "1"
    assert "--partition=mended" in slurm.scripts[0]


def test_what_the_site_forbids_by_then_is_refused(submit: Callable[..., Any], site: Path) -> None:
    site.write_text('[sbatch]\nforbid = ["partition"]\n')
    with pytest.raises(Refused, match="--partition"):
        submit("j-1", sbatch=["--partition=x"])


def test_people_keep_their_folders_until_a_restart(
    submit: Callable[..., Any], site: Path, slurm: Sbatch, tmp_path: Path
) -> None:
    """What runs is looked for where it was started."""
    site.write_text('folder = "/elsewhere/{user}"\n')
    submit("j-1", kind="run", account="alice")
    assert f"--output={tmp_path}/alice/j-1/runs/1/stdout.log" in slurm.scripts[0]
