"""A real card in the sandbox: CUDA starts, its memory is seen from outside, and it is clean after a kill.

Speaks to the driver itself (libcuda, libnvidia-ml), so no torch is needed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Any

import pytest
from qianka.supervisor.cards import CardMeter
from qianka.testing.supervised import MIB, ORDINARY, Direct, Ended, Launched, job, wait_for

pytestmark = pytest.mark.gpu
GIB = 1 << 30
USE = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def check(code, what):
    if code:
        sys.exit(f"{what}: CUDA error {code}")
check(cuda.cuInit(0), "cuInit")
count, device, context, place = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_ulonglong()
check(cuda.cuDeviceGetCount(ctypes.byref(count)), "count")
check(cuda.cuDeviceGet(ctypes.byref(device), 0), "device")
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "context")
check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(1 << 30)), "memory")
check(cuda.cuMemsetD8_v2(place, 1, ctypes.c_size_t(1 << 30)), "writing")
check(cuda.cuCtxSynchronize(), "waiting")
print("cards", count.value, flush=True)
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def card() -> dict[str, Any]:
    if not os.path.exists("/dev/nvidiactl"):
        pytest.skip("needs an NVIDIA card")
    library = ctypes.CDLL("libnvidia-ml.so.1")
    assert library.nvmlInit_v2() == 0
    handle = ctypes.c_void_p()
    assert library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
    uuid = ctypes.create_string_buffer(96)
    assert library.nvmlDeviceGetUUID(handle, uuid, 96) == 0
    minor = ctypes.c_uint()
    assert library.nvmlDeviceGetMinorNumber(handle, ctypes.byref(minor)) == 0
    return {"index": minor.value, "uuid": uuid.value.decode(), "model": "card", "memory": 0, "simulated": False}


@pytest.fixture(scope="module")
def runner() -> Iterator[Launched | Direct]:
    with Launched() if os.geteuid() == 0 else Direct() as found:
        yield found


def use(runner: Launched | Direct, card: dict[str, Any], name: str, seconds: float, **limits: Any) -> Ended:
    spec = job(
        name,
        ["/usr/bin/python3", "-c", USE, str(seconds)],
        resources={"memory": 8 * GIB, "gpus": 1},
        limits={"wall": 60, "processes": 256, "tmp": 256 * MIB, "shm": 256 * MIB, **limits},
    )
    return runner.run(spec, cards=[card])


def test_cuda_starts_and_its_memory_is_seen_from_outside(runner: Launched | Direct, card: dict[str, Any]) -> None:
    ended = use(runner, card, "j-cuda", 4)
    assert ended.result["state"] == "COMPLETED", ended.stderr
    assert ended.stdout == "cards 1\n"
    assert GIB <= ended.result["peak_card_memory"] < 3 * GIB
    assert ended.result["gpu_seconds"] == pytest.approx(ended.result["wall"], abs=0.01)


def test_a_job_without_a_card_sees_none(runner: Launched | Direct, card: dict[str, Any]) -> None:
    spec = job("j-without", ["/usr/bin/python3", "-c", USE, "0"], resources={"memory": 8 * GIB})
    ended = runner.run(spec)
    assert ended.result["state"] == "FAILED"
    assert "cuInit" in ended.stderr or "libcuda" in ended.stderr


def test_the_card_is_clean_after_a_kill(runner: Launched | Direct, card: dict[str, Any]) -> None:
    before = holders(card)
    ended = use(runner, card, "j-kill", 60, wall=5)
    assert ended.reason == "timeout_wall"
    wait_for(lambda: holders(card) <= before)


def holders(card: dict[str, Any]) -> set[int]:
    """Processes of ours (or of the runs' uids) that hold memory of the card."""
    meter = CardMeter([card])
    found = set()
    for name in os.listdir("/proc"):
        if name.isdecimal() and meter.look([int(name)]):
            found.add(int(name))
    return found


def test_an_ordinary_user_gets_the_card_as_well(card: dict[str, Any]) -> None:
    with Direct(ORDINARY if os.geteuid() == 0 else None) as direct:
        ended = use(direct, card, "j-user", 1)
    assert ended.result["state"] == "COMPLETED", ended.stderr
