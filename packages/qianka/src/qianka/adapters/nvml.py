"""The cards of this machine, asked of NVIDIA's management library by ctypes; no library, no cards."""

from __future__ import annotations

import ctypes

from qianka.domain.resources import Card

_LIBRARY = "libnvidia-ml.so.1"


class _Memory(ctypes.Structure):
    """nvmlMemory_t, bytes"""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


def cards(library: str = _LIBRARY) -> tuple[Card, ...]:
    """What the driver tells of; a card that does not answer is left out."""
    try:
        nvml = ctypes.CDLL(library)
    except OSError:
        return ()
    if nvml.nvmlInit_v2() != 0:
        return ()
    try:
        count = ctypes.c_uint()
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
            return ()
        found = (_card(nvml, index) for index in range(count.value))
        return tuple(card for card in found if card is not None)
    finally:
        nvml.nvmlShutdown()


def _card(nvml: ctypes.CDLL, index: int) -> Card | None:
    handle, memory, minor = ctypes.c_void_p(), _Memory(), ctypes.c_uint(index)
    name, uuid = ctypes.create_string_buffer(128), ctypes.create_string_buffer(128)
    answers = (
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        or nvml.nvmlDeviceGetUUID(handle, uuid, len(uuid))
        or nvml.nvmlDeviceGetName(handle, name, len(name))
        or nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
    )
    if answers != 0:
        return None
    # Its device node's number, which differs from the library's own where the bus counts otherwise.
    if nvml.nvmlDeviceGetMinorNumber(handle, ctypes.byref(minor)) != 0:
        minor = ctypes.c_uint(index)
    return Card(
        index=minor.value,
        uuid=uuid.value.decode("ascii", "replace"),
        model=name.value.decode("ascii", "replace"),
        memory=int(memory.total),
    )


class _Rates(ctypes.Structure):
    """nvmlUtilization_t, percent"""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class Look:
    """How busy cards are. The library is opened once: opening it wakes cards that sleep."""

    def __init__(self, library: str = _LIBRARY) -> None:
        self._nvml: ctypes.CDLL | None = None
        try:
            nvml = ctypes.CDLL(library)
        except OSError:
            return
        if nvml.nvmlInit_v2() == 0:
            self._nvml = nvml

    def at(self, uuid: str) -> tuple[float | None, int | None]:
        """Utilisation in percent and bytes in use of a card; None for what the driver does not tell."""
        nvml, handle = self._nvml, ctypes.c_void_p()
        if nvml is None or nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)) != 0:
            return None, None
        rates, memory = _Rates(), _Memory()
        busy = nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(rates)) == 0
        told = nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
        return float(rates.gpu) if busy else None, int(memory.used) if told else None

    def close(self) -> None:
        """Let go of the library."""
        if self._nvml is not None:
            self._nvml.nvmlShutdown()
            self._nvml = None
