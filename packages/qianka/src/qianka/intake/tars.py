"""Tar archives, plain or packed by gzip, bzip2 or xz, read once from front to back.

`tarfile` reads extended headers whole, however long they claim to be; this reader does not.
"""

from __future__ import annotations

import bz2
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from qianka.intake.entries import CHUNK, Entry, Kind
from qianka.intake.formats import Format
from qianka.intake.names import Name, decode
from qianka.intake.refusals import damaged, not_plain, ratio, refused, too_big
from qianka.intake.rules import Rules

_BLOCK = tarfile.BLOCKSIZE
_MAX_HEADER = 1 << 16
_XZ_MEMORY = 128 << 20

_KINDS: dict[bytes, Kind] = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.CONTTYPE: "file",
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "link",
    tarfile.LNKTYPE: "hard link",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "pipe",
}


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the face of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class TarSource:
    """A tar file as a source of entries."""

    def __init__(self, archive: Path, kind: Format, rules: Rules) -> None:
        self.packed = archive.stat().st_size
        self._stream = _Stream(archive, kind, rules)
        self._kind = kind
        self._left = 0
        self._padding = 0

    def entries(self) -> Iterator[Entry]:
        is_first = True
        long_name: bytes | None = None
        pax: dict[str, bytes] = {}
        while True:
            header = self._header(is_first)
            if header is None:
                return
            is_first = False
            if header.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                pax = _pax(self._small(header.size))
                continue
            if header.type == tarfile.XGLTYPE:
                self._small(header.size)
                continue
            if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
                text = self._small(header.size).split(b"\0", 1)[0]
                long_name = text if header.type == tarfile.GNUTYPE_LONGNAME else long_name
                continue
            yield self._entry(header, pax, long_name)
            self._skip()
            pax, long_name = {}, None

    def read(self) -> Iterator[bytes]:
        while self._left:
            piece = self._stream.read(min(CHUNK, self._left))
            if not piece:
                raise damaged("压缩包不完整", "the archive is cut short")
            self._left -= len(piece)
            yield piece

    def close(self) -> None:
        self._stream.close()

    def _entry(self, header: tarfile.TarInfo, pax: dict[str, bytes], long_name: bytes | None) -> Entry:
        raw = pax.get("path") or long_name or header.name.encode("latin-1")
        name: Name = decode(raw, is_utf8="path" in pax)
        kind = _KINDS.get(header.type, "other")
        if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in pax):
            raise not_plain(name.text, "稀疏文件", "a sparse file")
        size = header.size
        if pax.get("size", b"").isdigit():
            size = int(pax["size"])
        if kind == "file" and raw.endswith(b"/"):
            kind = "folder"
        has_data = kind in ("file", "other") or (kind == "folder" and size > 0)
        self._left = size if has_data else 0
        self._padding = -self._left % _BLOCK
        return Entry(name=name.text, guess=name.guess, kind=kind, size=size if kind == "file" else 0)

    def _header(self, is_first: bool) -> tarfile.TarInfo | None:
        block = self._stream.exactly(_BLOCK)
        if not block and not is_first:
            return None
        if len(block) == _BLOCK and not any(block):
            self._stream.drain()
            return None
        try:
            if len(block) < _BLOCK:
                raise tarfile.TarError("short")
            header = tarfile.TarInfo.frombuf(block, "latin-1", "strict")
        except (tarfile.TarError, ValueError) as error:
            if is_first and self._kind != "tar":
                raise refused(
                    "wrong_format",
                    f"这个 .{self._kind} 里面不是 tar（可能只压缩了一个文件）",
                    f"there is no tar inside this .{self._kind}: perhaps one single file was packed",
                ) from error
            raise damaged() from error
        if header.size < 0:
            raise damaged()
        return header

    def _small(self, size: int) -> bytes:
        if size > _MAX_HEADER:
            raise refused("name_too_long", "压缩包里的文件名太长", "a name in the archive is too long")
        data = self._stream.exactly(size)
        self._stream.exactly(-size % _BLOCK)
        if len(data) < size:
            raise damaged()
        return data

    def _skip(self) -> None:
        for _ in self.read():
            pass
        self._stream.exactly(self._padding)
        self._padding = 0


class _Stream:
    """Unpacked bytes, front to back, never more of them at once than asked for and never more than the caps."""

    def __init__(self, archive: Path, kind: Format, rules: Rules) -> None:
        self._file = archive.open("rb")
        self._kind = kind
        self._decoder = _decoder(kind)
        self._input = b""
        self._rest = b""
        self._total = 0
        # Litter counts here although it is not kept; headers and padding take up to 1 KiB an entry.
        self._cap = 2 * rules.max_bytes + rules.max_listed * 1024
        self._limit = rules.max_bytes
        self._ratio = rules.max_ratio
        self._packed = max(archive.stat().st_size, 1 << 16)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; b"" at the end."""
        if not self._rest:
            self._rest = self._next()
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def exactly(self, size: int) -> bytes:
        """`size` bytes, fewer only at the end."""
        pieces = []
        while size:
            piece = self.read(size)
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def drain(self) -> None:
        """Read to the end, so that the packer's checksum is checked."""
        while self.read(CHUNK):
            pass

    def close(self) -> None:
        self._file.close()

    def _next(self) -> bytes:
        piece = self._unpack()
        self._total += len(piece)
        if self._total > self._cap:
            raise too_big("total", self._limit)
        if self._decoder is not None and self._total > max(1 << 20, self._ratio * self._packed):
            raise ratio(self._ratio)
        return piece

    def _unpack(self) -> bytes:
        if self._decoder is None:
            return self._file.read(CHUNK)
        try:
            while True:
                if self._decoder.eof and not self._another():
                    return b""
                data = b""
                if self._decoder.needs_input:
                    data, self._input = self._input or self._file.read(CHUNK), b""
                piece = self._decoder.decompress(data, CHUNK)
                if piece:
                    return piece
                if not data and self._decoder.needs_input and not self._decoder.eof:
                    raise damaged("压缩包不完整", "the archive is cut short")
        except (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError) as error:
            raise damaged() from error

    def _another(self) -> bool:
        """Go on to a packed stream that follows the one that ended; packers put several in a file."""
        rest = b"" if self._decoder is None else self._decoder.unused_data
        self._input = (rest or self._file.read(CHUNK)).lstrip(b"\0")
        if self._input:
            self._decoder = _decoder(self._kind)
        return bool(self._input)


def _decoder(kind: Format) -> _Decoder | None:
    if kind == "gz":
        return _Gzip()
    if kind == "bz2":
        return bz2.BZ2Decompressor()
    if kind == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return None


def _pax(data: bytes) -> dict[str, bytes]:
    """The records `LENGTH KEY=VALUE\\n` of an extended header."""
    found: dict[str, bytes] = {}
    while data:
        length, space, _ = data.partition(b" ")
        if not space or not length.isdigit() or len(length) > 6 or not 0 < int(length) <= len(data):
            raise damaged()
        key, equals, value = data[len(length) + 1 : int(length)].partition(b"=")
        if not equals:
            raise damaged()
        found[key.decode("utf-8", "replace")] = value.removesuffix(b"\n")
        data = data[int(length) :]
    return found
