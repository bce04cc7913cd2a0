"""The cards as the driver's management library tells of them, from outside of any sandbox."""

from __future__ import annotations

import ctypes
import os
from dataclasses import asdict, dataclass
from typing import Any

from qianka.adapters import nvml
from qianka.domain.resources import Card
from qianka.sandbox import devices
from qianka.supervisor.contained import listing


class Lacking(Exception):
    """Something that the script needs is not here; the message says what and what to do."""


@dataclass(frozen=True)
class Machine:
    """The cards and what they hold now."""

    cards: tuple[Card, ...]
    driver: str
    library: Any

    def used(self, card: Card) -> int:
        """Bytes of the card that are taken, by whomever."""
        handle = self._handle(card)
        memory = nvml._Memory()
        _ask(self.library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)), "memory")
        return int(memory.used)

    def holders(self, card: Card) -> set[int]:
        """Processes that compute on the card."""
        from qianka.supervisor.cards import _MOST, _Process

        count, found = ctypes.c_uint(_MOST), (_Process * _MOST)()
        handle = self._handle(card)
        _ask(self.library.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), found), "processes")
        return {int(process.pid) for process in found[: count.value]}

    def _handle(self, card: Card) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        _ask(self.library.nvmlDeviceGetHandleByUUID(card.uuid.encode(), ctypes.byref(handle)), "card")
        return handle


def look(library: str = "libnvidia-ml.so.1") -> Machine:
    """Raises Lacking with the reason where no card can be used."""
    try:
        loaded = ctypes.CDLL(library)
    except OSError as error:
        raise Lacking(f"no NVIDIA driver: {library} cannot be loaded ({error}); install the driver") from error
    _ask(loaded.nvmlInit_v2(), "nvmlInit")
    cards = nvml.cards(library)
    if not cards:
        raise Lacking("the driver tells of no card: nvidia-smi shows why")
    # nvml.cards has closed its own use of the library; ours is opened again.
    _ask(loaded.nvmlInit_v2(), "nvmlInit")
    text = ctypes.create_string_buffer(96)
    _ask(loaded.nvmlSystemGetDriverVersion(text, len(text)), "driver version")
    there = listing("/dev")
    for card in cards:
        try:
            devices.nodes([fence_of(card)], there)
        except devices.NoSuchCard as error:
            raise Lacking(f"{error}; as root: nvidia-modprobe -u -c 0, or nvidia-smi once") from error
    if "nvidia-uvm" not in there:
        raise Lacking("/dev/nvidia-uvm is not there: CUDA cannot start in a sandbox; as root: nvidia-modprobe -u -c 0")
    machine = Machine(cards, text.value.decode("ascii", "replace"), loaded)
    for card in cards:
        if busy := machine.holders(card):
            raise Lacking(f"card {card.index} is in use by process {sorted(busy)}: its figures would not be ours")
    return machine


def fence_of(card: Card) -> dict[str, Any]:
    """As the card stands in a fence."""
    return {key: value for key, value in asdict(card).items() if key != "capabilities"}


def memory_of_host() -> int:
    """Bytes that a run may have: most of the machine's, at most 32 GiB (CUDA maps a lot)."""
    return min(32 << 30, int(0.6 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))


def _ask(code: int, what: str) -> None:
    if code != 0:
        raise Lacking(f"the driver does not tell its {what} (NVML error {code})")
