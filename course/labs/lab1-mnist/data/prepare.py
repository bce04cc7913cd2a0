"""造数据：把公开的 MNIST 分成训练、公开测试、隐藏测试三份，隐藏测试按班级密钥扰动。

Makes the data of lab 1 out of the public MNIST: training part, public test, hidden test, answers.

The split is the same for every cohort, so the handout can print numbers to expect. The test inputs
are not: whoever knows MNIST knows all answers, so each hidden image is moved by at most one pixel,
exposed differently and given a little noise, all drawn from the cohort's secret, and the rows are
shuffled by it. A table of known images then finds none of them. That raises the price of looking up,
it does not make it impossible: the nearest neighbour among all public images is still a good guess.
The public test is treated the same way (with a key that is no secret), so that its accuracy foretells
the hidden one.

Standard library only: the same bytes on every version of Python and numpy.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import struct
from pathlib import Path

SIDE = 28
PIXELS = SIDE * SIDE
IMAGES, LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"
PUBLIC_KEY = b"public"

Row = tuple[bytes, int]
"""one image (PIXELS bytes) and its digit"""

SPLITS = {"mnist-10k": (7_500, 500, 2_000), "mnist-full": (59_000, 1_000, 10_000)}
"""data set: images for training, public test, hidden test"""

GRAIN = int.from_bytes(b"\x07" * PIXELS, "big")
GAMMAS = (0.8, 1.0, 1.25)
EXPOSURES = [bytes(min(248, round(255 * (v / 255) ** gamma)) for v in range(256)) for gamma in GAMMAS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed-file", type=Path, required=True)
    options = parser.parse_args()
    name = next((name for name in SPLITS if (options.cache / name).is_dir()), None)
    if name is None:
        raise SystemExit(f"缓存里没有 {' 或 '.join(SPLITS)} / the cache holds none of {', '.join(SPLITS)}")
    secret = bytes.fromhex(options.seed_file.read_text("ascii").strip())
    prepare(name, options.cache / name, options.out, secret)


def prepare(name: str, source: Path, out: Path, secret: bytes) -> None:
    """Write train/, public/, test/ and answers/ below `out`."""
    train, public, hidden = divide(name, source)
    for folder in ("train", "public/test", "test", "answers"):
        (out / folder).mkdir(parents=True)
    write_images(out / "train" / f"train-{IMAGES}", train)
    labels = bytes(digit for _, digit in train)
    (out / "train" / f"train-{LABELS}").write_bytes(struct.pack(">2I", 0x0801, len(labels)) + labels)
    for key, rows, inputs, answers in (
        (PUBLIC_KEY, public, out / "public" / "test", out / "public" / "answers.csv"),
        (secret, hidden, out / "test", out / "answers" / "answers.csv"),
    ):
        order = sorted(range(len(rows)), key=lambda row, key=key: draw(key, "order", row, 32))
        shown = [(perturb(rows[row][0], draw(key, "image", row, 2 + PIXELS)), rows[row][1]) for row in order]
        write_images(inputs / f"test-{IMAGES}", shown)
        lines = [f"{number},{digit}\n" for number, (_, digit) in enumerate(shown)]
        answers.write_text("id,label\n" + "".join(lines), "utf-8")


def divide(name: str, source: Path) -> tuple[list[Row], list[Row], list[Row]]:
    """Training, public and hidden rows. Full MNIST brings a test part of its own, the small set does not."""
    train, public, hidden = SPLITS[name]
    if (source / f"test-{IMAGES}").exists():
        pool = shuffle(name, "train", read(source, "train-"))
        rest = shuffle(name, "test", read(source, "test-"))
    else:
        everything = shuffle(name, "train", read(source, ""))
        pool, rest = everything[:-hidden], everything[-hidden:]
    if len(pool) < train + public or len(rest) < hidden:
        raise SystemExit(f"{name} 的图片不够 / {name} has too few images: {len(pool)} + {len(rest)}")
    return pool[public : public + train], pool[:public], rest[:hidden]


def shuffle(name: str, part: str, rows: list[Row]) -> list[Row]:
    """`rows` in an order that is always the same and has nothing to do with the source's (sorted by digit)."""
    order = sorted(range(len(rows)), key=lambda row: hashlib.sha256(f"{name}/{part}/{row}".encode()).digest())
    return [rows[row] for row in order]


def perturb(image: bytes, noise: bytes) -> bytes:
    """`image` moved by at most one pixel, exposed differently, with three bits of grain.

    `noise` needs 2 + PIXELS bytes; equal noise gives equal images.
    """
    across, down = noise[0] % 3 - 1, noise[1] % 3 - 1
    blank = bytes(SIDE)
    rows = [image[start : start + SIDE] for start in range(0, PIXELS, SIDE)]
    rows = [rows[y - down] if 0 <= y - down < SIDE else blank for y in range(SIDE)]
    moved = b"".join((row[1:] + b"\0", row, b"\0" + row[:-1])[across + 1] for row in rows)
    exposed = moved.translate(EXPOSURES[noise[0] // 3 % 3])
    # Exposures end at 248: adding at most 7 to each byte carries into no neighbour, so one addition does all.
    grain = int.from_bytes(noise[2 : 2 + PIXELS], "big") & GRAIN
    return (int.from_bytes(exposed, "big") + grain).to_bytes(PIXELS, "big")


def draw(key: bytes, use: str, row: int, size: int) -> bytes:
    """Bytes that only the holder of `key` can foretell."""
    return hashlib.shake_256(hmac.new(key, f"{use}/{row}".encode(), "sha256").digest()).digest(size)


def read(source: Path, prefix: str) -> list[Row]:
    """The rows of a pair of IDX files: a header of 16 or 8 bytes, then the bytes themselves."""
    images = (source / f"{prefix}{IMAGES}").read_bytes()
    labels = (source / f"{prefix}{LABELS}").read_bytes()
    count, height, width = struct.unpack(">3I", images[4:16])
    if (height, width) != (SIDE, SIDE) or len(images) != 16 + count * PIXELS or len(labels) != 8 + count:
        raise SystemExit(f"{source} 里的 IDX 文件不完整 / the IDX files in {source} are not complete")
    return [(images[16 + row * PIXELS : 16 + (row + 1) * PIXELS], labels[8 + row]) for row in range(count)]


def write_images(path: Path, rows: list[Row]) -> None:
    """Write the images of `rows` as IDX."""
    path.write_bytes(struct.pack(">4I", 0x0803, len(rows), SIDE, SIDE) + b"".join(image for image, _ in rows))


if __name__ == "__main__":
    main()
