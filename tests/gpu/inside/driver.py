"""Inside the sandbox, by the driver alone: take SIZE bytes of the first card, hold them for SECONDS."""

import ctypes
import sys
import time

size, seconds = int(sys.argv[1]), float(sys.argv[2])
cuda = ctypes.CDLL("libcuda.so.1")


def check(code, what):
    if code:
        sys.exit(f"{what}: CUDA error {code}")


check(cuda.cuInit(0), "cuInit")
count, device, context, place = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_ulonglong()
check(cuda.cuDeviceGetCount(ctypes.byref(count)), "count")
check(cuda.cuDeviceGet(ctypes.byref(device), 0), "device")
identity = (ctypes.c_ubyte * 16)()
check(cuda.cuDeviceGetUuid(identity, device), "identity")
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "context")
check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(size)), "memory")
check(cuda.cuMemsetD8_v2(place, 1, ctypes.c_size_t(size)), "writing")
check(cuda.cuCtxSynchronize(), "waiting")
print("cards", count.value, bytes(identity).hex(), flush=True)
time.sleep(seconds)
