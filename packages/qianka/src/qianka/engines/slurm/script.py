"""The batch script of one run: job.json and the site's ways, put into the one visible template (job.sh.txt)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qianka.engines.slurm import containers, flags, template
from qianka.engines.slurm.quoting import directive, path_pattern, word, words
from qianka.engines.slurm.site import Site
from qianka.errors import ConfigError, Text
from qianka.sandbox import plain

MIB = 1 << 20
SUPERVISED_SECONDS = 180
"""more than the job's own limit: the supervisor ends it at the limit, and has to set up and to clean"""
SUPERVISED_MEMORY = 256 * MIB
"""for the supervisor itself, beside what the job may use"""


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where one run's files are, as the compute nodes see them: what the engine knows and job.json does not.

    `supervisor` empty: the script runs the job's own command (plain, torchrun, container). Otherwise that
    is run instead, as one task, with the number of the run as a last word.
    """

    stdout: str
    stderr: str
    out: str
    """the writable folder: /out of the job; also the working directory"""
    work: str | None = None
    """the code: /work of the job"""
    name: str = ""
    """Slurm's name of the job; empty: `<job>.<run>`"""
    comment: str = ""
    supervisor: tuple[str, ...] = ()
    requeue: bool = False
    """whether Slurm itself may start the script again, after a node failed or a preemption"""


def render(job: Mapping[str, Any], run: int, site: Site, places: Places) -> str:
    """The text of the batch script that starts run number `run` of `job` (the text of job.json).

    Everything from job and person is quoted; options that say who runs it (uid, gid, export) are not in
    here: whoever calls sbatch gives `--export=NONE` (and as root `--uid`, `--gid`) on the command line.
    With `requeue` the script itself counts Slurm's restarts onto the run number.
    Raises Refused (an option or image that this site does not pass) and ConfigError (the template).
    """
    text, name = template.read(site.template)
    values: dict[str, template.Value] = {**_directives(job, run, site, places), **_site(site)}
    values.update(_body(job, run, site, places))
    return template.fill(text, name, values)


def check_template(file: Path) -> None:
    """Raises ConfigError naming the line when the batch template `file` is wrong."""
    job = {
        "job": "j-1",
        "argv": ["python", "train.py"],
        "resources": {"cpus": 1, "memory": MIB, "gpus": 1, "nodes": 2},
        "limits": {"wall": 60},
        "torchrun": True,
    }
    render(job, 1, Site(template=file), Places(stdout="/o", stderr="/e", out="/out"))


def port_of(site: Site, slurm_id: int, restarts: int = 0) -> int:
    """The port at which the processes of a Slurm job meet, as the script reckons it."""
    first, last = site.ports
    return first + (slurm_id + 7 * restarts) % (last - first + 1)


def time_limit(seconds: float) -> str:
    """Slurm's `D-HH:MM:00`; whole minutes, upwards."""
    minutes = max(1, math.ceil(seconds / 60))
    return f"{minutes // 1440}-{minutes // 60 % 24:02d}:{minutes % 60:02d}:00"


def _directives(job: Mapping[str, Any], run: int, site: Site, places: Places) -> dict[str, template.Value]:
    resources, label = job["resources"], str(job.get("label", "normal"))
    gpus, supervised = int(resources["gpus"]), bool(places.supervisor)
    memory = int(resources["memory"]) + (SUPERVISED_MEMORY if supervised else 0)
    wall = float(job["limits"]["wall"]) + (SUPERVISED_SECONDS if supervised else 0)
    passed = flags.checked(job.get("sbatch") or (), site)
    return {
        "title": _one_line(f"Qianka {job['job']}, run {run}: {job.get('name') or job['job']}"),
        "name": directive(places.name or f"{job['job']}.{run}"),
        "comment": directive(places.comment) if places.comment else "",
        "stdout": _place(path_pattern(places.stdout)),
        "stderr": _place(path_pattern(places.stderr)),
        "out_directive": _place(places.out),
        "nodes": nodes_of(job),
        "cpus": _cpus(job),
        "memory": f"{math.ceil(memory / MIB)}M",
        "gres": directive(f"{site.gres}:{gpus}") if gpus else "",
        "time": time_limit(wall),
        "exclusive": "exclusive" if resources.get("exclusive") else "",
        "requeue": "requeue" if places.requeue else "no-requeue",
        "account": directive(site.account_of(job.get("cohort"))),
        "partition": directive(site.partition_of(label, gpus)),
        "qos": directive(site.qos_of(label)),
        "directives": [directive(option) for option in (*site.directives, *passed)],
    }


