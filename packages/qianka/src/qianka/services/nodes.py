"""The machines that the worker has: written by the worker, read by whoever must know what fits.

A file in the data directory, not a table: it tells of this moment and of this host, and a restored
backup must not bring back machines of the past.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from qianka.domain.resources import Card, Node
from qianka.services.platform import Platform

_NAME = "nodes.json"


def publish(platform: Platform, nodes: Sequence[Node]) -> None:
    """Tell what there is; whole or not at all."""
    path = platform.folders.run / _NAME
    aside = path.with_name(f"{_NAME}.{os.getpid()}")
    aside.write_text(json.dumps([asdict(node) for node in nodes]), "utf-8")
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
