"""The machines, for staff."""

from __future__ import annotations

from fastapi import APIRouter, Request

from qianka.schemas.usage import Machines, Node
from qianka.server import machineviews
from qianka.server.deps import CallerDep, LanguageDep, PlatformDep
from qianka.server.health import Doctor
from qianka.services import machines

router = APIRouter(tags=["system"])


@router.get("/nodes")
def list_nodes(request: Request, caller: CallerDep, platform: PlatformDep, language: LanguageDep) -> Machines:
    """Each node and card with who runs what, the parts of the platform, and how many jobs wait."""
    found = machines.look(platform, caller)
    doctor: Doctor = request.app.state.doctor
    return machineviews.machines_of(found, *doctor.look(), language)


@router.get("/nodes/{node}")
def get_node(node: str, caller: CallerDep, platform: PlatformDep) -> Node:
    """One node."""
    return machineviews.node(machines.look_at(platform, caller, node))