def _site(site: Site) -> dict[str, template.Value]:
    return {
        "modules": words(site.modules),
        "modules_init": words([site.modules_init] if site.modules_init else MODULES_INIT),
        "setup": list(site.setup),
        "interface": word(site.interface) if site.interface else "",
        "port_first": site.ports[0],
        "port_count": site.ports[1] - site.ports[0] + 1,
    }


MODULES_INIT = (
    "/etc/profile.d/lmod.sh",
    "/etc/profile.d/modules.sh",
    "/usr/share/lmod/lmod/init/bash",
    "/usr/share/modules/init/bash",
)


def _body(job: Mapping[str, Any], run: int, site: Site, places: Places) -> dict[str, template.Value]:
    nodes, cpus, gpus = nodes_of(job), _cpus(job), int(job["resources"]["gpus"])
    processes = max(1, gpus)
    rendezvous = bool(job.get("torchrun")) and not places.supervisor
    container = containers.of(job, site, supervised=bool(places.supervisor))
    runtime = "" if container else site.runtime or job.get("runtime") or ""
    command = [str(part) for part in job["argv"]]
    if container is None:
        pairs = plain.places({**job, "work": places.work}, places.out)
        command = [plain.real(part, pairs) for part in command]
    # Without a runtime it is the node's own: python3 is on every one, python is not.
    python = f"{runtime}/bin/python" if runtime else "python" if container else "python3"
    if command[0] == "python":
        command = command[1:] if rendezvous else [python, *command[1:]]
    task = rendezvous or (container is not None and container.kind != "apptainer")
    if container is not None and container.kind == "apptainer" and not task:
        command = [*containers.apptainer(job, container, site, places.work, places.out), *command]
    environment = {**site.environment, **(job.get("environment") or {})}
    step = [f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1", f"--cpus-per-task={cpus}", "--export=ALL"]
    step += ["--kill-on-bad-exit=1", "--label"] if nodes > 1 else []
    return {
        "job": word(str(job["job"])),
        "run": run,
        "restarts": places.requeue,
        "supervisor": words(places.supervisor),
        "srun": words(step),
        "out": word(places.out),
        "inside_out": word("/out" if container else places.out),
        "threads": max(1, cpus // processes if rendezvous else cpus),
        "runtime_bin": word(f"{runtime}/bin") if runtime else "",
        "environment": []
        if places.supervisor
        else [f"{name}={word(str(value))}" for name, value in environment.items()],
        "rendezvous": rendezvous,
        "task": task and not places.supervisor,
        "step": 'bash -c "$task" qianka' if task else words(command),
        "several": nodes > 1 and not places.supervisor,
        "single": nodes == 1 and not places.supervisor,
        "failed": word(f"{os.path.dirname(places.stdout)}/exit.first"),
        "bare": container is None,
        "python": word(python),
        "processes": processes,
        "command": words(command),
        **containers.values(job, container, site, places.work, places.out, environment),
    }


def _place(path: str) -> str:
    try:
        # A backslash switches off the patterns of --output, and is itself left out.
        if "\\" in path:
            raise ValueError("a backslash")
        return directive(path)
    except ValueError as error:
        raise ConfigError(
            Text(f"批处理脚本写不了这个路径：{path!r}", f"no batch script can hold this path: {path!r}"),
            Text("换一个数据目录（site.toml 的 folder）", "choose another folder (`folder` in site.toml)"),
        ) from error


def nodes_of(job: Mapping[str, Any]) -> int:
    """How many nodes a job takes."""
    return int(job["resources"].get("nodes", 1))


def _cpus(job: Mapping[str, Any]) -> int:
    return max(1, math.ceil(float(job["resources"]["cpus"])))


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:300]
