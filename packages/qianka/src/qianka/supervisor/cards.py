"""Card memory of a run, seen from outside through NVIDIA's management library. Loaded only for runs with a card."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_LIBRARY = "libnvidia-ml.so.1"
_MOST = 256


class _Process(ctypes.Structure):
    """nvmlProcessInfo_v2_t"""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class CardMeter:
    """Peak memory, bytes, over the allotted cards together."""

    def __init__(self, cards: list[dict[str, Any]]) -> None:
        self.peak: int | None = None
        self._handles: list[ctypes.c_void_p] = []
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError:
            return
        if self._library.nvmlInit_v2() != 0:
            return
        for card in cards:
            handle = ctypes.c_void_p()
            if self._library.nvmlDeviceGetHandleByUUID(str(card["uuid"]).encode(), ctypes.byref(handle)) == 0:
                self._handles.append(handle)

    def look(self, pids: Iterable[int]) -> int | None:
        """Memory now of the processes `pids`, bytes; None where the library does not say."""
        if not self._handles:
            return None
        ours = set(pids)
        used = 0
        for handle in self._handles:
            count = ctypes.c_uint(_MOST)
            found = (_Process * _MOST)()
            if self._library.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), found) != 0:
                return None
            # "Not available" is the largest number the field can hold.
            used += sum(p.used for p in found[: count.value] if p.pid in ours and p.used < 1 << 62)
        self.peak = max(self.peak or 0, used)
        return used
