"""What one cohort's lab is given of a public data set: training part, public test, hidden test, answers.

The split is the same everywhere, so that a handout can print numbers to expect. The hidden inputs
are not: whoever knows the public data set knows all answers, so each hidden image is shifted,
re-exposed and given noise drawn from the cohort's secret, and the rows are shuffled by it. A table
of known images then finds none of them. It raises the price of looking up, it does not make it
impossible: the nearest neighbour among all public images is still a good guess.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qianka.adapters import datasets, idx
from qianka.errors import BadInput, Text

_MASK = int.from_bytes(b"\x07" * idx.PIXELS, "big")
_EXPOSURES = tuple(bytes(min(248, round(255 * (v / 255) ** gamma)) for v in range(256)) for gamma in (0.8, 1.0, 1.25))


@dataclass(frozen=True)
class Split:
    """How many images each part gets."""

    train: int
    public: int
    hidden: int


DEFAULTS = {"mnist-10k": Split(7500, 500, 2000), "mnist-full": Split(59_000, 1_000, 10_000)}


def prepare(name: str, source: Path, target: Path, *, secret: bytes, split: Split | None = None) -> None:
    """Write the parts of data set `name` (its folder: `source`) into the empty folder `target`.

    `target/train` images and labels · `target/public` the same, for trying out · `target/test` images
    alone · `target/answers/answers.csv` with `id,label`, and `target/answers/public.csv`.
    Raises BadInput when the data set is too small for the split.
    """
    split = split or DEFAULTS[name]
    digits = datasets.load(source)
    train, hidden = _divide(name, digits, split)
    public, train = train[: split.public], train[split.public :]
    train = train[: split.train]
    for folder in ("train", "public", "test", "answers"):
        (target / folder).mkdir(parents=True)
    _write(target / "train", "train", train)
    _write(target / "public", "test", public)
    order = sorted(range(len(hidden)), key=lambda row: _draw(secret, "order", row))
    shown = [(perturb(hidden[row][0], _draw(secret, "image", row, 2 + idx.PIXELS)), hidden[row][1]) for row in order]
    idx.write_images(target / "test" / f"test-{datasets.IMAGES}", [image for image, _ in shown])
    _answers(target / "answers" / "answers.csv", shown)
    _answers(target / "answers" / "public.csv", public)


def perturb(image: bytes, noise: bytes) -> bytes:
    """`image` moved by at most one pixel, exposed differently, with 3 bits of noise.

    `noise` needs 2 + PIXELS bytes; the same noise gives the same image.
    """
    across, down = noise[0] % 3 - 1, noise[1] // 3 % 3 - 1
    rows = [image[start : start + idx.SIDE] for start in range(0, idx.PIXELS, idx.SIDE)]
    blank = bytes(idx.SIDE)
    rows = [rows[y - down] if 0 <= y - down < idx.SIDE else blank for y in range(idx.SIDE)]
    moved = b"".join((b"\0" + row[:-1], row, row[1:] + b"\0")[1 - across] for row in rows)
    exposed = moved.translate(_EXPOSURES[noise[0] // 3 % 3])
    # Exposures end at 248: adding at most 7 to each byte carries into no neighbour, so one addition does all.
    grain = int.from_bytes(noise[2 : 2 + idx.PIXELS], "big") & _MASK
    return (int.from_bytes(exposed, "big") + grain).to_bytes(idx.PIXELS, "big")


def _divide(
    name: str, digits: datasets.Digits, split: Split
) -> tuple[list[tuple[bytes, int]], list[tuple[bytes, int]]]:
    """Everything that may be given out, and the hidden part, both in an order that hides the source's."""
    pool, hidden = _shuffled(name, "train", digits.train), _shuffled(name, "test", digits.test)
    if not hidden:
        pool, hidden = pool[: -split.hidden], pool[-split.hidden :]
    hidden = hidden[: split.hidden]
    if len(pool) < split.train + split.public or len(hidden) < split.hidden:
        raise BadInput(
            Text(f"{name} 没有这么多图片", f"{name} has not enough images"),
            Text(f"至多 {len(pool)} + {len(hidden)} 张", f"at most {len(pool)} + {len(hidden)}"),
        )
    return pool, hidden


def _shuffled(name: str, part: str, rows: Sequence[tuple[bytes, int]]) -> list[tuple[bytes, int]]:
    order = sorted(range(len(rows)), key=lambda row: hashlib.sha256(f"{name}/{part}/{row}".encode()).digest())
    return [rows[row] for row in order]


def _draw(secret: bytes, use: str, row: int, size: int = 32) -> bytes:
    """Bytes that only the holder of `secret` can foretell; hashing keeps them equal on every Python."""
    key = hmac.new(secret, f"{use}/{row}".encode(), "sha256").digest()
    return hashlib.shake_256(key).digest(size)


def _write(folder: Path, prefix: str, rows: Sequence[tuple[bytes, int]]) -> None:
    idx.write_images(folder / f"{prefix}-{datasets.IMAGES}", [image for image, _ in rows])
    idx.write_labels(folder / f"{prefix}-{datasets.LABELS}", bytes(label for _, label in rows))


def _answers(path: Path, rows: Sequence[tuple[bytes, int]]) -> None:
    lines = [f"{row},{label}\n" for row, (_, label) in enumerate(rows)]
    path.write_text("id,label\n" + "".join(lines), "utf-8")
