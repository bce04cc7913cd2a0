"""Which device nodes and parts of /sys a run with cards gets. Pure: works on a listing of /dev.

A card is chosen by which node is bound, not by CUDA_VISIBLE_DEVICES alone, which a program can change.
The nodes must exist beforehand: the setuid helper that makes them cannot run inside a sandbox.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

SHARED = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
# The driver looks here for the card's place on the bus and for module parameters; without: error 304.
SYSTEM = (
    "/sys/module/nvidia",
    "/sys/module/nvidia_uvm",
    "/sys/bus/pci",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)


class NoSuchCard(Exception):
    """A card was allotted whose node this machine does not have."""


def nodes(cards: list[dict[str, Any]], listing: Iterable[str]) -> list[str]:
    """Paths below /dev for the allotted cards; nothing for simulated ones.

    `listing`: names below /dev, such as "nvidia0" or "nvidia-caps/nvidia-cap21". A card that is a part
    of one (MIG) names its capability nodes in "capabilities". Raises NoSuchCard.
    """
    real = [card for card in cards if not card.get("simulated")]
    if not real:
        return []
    there = set(listing)
    names = [name for name in SHARED if name in there]
    for card in real:
        wanted = [f"nvidia{int(card['index'])}", *(f"nvidia-caps/{name}" for name in card.get("capabilities") or [])]
        for name in wanted:
            if name not in there:
                raise NoSuchCard(f"/dev/{name} is not there: card {card['index']} cannot be given to a run")
            if name not in names:
                names.append(name)
    return [f"/dev/{name}" for name in names]


def arguments(cards: list[dict[str, Any]], listing: Iterable[str], buses: Iterable[str]) -> list[str]:
    """Options of bwrap for the cards: after --dev /dev and before /dev is made read-only.

    `buses`: names below /sys/devices, of which the PCI roots are bound. Only --dev-bind lets a node be
    used as a device. Raises NoSuchCard.
    """
    options: list[str] = []
    for path in nodes(cards, listing):
        options += ["--dev-bind", path, path]
    if options:
        roots = [f"/sys/devices/{name}" for name in sorted(buses) if name.startswith("pci")]
        for path in (*SYSTEM, *roots):
            options += ["--ro-bind-try", path, path]
    return options


def real_cards(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cards that exist."""
    return [card for card in cards if not card.get("simulated")]
