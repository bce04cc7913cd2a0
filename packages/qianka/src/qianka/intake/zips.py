"""Zip archives, read by their directory; small in memory whatever the headers claim.

The standard library's reader loads the whole directory first, refuses an archive over one name whose
UTF-8 flag lies, and lets a later entry of the same name win; hence this one.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from qianka.intake.entries import CHUNK, Entry, Kind
from qianka.intake.names import Name, decode
from qianka.intake.refusals import damaged, encrypted, refused, shown, too_many
from qianka.intake.rules import Rules

_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_FULL32, _FULL16 = 0xFFFFFFFF, 0xFFFF
_UTF8, _LOCKED = 1 << 11, 1 | 1 << 6 | 1 << 13
_STORED, _DEFLATED, _AES = 0, 8, 99
_FAIR_ROW = 300


class _Row(NamedTuple):
    raw: bytes
    name: Name
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int


class ZipSource:
    """A zip file as a source of entries."""

    def __init__(self, archive: Path, rules: Rules) -> None:
        self._file = archive.open("rb")
        try:
            self.packed = archive.stat().st_size
            self._rules = rules
            self._rows = self._directory()
        except BaseException:
            self._file.close()
            raise
        self._current: _Row | None = None

    def entries(self) -> Iterator[Entry]:
        for row in self._rows:
            self._current = row
            yield Entry(
                name=row.name.text,
                guess=row.name.guess,
                kind=_kind(row),
                size=row.size,
                is_encrypted=bool(row.flags & _LOCKED) or row.method == _AES,
            )

    def read(self) -> Iterator[bytes]:
        row = self._current
        if row is None:
            return
        if row.method not in (_STORED, _DEFLATED):
            raise refused(
                "zip_method",
                f"{shown(row.name.text)} 用了少见的压缩方法（{row.method}）",
                f"{shown(row.name.text)} is packed by an unusual method ({row.method})",
            )
        self._seek_data(row)
        seen, crc = 0, 0
        for piece in self._inflate(row):
            seen += len(piece)
            if seen > row.size:
                raise damaged(
                    f"{shown(row.name.text)} 的实际大小和记录的不一样",
                    f"{shown(row.name.text)} is larger than it claims",
                )
            crc = zlib.crc32(piece, crc)
            yield piece
        if seen != row.size or crc != row.crc:
            raise damaged(
                f"{shown(row.name.text)} 的内容和校验值不符",
                f"the content of {shown(row.name.text)} fails its checksum",
            )

    def close(self) -> None:
        self._file.close()

    def _inflate(self, row: _Row) -> Iterator[bytes]:
        left = row.packed
        decoder = zlib.decompressobj(-15) if row.method == _DEFLATED else None
        while left:
            data = self._file.read(min(CHUNK, left))
            if not data:
                raise damaged()
            left -= len(data)
            if decoder is None:
                yield data
                continue
            while data and not decoder.eof:
                try:
                    piece = decoder.decompress(data, CHUNK)
                except zlib.error as error:
                    raise damaged() from error
                data = decoder.unconsumed_tail
                if piece:
                    yield piece
        if decoder is not None:
            yield from self._drain(decoder)

    def _drain(self, decoder: zlib._Decompress) -> Iterator[bytes]:
        while not decoder.eof:
            try:
                piece = decoder.decompress(b"", CHUNK)
            except zlib.error as error:
                raise damaged() from error
            if not piece:
                raise damaged()
            yield piece

    def _seek_data(self, row: _Row) -> None:
        self._file.seek(row.offset)
        header = self._file.read(_LOCAL.size)
        if len(header) < _LOCAL.size:
            raise damaged()
        signature, _, flags, method, *_, name_length, extra_length = _LOCAL.unpack(header)
        if signature != b"PK\x03\x04" or method != row.method:
            raise damaged()
        if flags & _LOCKED:
            raise encrypted()
        if self._file.read(name_length) != row.raw:
            raise damaged(
                f"{shown(row.name.text)} 在目录和正文里的名字不一样", f"{shown(row.name.text)} has two different names"
            )
        self._file.seek(extra_length, 1)

    def _directory(self) -> list[_Row]:
        count, size, offset = self._end()
        # A name may take 64 KiB: the size of the directory has to be bounded as well as its count.
        if count > self._rules.max_listed or size > self._rules.max_listed * _FAIR_ROW:
            raise too_many(self._rules.max_listed)
        self._file.seek(offset)
        rows: list[_Row] = []
        left = size
        while left >= _CENTRAL.size:
            if len(rows) >= self._rules.max_listed:
                raise too_many(self._rules.max_listed)
            row, used = self._row()
            left -= used
            rows.append(row)
        if left or len(rows) & _FULL16 != count & _FULL16:
            raise damaged()
        _no_overlap(rows, offset)
        return rows

    def _row(self) -> tuple[_Row, int]:
        header = self._file.read(_CENTRAL.size)
        if len(header) < _CENTRAL.size:
            raise damaged()
        fields = _CENTRAL.unpack(header)
        if fields[0] != b"PK\x01\x02":
            raise damaged()
        flags, method, crc, packed, size = fields[3], fields[4], fields[7], fields[8], fields[9]
        name_length, extra_length, comment_length, disk = fields[10:14]
        raw = self._file.read(name_length)
        extra = _extra(self._file.read(extra_length))
        self._file.seek(comment_length, 1)
        wide = extra.get(0x0001, b"")
        values = [size, packed, fields[16]]
        for i, value in enumerate(values):
            if value == _FULL32:
                if len(wide) < 8:
                    raise damaged()
                values[i], wide = int.from_bytes(wide[:8], "little"), wide[8:]
        if disk not in (0, _FULL16):
            raise damaged("这是分卷压缩包的一部分", "this is one part of a split archive")
        name = _unicode_name(raw, extra.get(0x7075)) or decode(raw, bool(flags & _UTF8))
        row = _Row(raw, name, flags, method, crc, values[1], values[0], fields[15] >> 16, values[2])
        return row, _CENTRAL.size + name_length + extra_length + comment_length

    def _end(self) -> tuple[int, int, int]:
        tail_start = max(0, self.packed - _FULL16 - _END.size)
        self._file.seek(tail_start)
        tail = self._file.read()
        at = tail.rfind(b"PK\x05\x06")
        while at >= 0:
            if len(tail) - at >= _END.size:
                fields = _END.unpack_from(tail, at)
                if tail_start + at + _END.size + fields[7] == self.packed:
                    break
            at = tail.rfind(b"PK\x05\x06", 0, at)
        if at < 0:
            raise damaged("压缩包不完整（找不到结尾）", "the archive is cut short: its end is missing")
        _, disk, _, _, count, size, offset, _ = fields
        if disk not in (0, _FULL16):
            raise damaged("这是分卷压缩包的一部分", "this is one part of a split archive")
        end = tail_start + at
        if count == _FULL16 or _FULL32 in (size, offset):
            wide = self._end64(end)
            if wide is not None:
                count, size, offset, end = wide
        if offset + size != end:
            raise damaged()
        return count, size, offset

    def _end64(self, end: int) -> tuple[int, int, int, int] | None:
        if end < _LOCATOR.size:
            return None
        self._file.seek(end - _LOCATOR.size)
        signature, _, where, _ = _LOCATOR.unpack(self._file.read(_LOCATOR.size))
        if signature != b"PK\x06\x07":
            return None
        if where + _END64.size > end:
            raise damaged()
        self._file.seek(where)
        fields = _END64.unpack(self._file.read(_END64.size))
        if fields[0] != b"PK\x06\x06":
            raise damaged()
        return fields[7], fields[8], fields[9], where


def _kind(row: _Row) -> Kind:
    form = stat.S_IFMT(row.mode)
    kinds: dict[int, Kind] = {
        stat.S_IFLNK: "link",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "other",
    }
    if form in kinds:
        return kinds[form]
    return "folder" if row.raw.endswith(b"/") or form == stat.S_IFDIR else "file"


def _extra(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while len(data) >= 4:
        kind, length = struct.unpack_from("<HH", data)
        found.setdefault(kind, data[4 : 4 + length])
        data = data[4 + length :]
    return found


def _unicode_name(raw: bytes, field: bytes | None) -> Name | None:
    """The name in Info-ZIP's Unicode path field, when it belongs to this raw name."""
    if not field or len(field) < 6 or field[0] != 1 or int.from_bytes(field[1:5], "little") != zlib.crc32(raw):
        return None
    try:
        return Name(field[5:].decode("utf-8"), None)
    except UnicodeDecodeError:
        return None


def _no_overlap(rows: list[_Row], end: int) -> None:
    """Entries that share bytes are a bomb: a few packed bytes counted a thousand times."""
    reach = 0
    for row in sorted(rows, key=lambda row: row.offset):
        if row.offset < reach:
            raise refused(
                "overlap",
                "压缩包里的文件互相重叠，像压缩炸弹",
                "files in the archive overlap, like a decompression bomb",
            )
        reach = row.offset + _LOCAL.size + len(row.raw) + row.packed
    if reach > end:
        raise damaged()
