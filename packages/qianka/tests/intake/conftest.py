"""Archives: fair ones, those that broke other systems, and hostile ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

FAIR = {"code/train.py": b"print('train')\n", "code/predict.py": b"print('predict')\n", "README.md": b"# hw1\n"}
Pack = Callable[..., Path]


def raw_zip(
    entries: Iterable[tuple[bytes, bytes]], *, utf8: bool = False, method: int = 8, claim: int | None = None
) -> bytes:
    """A zip whose names are the given bytes.

    `utf8` sets the flag that says they are UTF-8, `claim` is the count of entries that its end states.
    """
    out, central = io.BytesIO(), io.BytesIO()
    count = 0
    for name, data in entries:
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(data) + packer.flush() if method == 8 else data
        flags, crc, offset = (0x800 if utf8 else 0), zlib.crc32(data), out.tell()
        head = (flags, method, 0, 0x21, crc, len(packed), len(data), len(name), 0)
        out.write(struct.pack("<4sH2H2H3L2H", b"PK\3\4", 20, *head) + name + packed)
        central.write(struct.pack("<4s2H2H2H3L2H", b"PK\1\2", 20, 20, *head) + struct.pack("<3H2L", 0, 0, 0, 0, offset))
        central.write(name)
        count += 1
    start = out.tell()
    out.write(central.getvalue())
    count = count if claim is None else claim
    out.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, out.tell() - start, start, 0))
    return out.getvalue()


def plain_zip(files: Mapping[str, bytes]) -> bytes:
    """A zip as any system makes it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return out.getvalue()


def plain_tar(files: Mapping[str, bytes], *, pax: bool = True) -> bytes:
    """A tar as any system makes it."""
    out = io.BytesIO()
    form = tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name, data in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            made.addfile(header, io.BytesIO(data))
    return out.getvalue()


def special_tar(name: str, kind: bytes, link: str = "") -> bytes:
    """A tar with one entry that is no plain file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        header = tarfile.TarInfo(name)
        header.type, header.linkname = kind, link
        made.addfile(header)
    return out.getvalue()


def link_zip(name: str, target: str, *more: tuple[str, bytes]) -> bytes:
    """A zip with a symbolic link, followed by `more`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        header = zipfile.ZipInfo(name)
        header.create_system, header.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        made.writestr(header, target)
        for path, data in more:
            made.writestr(path, data)
    return out.getvalue()


def _lie() -> bytes:
    data = bytearray(plain_zip({"a.bin": bytes(8 << 20)}))
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.find(signature)
        data[at + offset : at + offset + 4] = struct.pack("<I", 10)
    return bytes(data)


def _locked() -> bytes:
    data = bytearray(plain_zip({"train.py": b"print(1)"}))
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.find(signature) + offset] |= 1
    return bytes(data)


def _overlapping() -> bytes:
    """Two directory entries that share the bytes of one file."""
    data = plain_zip({"a.txt": b"x" * 1000})
    at = data.find(b"PK\1\2")
    row, end = data[at:-22], data[-22:]
    end = end[:8] + struct.pack("<2H2L", 2, 2, 2 * len(row), at) + end[20:]
    return data[:at] + row + row + end


