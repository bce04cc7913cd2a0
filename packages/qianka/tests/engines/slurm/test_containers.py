"""Jobs in containers: the command lines. Apptainer itself is not on every machine, so they are looked at, not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm.script import Places, render
from qianka.engines.slurm.site import Containers, Site
from qianka.errors import ConfigError, Refused

Make = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
ENGINE = str(Path(__file__).with_name("standin") / "bin/container")
SITE = Site(
    containers=Containers(
        kinds=("apptainer", "docker", "podman"),
        images=("/nfs/images/*.sif", "docker://pytorch/*", "course:*"),
        mounts=("/nfs/data",),
        commands=dict.fromkeys(("apptainer", "docker", "podman"), (ENGINE,)),
    )
)
IMAGES = {"apptainer": "/nfs/images/a b.sif", "docker": "course:1", "podman": "course:1"}


def words_of(run: Run, job: dict[str, Any], tmp_path: Path, **more: str) -> list[str]:
    """The words that the container engine was called with."""
    told = tmp_path / "words"
    done = run(job, SITE, CONTAINER_WORDS=str(told), **more)
    assert (done.code, done.err) == (0, "")
    return told.read_text().splitlines()


def in_container(job: Make, kind: str, **changes: Any) -> dict[str, Any]:
    return job(container={"kind": kind, "image": IMAGES[kind]}, **changes)


def test_apptainer_shows_no_cards_to_a_job_without(job: Make, places: Places) -> None:
    assert "--nv" not in render(in_container(job, "apptainer"), 1, SITE, places)


def test_apptainer_mounts_code_and_output_and_shows_the_cards(job: Make, run: Run, tmp_path: Path) -> None:
    found = words_of(run, in_container(job, "apptainer", resources={"gpus": 2}), tmp_path)
    assert found == [
        "exec",
        "--nv",
        "--bind",
        f"{tmp_path / 'out'}:/out",
        "--bind",
        f"{tmp_path / 'work'}:/work:ro",
        "--bind",
        "/nfs/data:/nfs/data:ro",
        "--pwd",
        "/out",
        "/nfs/images/a b.sif",
        "python",
        "/work/show.py",
    ]


@pytest.mark.parametrize("kind", ["docker", "podman"])
def test_docker_and_podman_run_as_the_person_with_the_jobs_limits(
    job: Make, run: Run, tmp_path: Path, kind: str
) -> None:
    asked = {"gpus": 2, "memory": 2 << 30, "cpus": 3.0}
    made = in_container(job, kind, resources=asked, environment={"LR": "0.1"})
    found = words_of(run, made, tmp_path, SLURM_STEP_GPUS="2,5")
    run_words = found[: found.index("course:1") + 3]
    text = " ".join(run_words)
    assert run_words[:2] == ["run", "--rm"]
    assert f"--shm-size={1 << 30}" in text
    assert f"--name qianka-41-0-0 --user {os.getuid()}:{os.getgid()}" in text
    # Podman's container is in the job's control group, Docker's is not.
    assert (f"--memory={2 << 30} --cpus=3" in text) == (kind == "docker")
    assert f"--volume {tmp_path / 'out'}:/out --volume {tmp_path / 'work'}:/work:ro" in text
    assert "--env LR" in text
    assert "--env QIANKA_OUT" in text
    assert "LR=0.1" not in text  # a value on a command line is seen by everybody on the node
    assert run_words[-3:] == ["course:1", "python", "/work/show.py"]
    cards = '--gpus "device=2,5"' if kind == "docker" else "--device nvidia.com/gpu=2 --device nvidia.com/gpu=5"
    assert cards in text
    # It is no child of the step, so it is removed when the step ends.
    assert found[-3:] == ["rm", "--force", "qianka-41-0-0"]


def test_a_container_sees_its_own_places(job: Make, run: Run, tmp_path: Path) -> None:
    made = in_container(job, "apptainer", argv=["python", "/work/show.py", "/out/x"])
    assert words_of(run, made, tmp_path)[-3:] == ["python", "/work/show.py", "/out/x"]
    assert "QIANKA_OUT=/out " in render(made, 1, SITE, Places(stdout="/o", stderr="/e", out="/home/x/out", work="/w"))


@pytest.mark.parametrize("kind", ["apptainer", "docker"])
def test_torchrun_is_started_inside(job: Make, run: Run, tmp_path: Path, kind: str) -> None:
    made = in_container(job, kind, torchrun=True, resources={"nodes": 2, "gpus": 4})
    text = "\n".join(words_of(run, made, tmp_path))
    assert text.count("python\n-m\ntorch.distributed.run\n--nnodes=2\n--nproc-per-node=4") == 2
    assert text.count("is_host=true") == text.count("is_host=false") == 1
    assert text.count("/work/show.py") == 2


@pytest.mark.parametrize(
    ("kind", "image"),
    [
        ("apptainer", "/home/x/own.sif"),
        ("apptainer", "docker://evil/x"),
        ("apptainer", "/nfs/images/../../home/x/own.sif"),
        ("docker", "--privileged"),
        ("docker", "course"),
        ("podman", ""),
    ],
)
def test_an_image_that_the_site_does_not_list_is_refused(job: Make, places: Places, kind: str, image: str) -> None:
    with pytest.raises(Refused) as refused:
        render(job(container={"kind": kind, "image": image}), 1, SITE, places)
    assert "/nfs/images/*.sif" in (refused.value.hint.en if refused.value.hint else "")


def test_without_containers_in_the_site_there_are_none(job: Make, places: Places) -> None:
    with pytest.raises(Refused, match="runs no docker containers"):
        render(in_container(job, "docker"), 1, Site(), places)


def test_a_sites_default_holds_for_jobs_that_name_none(job: Make, places: Places) -> None:
    site = replace(SITE, containers=replace(SITE.containers, default=("apptainer", "/nfs/images/course.sif")))
    assert "/nfs/images/course.sif python /work/show.py" in render(job(), 1, site, places)
    # The platform's own runs bring their sandbox.
    supervised = replace(places, supervisor=("python", "supervisor", "DIR"))
    assert "course.sif" not in render(job(), 1, site, supervised)
    with pytest.raises(Refused, match="inside of the platform's sandbox"):
        render(in_container(job, "docker"), 1, site, supervised)


def test_a_path_that_a_mount_would_misread_is_told_of(job: Make, places: Places) -> None:
    with pytest.raises(ConfigError, match="no container can mount"):
        render(in_container(job, "apptainer"), 1, SITE, replace(places, out="/a:/etc"))


def test_a_site_adds_options_before_the_image(job: Make, places: Places) -> None:
    more = {"podman": ("--cgroups=disabled",), "apptainer": ("--cleanenv",)}
    site = replace(SITE, containers=replace(SITE.containers, options=more))
    assert "--workdir /out --cgroups=disabled course:1" in render(in_container(job, "podman"), 1, site, places)
    text = render(in_container(job, "apptainer"), 1, site, places)
    assert "--pwd /out --cleanenv '/nfs/images/a b.sif'" in text


@pytest.fixture(scope="module")
def podman() -> Iterator[tuple[str, ...]]:
    """Podman with a store of its own and one image: empty, but for links to the machine's /usr."""
    program = shutil.which("podman")
    if program is None:
        pytest.skip("needs the package podman")
    # Podman takes no long paths for its sockets.
    folder = Path(tempfile.mkdtemp(prefix="qianka-", dir="/var/tmp"))
    with tarfile.open(folder / "image.tar", "w") as archive:
        for name in ("bin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            archive.addfile(link)
        for name in ("usr", "out", "work", "tmp", "proc", "dev", "sys", "etc"):
            made = tarfile.TarInfo(name)
            made.type, made.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(made)
    command = (program, "--root", str(folder / "store"), "--runroot", str(folder / "run"), "--storage-driver=vfs")
    command += ("--cgroup-manager=cgroupfs",)
    subprocess.run([*command, "import", "-q", str(folder / "image.tar"), "course:1"], check=True, timeout=60)
    yield command
    subprocess.run([*command, "rm", "--all", "--force"], check=False, capture_output=True, timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.root
@pytest.mark.slow
def test_podman_really_runs_it(job: Make, run: Run, podman: tuple[str, ...], tmp_path: Path) -> None:
    site = replace(SITE, containers=replace(SITE.containers, mounts=("/usr",), commands={"podman": podman}))
    (tmp_path / "work/x.sh").write_text('echo "$1 $LR $QIANKA_OUT"; echo made > /out/made; echo no > /work/no; exit 3')
    made = in_container(job, "podman", argv=["/bin/sh", "/work/x.sh", "it's $(here)"], environment={"LR": "a b"})
    done = run(made, site)
    assert done.out == "it's $(here) a b /out\n", done.err
    assert (tmp_path / "out/made").read_text() == "made\n"
    assert "Read-only file system" in done.err
    assert done.code == 3
    left = subprocess.run([*podman, "ps", "--all", "--quiet"], check=True, capture_output=True, text=True, timeout=60)
    assert left.stdout == ""
