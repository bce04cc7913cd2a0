"""What a job asks for and what a node has."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Label(str, Enum):
    """Priority class of a job; on Slurm its QOS."""

    URGENT = "urgent"
    NORMAL = "normal"
    IDLE = "idle"

    @property
    def order(self) -> int:
        """0 goes first."""
        return ("urgent", "normal", "idle").index(self.value)


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a job asks for on each of its nodes: cores (may be a fraction), memory in bytes, whole cards."""

    cpus: float = 1.0
    memory: int = 1 << 30
    gpus: int = 0
    nodes: int = 1
    exclusive: bool = False
    """whole nodes: nobody else's job beside it"""

    @property
    def all_cpus(self) -> float:
        """Cores on all nodes together."""
        return self.cpus * self.nodes

    @property
    def all_gpus(self) -> int:
        """Cards on all nodes together."""
        return self.gpus * self.nodes


@dataclass(frozen=True, kw_only=True)
class Card:
    """One GPU, real or simulated; `memory` in bytes."""

    index: int
    uuid: str
    model: str
    memory: int
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class Node:
    """One machine: the cores, memory (bytes) and cards that may be handed out."""

    name: str
    cores: tuple[int, ...]
    memory: int
    cards: tuple[Card, ...] = ()
    alive: bool = True


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a job runs: a node, the cores it is pinned to, the cards it gets."""

    node: str
    cores: tuple[int, ...] = ()
    cards: tuple[Card, ...] = field(default=())
