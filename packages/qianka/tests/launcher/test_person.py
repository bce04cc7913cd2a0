"""The launcher acting for people on Slurm: whom it refuses, and that a person's files are touched with their rights."""

from __future__ import annotations

import base64
import grp
import os
import pwd
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm.script import Places, render
from qianka.engines.slurm.site import Site
from qianka.launcher.person import NotForThem, Person, Slurm
from qianka.launcher.sources import NotAllowed, Sources
from qianka.testing.supervised import ORDINARY

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"),
]
POOL = range(61_000, 62_000)
ALICE = 58_111


class Entry:
    """An account of the system's list, for the names that a test needs."""

    def __init__(self, name: str, uid: int, gid: int) -> None:
        self.pw_name, self.pw_uid, self.pw_gid = name, uid, gid


@pytest.fixture(autouse=True)
def accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "root": (0, 0),
        "toor": (0, 1000),
        "daemon": (1, 1),
        "wheel": (1000, 0),
        "nobody": (65534, 65534),
        "run": (61_005, 61_005),
        "alice": (ALICE, ALICE),
        "bob": (ALICE + 1, ALICE + 1),
    }

    def getpwnam(name: str) -> Entry:
        if name not in known:
            raise KeyError(name)
        return Entry(name, *known[name])

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Where every user can reach it."""
    base = Path(tempfile.mkdtemp(prefix="qianka-person-", dir="/var/tmp"))
    base.chmod(0o755)
    yield base
    shutil.rmtree(base)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A service's data directory, closed, beside a home of alice's."""
    data = tmp_path / "data"
    (data / "trees/t").mkdir(parents=True)
    (data / "trees/t/main.py").write_text("print(1)")
    for path in [data, *data.rglob("*")]:
        os.chown(path, ORDINARY, ORDINARY)
    data.chmod(0o700)
    (tmp_path / "home").mkdir(mode=0o700)
    os.chown(tmp_path / "home", ALICE, ALICE)
    return data


