"""IDX, the file format of MNIST: a big-endian header, then plain bytes (images) or one byte a label."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from qianka.errors import BadInput, Text

SIDE = 28
PIXELS = SIDE * SIDE
_IMAGES = 0x0803
_LABELS = 0x0801


def write_images(path: Path, images: Sequence[bytes]) -> None:
    """Write images of PIXELS bytes each."""
    path.write_bytes(struct.pack(">4I", _IMAGES, len(images), SIDE, SIDE) + b"".join(images))


def write_labels(path: Path, labels: bytes) -> None:
    """Write labels, one byte each."""
    path.write_bytes(struct.pack(">2I", _LABELS, len(labels)) + labels)


def read_images(data: bytes) -> list[bytes]:
    """The images in the bytes of an IDX file. Raises BadInput when they are none of 28 x 28."""
    if len(data) < 16:
        raise _broken()
    magic, count, rows, columns = struct.unpack(">4I", data[:16])
    if (magic, rows, columns) != (_IMAGES, SIDE, SIDE) or len(data) != 16 + count * PIXELS:
        raise _broken()
    return [data[start : start + PIXELS] for start in range(16, len(data), PIXELS)]


def read_labels(data: bytes) -> bytes:
    """The labels in the bytes of an IDX file. Raises BadInput."""
    if len(data) < 8:
        raise _broken()
    magic, count = struct.unpack(">2I", data[:8])
    if magic != _LABELS or len(data) != 8 + count:
        raise _broken()
    return data[8:]


def _broken() -> BadInput:
    return BadInput(Text("不是完整的 IDX 文件", "not a complete IDX file"))
