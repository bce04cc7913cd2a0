"""A body of POST /api/jobs as what the use case takes."""

from __future__ import annotations

from qianka.domain.resources import Label, Resources
from qianka.schemas.jobs import NewJob
from qianka.services import code
from qianka.services.jobs import JobRequest
from qianka.services.platform import Caller, Platform


def request_of(platform: Platform, caller: Caller, body: NewJob, key: str | None) -> JobRequest:
    """Raises NotFound when the code that the body names is not the caller's."""
    container = body.container
    return JobRequest(
        argv=tuple(body.argv),
        script=body.script,
        args=tuple(body.args),
        name=body.name,
        cohort=body.cohort,
        tree=None if body.code is None else code.tree_of(platform, caller, body.code),
        resources=Resources(
            cpus=body.cpus, memory=body.memory, gpus=body.gpus, nodes=body.nodes, exclusive=body.exclusive
        ),
        label=Label(body.label),
        wall=body.wall,
        environment=body.environment,
        torchrun=body.torchrun,
        container=None if container is None else (container.kind, container.image),
        array=body.array,
        sbatch=tuple(body.sbatch),
        key=key,
    )
