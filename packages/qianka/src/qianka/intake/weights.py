"""Trained weights, told by their first bytes as well as by their name."""

from __future__ import annotations

_ENDINGS = (
    ".pt .pth .ckpt .safetensors .npz .npy .pkl .pickle .joblib .h5 .hdf5 .onnx .gguf .tflite .pdparams .mat "
    ".msgpack .weights .params .caffemodel .keras"
)
_MAGIC = (b"\x93NUMPY", b"\x89HDF\r\n\x1a\n", b"GGUF")
LOOK = 512
"""bytes from the beginning of a file that are looked at"""


def is_weights(path: str, head: bytes) -> bool:
    """Whether a file looks like trained weights."""
    name = path.rsplit("/", 1)[-1].lower()
    if name.endswith(tuple(_ENDINGS.split(" "))):
        return True
    if head.startswith(_MAGIC) or (head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")):
        return True
    if head.startswith(b"PK\x03\x04") and (b"data.pkl" in head or b".npy" in head):
        return True
    is_safetensors = len(head) > 9 and head[8:10] == b'{"' and 0 < int.from_bytes(head[:8], "little") < 1 << 27
    return is_safetensors
