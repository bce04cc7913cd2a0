"""The words that run a job's command in a container: Apptainer, Docker or Podman."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from qianka.engines.slurm import template
from qianka.engines.slurm.quoting import words
from qianka.engines.slurm.site import Site
from qianka.errors import ConfigError, Refused, Text

PASSED_ON = (
    "QIANKA_JOB",
    "QIANKA_RUN",
    "QIANKA_OUT",
    "LANG",
    "PYTHONUNBUFFERED",
    "OMP_NUM_THREADS",
    "NCCL_DEBUG",
    "NCCL_SOCKET_IFNAME",
    "GLOO_SOCKET_IFNAME",
    "SLURM_JOB_ID",
    "SLURM_PROCID",
    "SLURM_NODEID",
)
"""variables that Docker and Podman are told to take along; Apptainer takes all"""


@dataclass(frozen=True)
class Container:
    """What a job runs in."""

    kind: str
    image: str


def of(job: Mapping[str, Any], site: Site, *, supervised: bool = False) -> Container | None:
    """The container of a job: its own, or the site's default; None: bare, as supervised runs always are.

    Raises Refused for a kind or an image that the site does not list.
    """
    asked = job.get("container")
    if supervised and asked is None:
        return None
    if supervised:
        raise Refused(
            Text("平台自己的沙箱里不能再用容器镜像", "inside of the platform's sandbox there is no container image"),
            Text("去掉 --image 再提交", "leave --image out and submit again"),
            reason="container_kind",
        )
    if asked is None:
        return None if site.containers.default is None else Container(*site.containers.default)
    container = Container(str(asked["kind"]), str(asked["image"]))
    check(container, site)
    return container


def check(container: Container, site: Site) -> None:
    """Raises Refused, saying what the site does run."""
    known = site.containers
    if container.kind not in known.kinds:
        kinds = ", ".join(known.kinds)
        raise Refused(
            Text(f"本站点不运行 {container.kind} 容器", f"this site runs no {container.kind} containers"),
            Text(f"可用：{kinds}", f"it runs: {kinds}")
            if kinds
            else Text(
                "去掉 --image，或请管理员在 site.toml 里设置 containers",
                "leave --image out, or ask the operator to set `containers` in site.toml",
            ),
            reason="container_kind",
        )
    image = container.image
    # A detour would lead out of the folder that a pattern names.
    is_odd = image.startswith("-") or ".." in image.split("/")
    if is_odd or not any(fnmatchcase(image, pattern) for pattern in known.images):
        listed = ", ".join(known.images) or "—"
        raise Refused(
            Text(f"本站点不允许镜像 {image}", f"this site does not allow the image {image}"),
            Text(f"允许的：{listed}", f"it allows: {listed}"),
            reason="container_image",
        )


def values(
    job: Mapping[str, Any],
    container: Container | None,
    site: Site,
    work: str | None,
    out: str,
    environment: Iterable[str],
) -> dict[str, template.Value]:
    """What the template needs to know of the container."""
    kind = "" if container is None else container.kind
    found: dict[str, template.Value] = {
        "apptainer": "",
        "engine": kind if kind in ("docker", "podman") else "",
        "docker": kind == "docker",
        "podman": kind == "podman",
        "engine_words": "",
        "engine_options": "",
    }
    if container is None:
        return found
    if kind == "apptainer":
        found["apptainer"] = words(apptainer(job, container, site, work, out))
    else:
        found["engine_words"] = words(site.containers.command_of(kind))
        found["engine_options"] = words(_engine(job, container, site, work, out, environment))
    return found


def apptainer(job: Mapping[str, Any], container: Container, site: Site, work: str | None, out: str) -> list[str]:
    """`apptainer exec …` up to the image."""
    found = [*site.containers.command_of("apptainer"), "exec"]
    if int(job["resources"]["gpus"]):
        found.append("--nv")
    for source, target, writable in _mounts(job, site, work, out):
        found += ["--bind", f"{source}:{target}" + ("" if writable else ":ro")]
    return [*found, "--pwd", "/out", *site.containers.options.get("apptainer", ()), container.image]


def _engine(
    job: Mapping[str, Any],
    container: Container,
    site: Site,
    work: str | None,
    out: str,
    environment: Iterable[str],
) -> list[str]:
    """Options of `docker run` and `podman run`, up to the image."""
    resources = job["resources"]
    # Half of the memory may be shared: where loaders of data and NCCL put theirs.
    found = ["--network=host", f"--shm-size={int(resources['memory']) // 2}"]
    found += ["--security-opt=no-new-privileges", "--cap-drop=ALL"]
    if container.kind == "podman":
        found.append("--security-opt=label=disable")
    else:
        # The daemon's containers are outside of Slurm's control groups: they get the limits a second time.
        found += ["--init", f"--memory={int(resources['memory'])}", f"--cpus={float(resources['cpus']):g}"]
    for source, target, writable in _mounts(job, site, work, out):
        found += ["--volume", f"{source}:{target}" + ("" if writable else ":ro")]
    for name in dict.fromkeys((*PASSED_ON, *environment)):
        found += ["--env", name]
    return [*found, "--workdir", "/out", *site.containers.options.get(container.kind, ()), container.image]


def _mounts(job: Mapping[str, Any], site: Site, work: str | None, out: str) -> list[tuple[str, str, bool]]:
    found = [(out, "/out", True)]
    if work is not None:
        found.append((work, "/work", False))
    found += [(str(m["source"]), str(m["target"]), bool(m.get("writable"))) for m in job.get("mounts") or []]
    found += [(folder, folder, False) for folder in site.containers.mounts]
    for source, target, _ in found:
        if any(mark in source + target for mark in ":,"):
            raise ConfigError(
                Text(f"路径 {source} 含有冒号或逗号，容器挂不上", f"no container can mount {source}: it has a : or ,"),
                Text("换一个路径", "use another path"),
            )
    return found