def _pax_bomb() -> bytes:
    """An extended header that claims to be 300 MB long."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 300 << 20
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20))


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "many.zip": (lambda: plain_zip({f"f{i}": b"" for i in range(50_000)}), "too_many_files"),
    "many.tar": (lambda: plain_tar({f"f{i}": b"" for i in range(5_000)}), "too_many_files"),
    "lie.zip": (_lie, "damaged"),
    "slip.zip": (lambda: plain_zip({"../evil.txt": b"x", "ok.txt": b"ok"}), "name_outside"),
    "slip-twin.zip": (lambda: plain_zip({"../work-evil/p.py": b"x"}), "name_outside"),
    "slip-deep.zip": (lambda: plain_zip({"a/../../etc/cron.d/x": b"x"}), "name_outside"),
    "slip-litter.zip": (lambda: plain_zip({"__MACOSX/../../x": b"x"}), "name_outside"),
    "absolute.zip": (lambda: raw_zip([(b"/var/tmp/evil_abs.txt", b"x")]), "name_absolute"),
    "backslash.zip": (lambda: raw_zip([(b"..\\evil2.txt", b"x")]), "name_outside"),
    "backslash-in.zip": (lambda: raw_zip([(b"code\\train.py", b"x")]), "name_backslash"),
    "drive.zip": (lambda: plain_zip({"C:/evil.txt": b"x"}), "name_drive"),
    "symlink.zip": (lambda: link_zip("data", "/srv/hidden_tests", ("data/planted.txt", b"x")), "not_a_file"),
    "dup.zip": (lambda: raw_zip([(b"train.py", b"1"), (b"train.py", b"2")]), "duplicate_name"),
    "twins.zip": (lambda: plain_zip({"train.py": b"1", "TRAIN.py": b"2"}), "duplicate_name"),
    "twin-folders.zip": (lambda: plain_zip({"Code/a.py": b"1", "code/b.py": b"2"}), "duplicate_name"),
    "file-and-folder.zip": (lambda: plain_zip({"a": b"1", "a/b": b"2"}), "duplicate_name"),
    "folder-and-file.zip": (lambda: plain_zip({"a/b": b"2", "a": b"1"}), "duplicate_name"),
    "unicode-twins.zip": (lambda: plain_zip({"caf\u00e9.py": b"1", "cafe\u0301.py": b"2"}), "duplicate_name"),
    "deep.zip": (lambda: plain_zip({"a/" * 3000 + "x": b"x"}), "too_deep"),
    "long.zip": (lambda: plain_zip({"训" * 80 + ".py": b"x"}), "name_too_long"),
    "control.zip": (lambda: plain_zip({"tr\x1bain.py": b"x"}), "name_control"),
    "newline.zip": (lambda: plain_zip({"a\nb.py": b"x"}), "name_control"),
    "bidi.zip": (lambda: plain_zip({"tr\u202eyp.exe": b"x"}), "name_control"),
    "nul.zip": (lambda: raw_zip([(b"train.py\0.txt", b"x")]), "name_control"),
    "locked.zip": (_locked, "encrypted"),
    "overlap.zip": (_overlapping, "overlap"),
    "cut.zip": (lambda: plain_zip({"a.py": b"x" * 5000})[:-10], "damaged"),
    "method.zip": (lambda: raw_zip([(b"a.py", b"x")], method=14), "zip_method"),
    "slip.tar": (lambda: plain_tar({"../evil_tar.txt": b"x"}), "name_outside"),
    "absolute.tar": (lambda: plain_tar({"/var/tmp/evil_tar_abs.txt": b"x"}), "name_absolute"),
    "symlink.tar": (lambda: special_tar("s", tarfile.SYMTYPE, "/var/tmp/hidden"), "not_a_file"),
    "hardlink.tar": (lambda: special_tar("h", tarfile.LNKTYPE, "/var/tmp/hidden/labels.csv"), "not_a_file"),
    "fifo.tar": (lambda: special_tar("f", tarfile.FIFOTYPE), "not_a_file"),
    "device.tar": (lambda: special_tar("d", tarfile.CHRTYPE), "not_a_file"),
    "block.tar": (lambda: special_tar("b", tarfile.BLKTYPE), "not_a_file"),
    "sparse.tar": (lambda: special_tar("s", tarfile.GNUTYPE_SPARSE), "not_a_file"),
    "pax-bomb.tar.gz": (_pax_bomb, "name_too_long"),
    "bomb.tar.gz": (lambda: gzip.compress(plain_tar({"zeros": bytes(100 << 20)})), "too_big"),
    "bomb.tar.xz": (lambda: lzma.compress(plain_tar({"z": bytes(40 << 20), "y": bytes(40 << 20)})), "ratio"),
    "cut.tar": (lambda: plain_tar({"a.py": b"x" * 5000})[:3000], "damaged"),
    "cut.tar.gz": (lambda: gzip.compress(plain_tar({"a.py": bytes(range(256)) * 50}))[:-20], "damaged"),
    "bad-crc.tar.gz": (lambda: gzip.compress(plain_tar({"a.py": b"x" * 5000}))[:-8] + bytes(8), "damaged"),
    "nothing.gz": (lambda: gzip.compress(b"print(1)\n" * 100), "wrong_format"),
    "nothing.bz2": (lambda: bz2.compress(b"print(1)\n"), "wrong_format"),
    "rar.zip": (lambda: b"Rar!\x1a\x07\x01\x00" + bytes(100), "wrong_format"),
    "7z.zip": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(100), "wrong_format"),
    "split.zip": (lambda: b"PK\x07\x08" + bytes(100), "wrong_format"),
    "exe.zip": (lambda: b"MZ" + bytes(100), "wrong_format"),
    "page.zip": (lambda: b"<!DOCTYPE html><html>404</html>", "wrong_format"),
    "text.zip": (lambda: b"print('hi')\n", "wrong_format"),
    "empty.zip": (lambda: b"", "empty"),
    "no-files.zip": (lambda: plain_zip({}), "empty"),
    "litter.zip": (lambda: plain_zip({".DS_Store": b"x", "__MACOSX/._a": b"x"}), "empty"),
}


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Writes bytes, or files to be zipped, to an archive and returns its path."""

    def write(content: bytes | Mapping[str, bytes], name: str = "hw.zip") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else plain_zip(content))
        return path

    return write


@pytest.fixture(scope="session")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1 GiB of zeros in a zip of 1 MiB."""
    packer = zlib.compressobj(9, wbits=-15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = piece * 1024 + zlib.compressobj(wbits=-15).flush()
    data = bytearray(raw_zip([(b"zeros.bin", packed)], method=0))
    for signature, method, size in ((b"PK\3\4", 8, 22), (b"PK\1\2", 10, 24)):
        at = data.rfind(signature)
        data[at + method] = 8
        data[at + size : at + size + 4] = (1 << 30).to_bytes(4, "little")
    path = tmp_path_factory.mktemp("bomb") / "bomb.zip"
    path.write_bytes(data)
    return path


@pytest.fixture(params=sorted(HOSTILE))
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A hostile archive and the reason with which it must be refused."""
    make, reason = HOSTILE[request.param]
    path = tmp_path / request.param
    path.write_bytes(make())
    return path, reason


@pytest.fixture
def make_zip() -> Callable[..., bytes]:
    """`raw_zip`."""
    return raw_zip


@pytest.fixture
def make_tar() -> Callable[..., bytes]:
    """`plain_tar`."""
    return plain_tar


@pytest.fixture
def fair() -> dict[str, bytes]:
    """The files of a fair hand-in."""
    return dict(FAIR)
