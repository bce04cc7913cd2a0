"""Jobs of several nodes: what one machine says to them, what a cluster takes, what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qianka.domain.resources import Resources
from qianka.engines.slurm import flags, layout, script, sitefile
from qianka.errors import BadInput, ConfigError, Forbidden, OverLimit, PlatformFault, QiankaError, Refused
from qianka.services import jobs, nodes
from qianka.services.jobs import JobRequest
from qianka.services.platform import Platform
from qianka.store.tables import Job
from qianka.testing import caller_of, make_cohort, make_person, make_platform, make_student, one_node

GIB = 1 << 30


@pytest.fixture
def one_machine(tmp_path: Path) -> Iterator[Platform]:
    platform = make_platform(tmp_path / "data")
    yield platform
    platform.store.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Platform]:
    """Slurm with four nodes of 16 cores, 64 GiB and 8 cards; containers from one folder."""
    site = tmp_path / "site.toml"
    site.write_text('[containers]\nkinds = ["apptainer"]\nimages = ["/nfs/*.sif"]\n')
    platform = make_platform(
        tmp_path / "data", engine_name="slurm", slurm_site=str(site), runtime_dir=str(tmp_path / "nfs")
    )
    nodes.publish(platform, [one_node(16, 64 * GIB, 8, name=f"node{number}") for number in range(1, 5)])
    (platform.folders.runtime / "bin").mkdir(parents=True)
    (platform.folders.runtime / "bin/python").touch()
    yield platform
    platform.store.close()


def asked(nodes: int = 1, gpus: int = 0, **more: Any) -> Resources:
    return Resources(memory=GIB, nodes=nodes, gpus=gpus, **more)


def script_job(**changes: Any) -> JobRequest:
    return JobRequest(script="train.py", tree="ab" * 32, **changes)


def submitted(platform: Platform, request: JobRequest, **cohort: Any) -> Job:
    (platform.folders.trees / ("ab" * 32)).mkdir(exist_ok=True)
    student = make_student(platform, make_cohort(platform, **cohort))
    return jobs.submit(platform, caller_of(student), request)


@pytest.mark.parametrize(
    ("request_", "advice"),
    [
        (JobRequest(argv=("true",), resources=asked(nodes=2, gpus=4)), "--gpu 8 --torchrun"),
        (JobRequest(argv=("true",), sbatch=("--constraint=x",)), "leave --sbatch out"),
        (JobRequest(argv=("true",), container=("docker", "x")), "leave --image out"),
    ],
)
def test_one_machine_says_what_to_do_instead(one_machine: Platform, request_: JobRequest, advice: str) -> None:
    with pytest.raises(Refused) as refused:
        submitted(one_machine, request_)
    hint = refused.value.hint
    assert hint is not None
    assert advice in hint.en
    assert hint.zh
    assert refused.value.message.zh


def test_torchrun_on_one_machine_is_part_of_the_command(one_machine: Platform) -> None:
    job = submitted(one_machine, replace(script_job(resources=asked(gpus=2), torchrun=True), args=("--lr", "1")))
    assert job.spec["argv"][:3] == ["python", "-m", "torch.distributed.run"]
    assert job.spec["argv"][-4:] == ["--nproc-per-node=2", "/work/train.py", "--lr", "1"]
    assert (job.spec["torchrun"], job.spec["network"], job.name) == (False, "none", "train.py")
    assert submitted(one_machine, script_job(resources=asked(gpus=2))).spec["argv"] == ["python", "/work/train.py"]


def test_processes_of_torchrun_share_the_cores(one_machine: Platform) -> None:
    eight = asked(gpus=2, cpus=8.0)
    assert (
        submitted(one_machine, script_job(resources=eight, torchrun=True)).spec["environment"]["OMP_NUM_THREADS"] == "4"
    )
    own = script_job(resources=eight, torchrun=True, environment={"OMP_NUM_THREADS": "1"})
    assert submitted(one_machine, own).spec["environment"]["OMP_NUM_THREADS"] == "1"
    assert submitted(one_machine, script_job(resources=eight)).spec["environment"] == {}


def test_torchrun_starts_python_only(one_machine: Platform) -> None:
    with pytest.raises(BadInput, match="torchrun"):
        submitted(one_machine, JobRequest(argv=("./a.out",), torchrun=True))


def test_a_cluster_takes_several_nodes_by_torchrun(cluster: Platform) -> None:
    job = submitted(cluster, script_job(resources=asked(nodes=2, gpus=8)))
    assert job.spec["argv"] == ["python", "/work/train.py"]
    assert (job.spec["torchrun"], job.spec["network"]) == (True, "host")
    assert job.spec["resources"] == {"cpus": 1.0, "memory": GIB, "gpus": 8, "nodes": 2, "exclusive": False}
    assert (job.nodes, job.gpus) == (2, 8)


@pytest.mark.parametrize(
    "request_",
    [
        script_job(resources=asked(nodes=2), torchrun=False),
        JobRequest(argv=("hostname",), resources=asked(nodes=2)),
        JobRequest(argv=("python", "-m", "mine"), resources=asked(nodes=2)),
    ],
)
def test_what_is_no_torch_script_is_started_plainly(cluster: Platform, request_: JobRequest) -> None:
    assert submitted(cluster, request_).spec["torchrun"] is False


def test_without_a_runtime_there_is_no_torchrun(cluster: Platform) -> None:
    (cluster.folders.runtime / "bin/python").unlink()
    assert submitted(cluster, script_job(resources=asked(nodes=2))).spec["torchrun"] is False
    in_image = script_job(resources=asked(nodes=2), container=("apptainer", "/nfs/x.sif"))
    assert submitted(cluster, in_image).spec["torchrun"] is True


def test_a_runtime_in_the_data_directory_is_closed_to_a_persons_account(cluster: Platform) -> None:
    inside = replace(cluster, settings=replace(cluster.settings, runtime_dir=""))
    (inside.folders.runtime / "bin").mkdir(parents=True)
    (inside.folders.runtime / "bin/python").touch()
    job = submitted(inside, script_job(resources=asked(nodes=2)))
    assert (job.spec["runtime"], job.spec["torchrun"]) == (None, False)
    # The platform's own account may enter it.
    service = replace(inside, settings=replace(inside.settings, slurm_people="service"))
    assert submitted(service, script_job()).spec["runtime"] == str(inside.folders.runtime)


@pytest.mark.parametrize("wrong", [{"resources": asked(nodes=2)}, {"container": ("apptainer", "/nfs/x.sif")}])
def test_what_needs_an_account_of_ones_own_is_refused_where_there_are_none(
    cluster: Platform, wrong: dict[str, Any]
) -> None:
    service = replace(cluster, settings=replace(cluster.settings, slurm_people="service"))
    with pytest.raises(Refused, match="your own system account"):
        submitted(service, JobRequest(argv=("true",), **wrong))
    told = jobs.dry_run(service, caller_of(make_student(service, make_cohort(service))), JobRequest(argv=("true",)))
    assert "--slurm" in str(told.script)
    assert "run in the sandbox of a node: true" in told.sentences[1].en


def test_options_and_images_are_looked_at_at_the_submit(cluster: Platform) -> None:
    good = JobRequest(argv=("true",), sbatch=("-C a100",), container=("apptainer", "/nfs/x.sif"))
    job = submitted(cluster, good)
    assert job.spec["sbatch"] == ["--constraint=a100"]
    assert job.spec["container"] == {"kind": "apptainer", "image": "/nfs/x.sif"}
    for wrong in (replace(good, sbatch=("--uid=0",)), replace(good, container=("apptainer", "/tmp/x.sif"))):
        with pytest.raises(Refused):
            submitted(cluster, wrong)


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        (asked(nodes=5), "there are 4"),
        (asked(nodes=2, gpus=9), "no machine is that large"),
        (asked(nodes=2, cpus=17.0), "no machine is that large"),
        (asked(nodes=4, gpus=8), None),
    ],
)
def test_what_never_fits_is_refused_at_once(cluster: Platform, resources: Resources, said: str | None) -> None:
    request = JobRequest(argv=("true",), resources=resources)
    if said is None:
        assert submitted(cluster, request).state == "PENDING"
        return
    with pytest.raises(Refused, match=said):
        submitted(cluster, request)


@pytest.mark.parametrize("count", [0, -1, 5000])
def test_nodes_have_bounds(cluster: Platform, count: int) -> None:
    with pytest.raises(BadInput, match="nodes"):
        submitted(cluster, JobRequest(argv=("true",), resources=asked(nodes=count)))


def test_a_budget_counts_the_cards_of_all_nodes(cluster: Platform) -> None:
    cohort = make_cohort(cluster, gpu_hours=20.0, cpu_hours=1000.0)
    caller = caller_of(make_student(cluster, cohort))
    hour = JobRequest(argv=("true",), resources=asked(nodes=2, gpus=8), wall=3600.0)
    jobs.submit(cluster, caller, hour)  # 16 of 20 GPU-hours are held now
    with pytest.raises(OverLimit) as refused:
        jobs.submit(cluster, caller, replace(hour, wall=1200.0))
    assert refused.value.details["asked"] == pytest.approx(16 / 3)
    assert refused.value.details["left"] == pytest.approx(4.0)
    jobs.submit(cluster, caller, replace(hour, wall=900.0))


def test_whole_nodes_cost_all_that_is_on_them(cluster: Platform) -> None:
    cohort = make_cohort(cluster, gpu_hours=20.0, cpu_hours=1000.0)
    caller = caller_of(make_student(cluster, cohort))
    alone = JobRequest(argv=("true",), resources=asked(nodes=2, gpus=1, exclusive=True), wall=3600.0)
    job = jobs.submit(cluster, caller, alone)
    assert (job.exclusive, job.held_cpus, job.held_gpus) == (True, 32.0, 16)
    with pytest.raises(OverLimit, match="GPU"):
        jobs.submit(cluster, caller, alone)


def test_a_mistake_of_the_site_is_the_platforms_and_says_where_to_an_administrator(cluster: Platform) -> None:
    Path(cluster.settings.slurm_site).write_text("[qos]\nurgnet = 'x'\n")
    request = JobRequest(argv=("true",))
    with pytest.raises(PlatformFault, match="site file"):
        submitted(cluster, request)
    with pytest.raises(ConfigError, match=r"site\.toml:2"):
        jobs.submit(cluster, caller_of(make_person(cluster, admin=True)), request)


def test_a_dry_run_shows_the_script_that_a_submit_would_send(cluster: Platform) -> None:
    caller = caller_of(make_student(cluster, make_cohort(cluster), "alice"))
    request = script_job(resources=asked(nodes=2, gpus=8), wall=1800.0, sbatch=("-C a100",))
    told = jobs.dry_run(cluster, caller, request=replace(request, tree=None))
    (cluster.folders.trees / ("ab" * 32)).mkdir()
    job = jobs.submit(cluster, caller, request)
    site = sitefile.load(cluster.settings.slurm_site)
    places = layout.own_places(site, job.id, 1, "alice", has_code=True)
    assert told.script == script.render(job.spec, 1, site, places).replace(job.id, "j-dry-run")
    assert (told.gpu_hours, told.cpu_hours, told.engine) == (8.0, 1.0, "slurm")
    assert "16 cards in all" in told.sentences[0].en
    assert "共 16 张卡" in told.sentences[0].zh
    assert "torchrun starts 8 processes" in told.sentences[1].en
    assert "--cpus 16" in told.sentences[-1].en  # eight cards, one core


def test_a_dry_run_makes_nothing(cluster: Platform) -> None:
    caller = caller_of(make_student(cluster, make_cohort(cluster)))
    woken: list[int] = []
    jobs.dry_run(replace(cluster, wake_worker=lambda: woken.append(1)), caller, JobRequest(argv=("true",), key="k" * 8))
    assert (jobs.list_jobs(cluster, caller), woken) == ([], [])


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (JobRequest(argv=("true",), resources=asked(nodes=9)), Refused),
        (JobRequest(argv=("true",), sbatch=("--uid=0",)), Refused),
        (JobRequest(argv=("true",), wall=90_000.0), OverLimit),
        (JobRequest(argv=("true",), cohort="not-mine"), QiankaError),
        (JobRequest(argv=()), BadInput),
        (replace(script_job(), script="../x.py", tree=None), BadInput),
    ],
)
def test_a_dry_run_refuses_what_a_submit_refuses(
    cluster: Platform, request_: JobRequest, error: type[QiankaError]
) -> None:
    caller = caller_of(make_student(cluster, make_cohort(cluster, cpu_hours=2.0)))
    with pytest.raises(error):
        jobs.dry_run(cluster, caller, request_)


def test_the_label_urgent_stays_the_staffs_in_a_dry_run(cluster: Platform) -> None:
    from qianka.domain.resources import Label

    caller = caller_of(make_student(cluster, make_cohort(cluster)))
    with pytest.raises(Forbidden):
        jobs.dry_run(cluster, caller, JobRequest(argv=("true",), label=Label.URGENT))


def test_one_machine_says_what_it_would_do(one_machine: Platform) -> None:
    caller = caller_of(make_student(one_machine, make_cohort(one_machine, "ai-2026")))
    told = jobs.dry_run(one_machine, caller, JobRequest(argv=("python", "-V"), wall=360.0))
    assert (told.engine, told.script) == ("local", None)
    assert [text.en for text in told.sentences] == [
        "1 machine: 1 core, 1 GiB, 0 cards",
        "run in the sandbox of this machine: python -V",
        "at most 0.00 GPU-hours and 0.10 CPU-hours, charged to ai-2026; nothing was submitted",
    ]
    assert told.job["argv"] == ["python", "-V"]


def test_every_forbidden_option_has_advice_in_both_languages() -> None:
    assert all(hint.zh and hint.en for _, hint in flags.REFUSED.values())
    assert not set(flags.PASSED) & set(flags.REFUSED)
