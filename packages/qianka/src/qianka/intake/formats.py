"""What a file is, by its first bytes: never by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from qianka.errors import Refused
from qianka.intake.refusals import damaged, refused

Format = Literal["zip", "tar", "gz", "bz2", "xz"]

_TAKEN: tuple[tuple[int, bytes, Format], ...] = (
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"\x1f\x8b", "gz"),
    (0, b"BZh", "bz2"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (257, b"ustar", "tar"),
)
_NAMED: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"Rar!\x1a\x07", "RAR 文件", "a RAR file"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z 文件", "a 7z file"),
    (0, b"PK\x07\x08", "分卷 zip 的一部分", "one part of a split zip"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard 文件", "a Zstandard file"),
    (0, b"\x1f\x9d", ".Z 文件", "a .Z file"),
    (0, b"MSCF", "CAB 文件", "a CAB file"),
    (0, b"MZ", "Windows 程序（自解压包也不收）", "a Windows program (self-extracting archives are not taken)"),
    (0, b"\x7fELF", "Linux 程序", "a Linux program"),
    (0, b"%PDF", "PDF 文件", "a PDF file"),
    (0, b"\xd0\xcf\x11\xe0", "旧版 Office 文件", "an old Office file"),
    (0, b"\x89PNG", "PNG 图片", "a PNG picture"),
    (0, b"\xff\xd8\xff", "JPEG 图片", "a JPEG picture"),
    (32769, b"CD001", "ISO 映像", "an ISO image"),
)


def sniff(archive: Path) -> Format:
    """The format of an archive; raises Refused naming what it is instead."""
    with archive.open("rb") as file:
        head = file.read(32_774)
    if not head:
        raise refused("empty", "文件是空的", "the file is empty")
    for offset, magic, kind in _TAKEN:
        if head[offset : offset + len(magic)] == magic:
            return kind
    for offset, magic, zh, en in _NAMED:
        if head[offset : offset + len(magic)] == magic:
            raise refused(
                "wrong_format", f"这是 {zh}，只收 zip 和 tar", f"this is {en}; zip and tar are taken", format=en
            )
    raise _unknown(head)


def archive_name(head: bytes) -> str | None:
    """What sort of archive begins with `head`; None when it is none."""
    for offset, magic, kind in _TAKEN:
        if head[offset : offset + len(magic)] == magic:
            return kind
    for offset, magic, _, en in _NAMED[:3]:
        if head[offset : offset + len(magic)] == magic:
            return en.split()[-2] if en.endswith(" file") else "zip"
    return None


def _unknown(head: bytes) -> Refused:
    start = head[:512].lstrip(b"\xef\xbb\xbf \r\n\t").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return refused(
            "wrong_format",
            "这是一个网页（可能下载失败），不是压缩包",
            "this is a web page (a failed download?), not an archive",
        )
    if start.startswith(b"{") and b'"cells"' in head:
        return refused(
            "wrong_format", "这是一个 Jupyter 笔记本，不是压缩包", "this is a Jupyter notebook, not an archive"
        )
    if len(head) >= 512 and not any(head[:512]):
        return damaged("文件开头全是零，不是压缩包", "the file begins with zeros: it is not an archive")
    if b"\x00" not in head[:4096]:
        return refused("wrong_format", "这是一个文本文件，不是压缩包", "this is a text file, not an archive")
    return refused(
        "wrong_format", "认不出这是什么文件，只收 zip 和 tar", "this is no known archive; zip and tar are taken"
    )
