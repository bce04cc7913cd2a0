"""What Slurm gave a run: node and cards, known only on the node itself."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DRIVER = "/proc/driver/nvidia/gpus"


def of_slurm(fence: dict[str, Any], given: dict[str, str] | None = None, driver: str = _DRIVER) -> dict[str, Any]:
    """`fence` with the node and cards that Slurm's variables (`given`: the environment) name.

    A card that the driver does not know is a simulated one: nothing of /dev goes with it.
    """
    given = dict(os.environ) if given is None else given
    indexes = given.get("SLURM_STEP_GPUS") or given.get("SLURM_JOB_GPUS") or ""
    known = _uuids(driver)
    cards = []
    for word in indexes.split(","):
        if word.isdecimal():
            index = int(word)
            card: dict[str, Any] = {"index": index, "uuid": known.get(index, f"slurm-{index}"), "model": "slurm"}
            cards.append({**card, "memory": 0, "simulated": index not in known})
    return {**fence, "node": given.get("SLURMD_NODENAME") or fence.get("node") or "", "cards": cards}


def _uuids(driver: str) -> dict[int, str]:
    """Minor number of /dev/nvidiaN → uuid."""
    found: dict[int, str] = {}
    try:
        folders = os.listdir(driver)
    except OSError:
        return found
    for folder in folders:
        facts = {}
        try:
            with open(f"{driver}/{folder}/information", encoding="utf-8", errors="replace") as file:
                for line in file:
                    name, _, value = line.partition(":")
                    facts[name.strip()] = value.strip()
            found[int(facts["Device Minor"])] = facts["GPU UUID"]
        except (OSError, KeyError, ValueError):
            continue  # a card that does not say who it is cannot be bound
    return found
