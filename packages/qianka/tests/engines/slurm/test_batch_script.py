"""The batch script: what sbatch is told, and what the job's command then really is."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm.script import Places, port_of, render, time_limit
from qianka.engines.slurm.site import Site
from qianka.errors import ConfigError, Refused

HOSTILE = [
    "it's",
    'a "quote"',
    "$(touch pwned)",
    "`id`",
    "two\nlines",
    "TASK\nTASK\n",
    "*",
    "",
    "-rf",
    "\\",
    "训练 集",
    "\t#",
]

STANDIN = Path(__file__).with_name("standin")

Make = Callable[..., dict[str, Any]]
Run = Callable[..., Any]


def directives(text: str) -> list[str]:
    """The options that sbatch reads: of the first comment lines only."""
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if line.startswith("#SBATCH "):
            found += shlex.split(line.removeprefix("#SBATCH "))
    return found


def test_what_was_asked_for_becomes_options_of_sbatch(job: Make, places: Places) -> None:
    asked = {"nodes": 2, "gpus": 8, "memory": 32 << 30, "cpus": 12.5, "exclusive": True}
    text = render(job(resources=asked, label="urgent", limits={"wall": 5400.0}), 3, Site(), places)
    found = directives(text)
    assert {
        "--nodes=2",
        "--ntasks-per-node=1",
        "--cpus-per-task=13",
        "--mem=32768M",
        "--gres=gpu:8",
        "--time=0-01:30:00",
        "--exclusive",
        "--qos=urgent",
        "--job-name=j-1.3",
        "--no-requeue",
        f"--output={places.stdout}",
        f"--chdir={places.out}",
    } <= set(found)
    assert not [option for option in found if option.startswith(("--uid", "--gid", "--export", "--partition", "--acc"))]


def test_a_site_puts_its_own_account_partition_and_lines(job: Make, places: Places) -> None:
    site = Site(
        account="lab",
        accounts={"ai-2026": "course"},
        partition="cpu",
        partition_gpu="gpu",
        partitions={"idle": "scavenge"},
        qos={"normal": "ordinary"},
        gres="gpu:a100",
        directives=("--constraint=ib",),
    )
    found = directives(render(job(cohort="ai-2026", resources={"gpus": 2}), 1, site, places))
    assert {"--account=course", "--partition=gpu", "--gres=gpu:a100:2", "--qos=ordinary", "--constraint=ib"} <= set(
        found
    )
    found = directives(render(job(label="idle"), 1, site, places))
    assert {"--account=lab", "--partition=scavenge"} <= set(found)
    assert not [option for option in found if option.startswith(("--gres", "--qos"))]
    assert "--partition=cpu" in directives(render(job(), 1, site, places))


def test_what_a_person_passes_comes_last_and_so_counts(job: Make, places: Places) -> None:
    site = Site(partition="cpu", directives=("--constraint=ib",))
    found = directives(render(job(sbatch=["--partition=fast", '--constraint=a "b"']), 1, site, places))
    assert found[-3:] == ["--constraint=ib", "--partition=fast", '--constraint=a "b"']


def test_an_option_that_slipped_into_a_job_is_refused_where_it_is_used(job: Make, places: Places) -> None:
    with pytest.raises(Refused, match="may not pass --uid"):
        render(job(sbatch=["--uid=0"]), 1, Site(), places)


@pytest.mark.parametrize("word", HOSTILE)
def test_an_argument_reaches_the_program_as_it_was_given(job: Make, run: Run, word: str, tmp_path: Path) -> None:
    done = run(job(argv=["python", "/work/show.py", word, "last"], environment={"MINE": word}, name=word))
    assert (done.code, done.err) == (0, "")
    arguments, environment, cwd = json.loads(done.out)
    assert (arguments, environment["MINE"], cwd) == ([word, "last"], word, str(tmp_path / "out"))
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("word", HOSTILE)
def test_an_argument_reaches_every_process_of_torchrun_as_it_was_given(job: Make, run: Run, word: str) -> None:
    done = run(
        job(argv=["python", "/work/show.py", word], torchrun=True, resources={"nodes": 2, "gpus": 2}),
        Site(ports=_free_ports()),
    )
    assert done.code == 0, done.err
    shown = [json.loads(line) for line in done.out.splitlines()]
    assert [arguments for arguments, _, _ in shown] == [[word]] * 4
    assert sorted(int(environment["RANK"]) for _, environment, _ in shown) == [0, 1, 2, 3]
    assert {environment["WORLD_SIZE"] for _, environment, _ in shown} == {"4"}
    # The address is the one Slurm dials: names of nodes need not resolve.
    assert {environment["MASTER_ADDR"] for _, environment, _ in shown} == {"127.0.0.1"}
    assert {environment["OMP_NUM_THREADS"] for _, environment, _ in shown} == {"2"}


def test_an_address_of_version_six_is_written_as_torch_reads_it(job: Make, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "bin"
    own.mkdir()
    (own / "scontrol").write_text('#!/bin/sh\necho "NodeName=node1 NodeAddr=::1 Version=22.05.8"\n')
    (own / "scontrol").chmod(0o755)
    where = f"{own}:{STANDIN / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    made = job(argv=["python", "/work/show.py"], torchrun=True, resources={"nodes": 1})
    text = run(made, Site(ports=_free_ports()), PATH=where).out
    assert json.loads(text)[1]["MASTER_ADDR"] == "::1"


def test_a_name_adds_no_line_to_the_script(job: Make, places: Places) -> None:
    text = render(job(name="x\n#SBATCH --uid=0\nrm -rf /"), 1, Site(), places)
    assert not [line for line in text.splitlines() if line.startswith(("#SBATCH --uid", "rm"))]


def test_a_path_of_slurm_is_no_pattern(job: Make, places: Places) -> None:
    odd = replace(places, stdout='/a %j "b" #c/x.log')
    assert '--output=/a %%j "b" #c/x.log' in directives(render(job(), 1, Site(), odd))


@pytest.mark.parametrize("path", ["/a\nb", "/a\\b", "/a\0b"])
def test_a_path_that_no_script_can_hold_is_told_of(job: Make, places: Places, path: str) -> None:
    with pytest.raises(ConfigError, match="no batch script can hold"):
        render(job(), 1, Site(), replace(places, out=path, stdout=path))


def test_places_inside_become_the_real_ones(job: Make, run: Run, tmp_path: Path) -> None:
    done = run(job(argv=["python", "/work/show.py", "/out/model.pt", "--data=/out", "/output"]))
    assert json.loads(done.out)[0] == [str(tmp_path / "out/model.pt"), "--data=/out", "/output"]


def test_a_run_knows_who_it_is_and_how_many_threads_to_use(job: Make, run: Run, tmp_path: Path) -> None:
    environment = json.loads(run(job(), Site(environment={"HF_HOME": "/nfs/hf"}), number=2).out)[1]
    assert (environment["QIANKA_JOB"], environment["QIANKA_RUN"]) == ("j-1", "2")
    assert environment["QIANKA_OUT"] == str(tmp_path / "out")
    assert (environment["OMP_NUM_THREADS"], environment["HF_HOME"]) == ("4", "/nfs/hf")
    # Without this srun would hand on nothing of what modules and site have set.
    assert environment["SLURM_EXPORT_ENV"] == "ALL"


def test_a_restart_by_slurm_is_a_new_run(job: Make, run: Run, places: Places) -> None:
    again = {"SLURM_RESTART_COUNT": "2"}
    assert json.loads(run(job(), number=3, places=replace(places, requeue=True), **again).out)[1]["QIANKA_RUN"] == "5"
    assert json.loads(run(job(), number=3, **again).out)[1]["QIANKA_RUN"] == "3"


def test_the_exit_code_is_the_programs(job: Make, run: Run) -> None:
    assert run(job(argv=["bash", "-c", "exit 7"])).code == 7
    failing = job(argv=["python", "-c", "import os, sys; sys.exit(int(os.environ['SLURM_NODEID']) * 9)"])
    assert run({**failing, "resources": {**failing["resources"], "nodes": 2}}).code == 9


def test_the_runtime_is_the_python_of_a_script(job: Make, run: Run, tmp_path: Path) -> None:
    (tmp_path / "rt/bin").mkdir(parents=True)
    fake = tmp_path / "rt/bin/python"
    fake.write_text('#!/bin/sh\necho "runtime $*"\n')
    fake.chmod(0o755)
    told = f"runtime {tmp_path / 'work/show.py'}\n"
    assert run(job(runtime=str(tmp_path / "rt"))).out == told
    assert run(job(runtime="/not/there"), Site(runtime=str(tmp_path / "rt"))).out == told


def test_modules_are_loaded_in_a_shell_that_knows_none_and_reach_the_job(job: Make, run: Run, tmp_path: Path) -> None:
    init = tmp_path / "init modules.sh"
    init.write_text('module() { [ "$2" != broken ] || return 1; export LOADED="$LOADED $2"; }\n')
    site = Site(modules_init=str(init), modules=("cuda/12.4",), setup=("export LOADED=${LOADED}+setup",))
    assert json.loads(run(job(), site).out)[1]["LOADED"] == " cuda/12.4+setup"
    broken = run(job(), replace(site, modules=("broken",)))
    assert (broken.code, broken.out) == (78, "")
    assert "site.toml: modules.load" in broken.err


def test_without_a_module_command_it_says_where_to_name_one(job: Make, run: Run) -> None:
    done = run(job(), Site(modules_init="/not/there", modules=("cuda",)))
    assert (done.code, done.out) == (78, "")
    assert "site.toml: modules.init" in done.err


def test_a_run_of_the_platform_is_its_supervisors(job: Make, run: Run, places: Places, tmp_path: Path) -> None:
    supervised = replace(places, supervisor=("python", "-c", "import sys; print(sys.argv[1:])", "JOB DIR"), work=None)
    done = run(job(environment={"STUDENT": "1"}, limits={"wall": 60.0}), number=4, places=supervised)
    assert done.out == "['JOB DIR', '4']\n"
    text = render(job(environment={"STUDENT": "1"}, limits={"wall": 60.0}), 4, Site(), supervised)
    assert "STUDENT" not in text
    # The supervisor ends the run at its limit; Slurm only if the supervisor does not.
    assert {"--time=0-00:04:00", "--mem=1280M"} <= set(directives(text))


def test_ports_stay_in_their_range_and_two_jobs_have_two(job: Make, places: Places) -> None:
    site = Site(ports=(20000, 29999))
    assert {port_of(site, number) for number in range(41, 10041)} == set(range(20000, 30000))
    assert port_of(site, 41) != port_of(site, 41, restarts=1)


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "0-00:01:00"), (60, "0-00:01:00"), (61, "0-00:02:00"), (7 * 86400, "7-00:00:00")]
)
def test_time_is_whole_minutes_upwards(seconds: float, text: str) -> None:
    assert time_limit(seconds) == text


def _free_ports() -> tuple[int, int]:
    """A row whose port for job 41 is free now."""
    import socket

    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    return port - 41 % 100, port - 41 % 100 + 99


def test_a_run_may_lie_in_a_folder_of_any_name(job: Make, run: Run, hostile_path: Path) -> None:
    for name in ("out", "work"):
        (hostile_path / name).mkdir()
    (hostile_path / "work/show.py").write_text("import os, sys; sys.stdout.write(f'{os.getcwd()}\\n{sys.argv[1]}\\n')")
    where = Places(
        stdout=str(hostile_path / "stdout.log"),
        stderr=str(hostile_path / "stderr.log"),
        out=str(hostile_path / "out"),
        work=str(hostile_path / "work"),
    )
    made = job(argv=["python", "/work/show.py", "/out/x"], resources={"nodes": 2})
    if "\n" in hostile_path.name:
        with pytest.raises(ConfigError, match="no batch script can hold"):
            run(made, places=where)
        return
    done = run(made, places=where)
    assert (done.code, done.err) == (0, "")
    assert sorted(done.out.splitlines()) == sorted([f"{hostile_path}/out", f"{hostile_path}/out/x"] * 2)
    assert f"--chdir={hostile_path}/out" in directives(render(made, 1, Site(), where))
