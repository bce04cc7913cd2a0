"""The machines that the worker has: written by the worker, read by whoever must know what fits.

A file in the data directory, not a table: it tells of this moment and of this host, and a restored
backup must not bring back machines of the past.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from qianka.domain.resources import Card, Node
from qianka.services.platform import Platform

_NAME = "nodes.json"
_LOAD = "load.json"


@dataclass(frozen=True, kw_only=True)
class Load:
    """How busy one machine is, everything on it together."""

    node: str
    at: datetime
    cpu_percent: float | None
    """of all its cores"""
    memory_used: int | None
    """bytes"""
    memory: int | None
    """bytes that the machine has"""
    cards: dict[str, tuple[float | None, int | None]] = field(default_factory=dict)
    """by uuid: utilisation in percent, bytes in use"""


def publish(platform: Platform, nodes: Sequence[Node]) -> None:
    """Tell what there is; whole or not at all."""
    _put(platform, _NAME, [asdict(node) for node in nodes])


def publish_load(platform: Platform, load: Load) -> None:
    """Tell how busy this machine is; whole or not at all."""
    _put(platform, _LOAD, {**asdict(load), "at": load.at.isoformat()})


def known_load(platform: Platform) -> Load | None:
    """How busy the worker's machine last was; None before a worker looked."""
    try:
        item = json.loads((platform.folders.run / _LOAD).read_text("utf-8"))
        return Load(
            node=str(item["node"]),
            at=datetime.fromisoformat(item["at"]),
            cpu_percent=item["cpu_percent"],
            memory_used=item["memory_used"],
            memory=item["memory"],
            cards={uuid: (percent, used) for uuid, (percent, used) in item["cards"].items()},
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _put(platform: Platform, name: str, value: object) -> None:
    path = platform.folders.run / name
    aside = path.with_name(f"{name}.{os.getpid()}")
    aside.write_text(json.dumps(value), "utf-8")
    aside.replace(path)


def known(platform: Platform) -> list[Node]:
    """The machines last told of; none before a worker ran."""
    try:
        found = json.loads((platform.folders.run / _NAME).read_text("utf-8"))
        return [_node(item) for item in found]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []


def _node(item: dict[str, Any]) -> Node:
    return Node(
        name=item["name"],
        cores=tuple(item["cores"]),
        memory=item["memory"],
        cards=tuple(Card(**card) for card in item["cards"]),
        alive=item["alive"],
    )