@pytest.fixture
def slurm(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    tools = tmp_path / "tools"
    tools.mkdir()
    log = tmp_path / "asked"
    for name in ("sbatch", "scancel"):
        (tools / name).write_text(f'#!/bin/sh\n(echo {name} "$@"; cat; echo) >> {log}\necho 42\n')
        (tools / name).chmod(0o755)
    slurm = Slurm("/etc/x.conf", Sources(str(data), []), (ORDINARY, ORDINARY), POOL)
    slurm.environment["PATH"] = f"{tools}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return slurm


def job(account: Any = "alice", **changes: Any) -> dict[str, Any]:
    return {"job": "j-1", "kind": "run", "account": account, "work": None, **changes}


def ask(slurm: Slurm, do: str, spec: dict[str, Any], folder: Any, **more: Any) -> dict[str, Any]:
    return slurm.answer(do, spec, 1, {"folder": folder, **more}, "#!/bin/sh\n#SBATCH --nodes=1\n")


@pytest.mark.parametrize(
    "login", ["root", "toor", "daemon", "wheel", "nobody", "run", "nosuch", "", None, 0, ["alice"]]
)
def test_nobody_but_an_ordinary_person_is_acted_for(login: Any) -> None:
    with pytest.raises(NotForThem):
        Person(login, POOL)


def test_where_a_group_is_named_only_its_members_are_acted_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who makes accounts on the platform could else make one by the name of anybody on the cluster."""
    groups = {"course": 7001, "own": ALICE}

    def getgrnam(name: str) -> Any:
        return grp.struct_group((name, "x", groups[name], []))

    monkeypatch.setattr(grp, "getgrnam", getgrnam)
    monkeypatch.setattr(os, "getgrouplist", lambda login, gid: [gid, 7001] if login == "alice" else [gid])
    assert Person("alice", POOL, "course").uid == ALICE
    assert Person("alice", POOL, "own").uid == ALICE
    assert Person("bob", POOL).uid == ALICE + 1
    for login, group in (("bob", "course"), ("alice", "nosuch")):
        with pytest.raises(NotForThem, match=r"\(slurm\.group\)"):
            Person(login, POOL, group)


@pytest.mark.parametrize("kind", ["grade", "reference"])
def test_the_platforms_own_jobs_never_run_as_a_person(slurm: Slurm, tmp_path: Path, kind: str) -> None:
    with pytest.raises(NotForThem, match="own job"):
        ask(slurm, "sbatch", job(kind=kind), f"{tmp_path}/home/j-1")


@pytest.mark.parametrize(
    "folder", ["", None, "home/j-1", "/etc", "/home/j-2", "/home/../etc/j-1", "/home//j-1", "/home/./j-1", "/a\0/j-1"]
)
def test_only_a_folder_of_that_job_is_made(slurm: Slurm, folder: Any) -> None:
    with pytest.raises(NotForThem, match="folder"):
        ask(slurm, "sbatch", job(), folder)


def test_the_code_is_brought_and_the_command_line_says_whose_job_it_is(
    slurm: Slurm, data: Path, tmp_path: Path
) -> None:
    folder = f"{tmp_path}/home/qianka/j-1"
    assert ask(slurm, "sbatch", job(work=f"{data}/trees/t"), folder) == {"ok": True, "id": "42"}
    asked = (tmp_path / "asked").read_text()
    first = asked.splitlines()[0].split()
    assert {f"--uid={ALICE}", f"--gid={ALICE}", "--export=NONE", "--no-requeue", "--ignore-pbs"} <= set(first)
    made = Path(folder)
    assert (made / "work/main.py").read_text() == "print(1)"
    assert {path.lstat().st_uid for path in [made, *made.rglob("*")]} == {ALICE}
    assert os.geteuid() == 0


def test_a_link_that_the_person_laid_leads_only_where_the_person_may_go(slurm: Slurm, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    os.symlink(closed, tmp_path / "home/qianka")
    answer = ask(slurm, "sbatch", job(), f"{tmp_path}/home/qianka/j-1")
    assert "cannot be made by alice" in answer["said"]
    assert not (tmp_path / "asked").exists()
    assert not list(closed.iterdir())
    assert os.geteuid() == 0


def test_code_outside_of_the_data_directory_is_not_brought(slurm: Slurm, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)
    with pytest.raises(NotAllowed):
        ask(slurm, "sbatch", job(work=str(secret)), f"{tmp_path}/home/j-1")


def test_reading_is_done_with_the_persons_rights(slurm: Slurm, tmp_path: Path) -> None:
    folder = tmp_path / "home/j-1"
    (folder / "runs/1").mkdir(parents=True)
    (folder / "runs/1/stdout.log").write_text("hello")
    os.symlink("/etc/shadow", folder / "runs/1/stderr.log")
    os.mkfifo(folder / "metrics")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, ALICE, ALICE, follow_symlinks=False)

    def read(what: Any, offset: Any = 0) -> bytes:
        return base64.b64decode(ask(slurm, "read", job(), str(folder), what=what, offset=offset)["data"])

    assert (read("stdout"), read("stdout", 3), read("stdout", 99)) == (b"hello", b"lo", b"")
    assert read("stderr") == b""
    assert read("metrics") == b""
    for what, offset in (
        ("../../x", 0),
        ("stdout", -1),
        ("stdout", 1 << 64),
        ("stdout", True),
        ("stdout", "0"),
        (None, 0),
    ):
        with pytest.raises(NotForThem):
            read(what, offset)


def test_cancelling_names_job_and_owner_never_a_number(slurm: Slurm, tmp_path: Path) -> None:
    assert ask(slurm, "scancel", job(), None) == {"ok": True}
    assert "--name=j-1.1 --user=alice" in (tmp_path / "asked").read_text()


def test_a_complaint_of_sbatch_is_handed_on(slurm: Slurm, tmp_path: Path) -> None:
    (tmp_path / "tools/sbatch").write_text("#!/bin/sh\necho 'sbatch: error: no' >&2\nexit 1\n")
    assert ask(slurm, "sbatch", job(), f"{tmp_path}/home/j-1") == {"ok": True, "said": "sbatch: error: no\n"}


@pytest.mark.parametrize(
    "line",
    [
        "#SBATCH --nodelist=/dev/zero",
        "#SBATCH --nodel ./hosts",
        "#SBATCH -w/root/secret",
        '#SBATCH "--exclude=/root/secret"',
        "#SBATCH --exclude=a -x /root/secret",
        "#SBATCH --nodefile=/root/secret",
        "#SBATCH -sF/root/secret",
        "#SBATCH --export-file=/root/secret",
        '#SBATCH --ex"port"-f\\ile=/root/secret',
        "#SBATCH --nodes=1 --bbf=/root/secret",
        "#SBATCH --get-user-env",
        "#SBATCH --priority=4000000",
        "#SBATCH --nice=-5000",
        "#SBATCH --ni=-5000",
        "#SBATCH --reboot",
        "#SBATCH --wait",
        "#SBATCH -W",
        "#SBATCH\t--uid=0",
        "#SBATCH --nodes=1\0",
    ],
)
def test_root_submits_nothing_that_reads_files_or_grants_powers_as_root(
    slurm: Slurm, tmp_path: Path, line: str
) -> None:
    """Each of them is obeyed by sbatch when root calls it, though the job is another's."""
    answer = slurm.answer("sbatch", job(), 1, {"folder": f"{tmp_path}/home/j-1"}, f"#!/bin/bash\n{line}\ntrue\n")
    assert answer["said"].startswith("sbatch: error: ")
    assert not (tmp_path / "asked").exists()
    assert not (tmp_path / "home/j-1").exists()


def test_a_script_as_the_platform_writes_it_passes(slurm: Slurm, tmp_path: Path) -> None:
    site = Site(
        directives=("--constraint=ib|hdr", "--wait-all-nodes=1", "--nice=100"),
        partition="gpu",
        account="ai",
        template=None,
    )
    spec = {
        **job(argv=["bash", "-c", "#SBATCH --uid=0\n#SBATCH --uid=0"]),
        "name": "--uid=0",
        "resources": {"cpus": 2, "memory": 1 << 30, "gpus": 1, "nodes": 2, "exclusive": True},
        "limits": {"wall": 60},
        "sbatch": ["--nodelist=n[1-2]", "--exclude=n3", "--mail-type=END", "--reservation=exam"],
    }
    folder = f"{tmp_path}/home/a folder/j-1"
    places = Places(stdout=f"{folder}/o", stderr=f"{folder}/e", out=f"{folder}/out", comment="qianka:j-1:1")
    assert slurm.answer("sbatch", spec, 1, {"folder": folder}, render(spec, 1, site, places)) == {
        "ok": True,
        "id": "42",
    }
