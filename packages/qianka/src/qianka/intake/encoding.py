"""Whether the text files of a tree are what Python and a shell can read: UTF-8, or as they declare.

Nothing of a file is run; at most MAX_READ bytes of it are looked at.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from qianka.errors import Text
from qianka.intake.refusals import shown

MAX_READ = 4 << 20
MAX_PROBLEMS = 20
MAX_FILES = 5000
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?\r?$")
_BOM16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One file that cannot be read as it should; `is_fatal` when Python will not run it."""

    file: str
    line: int
    code: str
    """not_utf8, bad_cookie, not_as_declared, nul, utf16 or crlf_script"""
    guess: str | None
    is_fatal: bool
    text: Text
    hint: Text


def check(folder: Path) -> list[Problem]:
    """The problems of all `.py`, `.sh` and `.md` files below a checked tree, the fatal ones first."""
    found: list[Problem] = []
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".py", ".sh", ".md"))
    for path in files[:MAX_FILES]:
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            data = file.read(MAX_READ)
        problem = check_file(path.relative_to(folder).as_posix(), data)
        if problem is not None:
            found.append(problem)
    return sorted(found, key=lambda problem: not problem.is_fatal)[:MAX_PROBLEMS]


def check_file(name: str, data: bytes) -> Problem | None:
    """The first problem of one file, by its name's ending; None when it can be read."""
    ending = name.rsplit(".", 1)[-1].lower()
    if ending == "py":
        return _check_python(name, data)
    if ending == "sh" and data.lstrip(codecs.BOM_UTF8).startswith(b"#!"):
        return _check_script(name, data)
    if ending == "md":
        return _check_text(name, data, is_fatal=False)
    return None


def _check_python(name: str, data: bytes) -> Problem | None:
    if data.startswith(_BOM16):
        return _utf16(name)
    at = data.find(b"\0")
    if at >= 0:
        return _nul(name, _line(data, at))
    declared = _cookie(data)
    if declared is None or declared[1].lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        return _check_text(name, data, is_fatal=True)
    line, encoding = declared
    try:
        if data.startswith(codecs.BOM_UTF8):
            codecs.lookup(encoding)
            return _not_as_declared(name, line, encoding, "UTF-8")
        data.decode(encoding)
    except LookupError:
        return Problem(
            file=name,
            line=line,
            code="bad_cookie",
            guess=None,
            is_fatal=True,
            text=Text(
                f"{shown(name)} 第 {line} 行声明的编码 {shown(encoding)} 不存在",
                f"{shown(name)} line {line} declares the encoding {shown(encoding)}, which does not exist",
            ),
            hint=Text("删掉这一行，把文件另存为 UTF-8", "remove that line and save the file as UTF-8"),
        )
    except UnicodeError as error:
        if len(data) < MAX_READ or getattr(error, "start", 0) < MAX_READ - 8:  # not merely cut by our own limit
            return _not_as_declared(name, _line(data, getattr(error, "start", 0)), encoding, guess(data))
    return None


def _check_text(name: str, data: bytes, *, is_fatal: bool) -> Problem | None:
    if data.startswith(_BOM16):
        return _utf16(name, is_fatal=is_fatal)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < MAX_READ)
    except UnicodeDecodeError as error:
        line, kind = _line(data, error.start), guess(data)
        looks_zh, looks_en = (f"（看起来是 {kind}）", f" (it looks like {kind})") if kind else ("", "")
        source = "ISO-8859-1" if kind == "Latin-1" else "GB18030"
        return Problem(
            file=name,
            line=line,
            code="not_utf8",
            guess=kind,
            is_fatal=is_fatal,
            text=Text(
                f"{shown(name)} 第 {line} 行不是 UTF-8{looks_zh}", f"{shown(name)} line {line} is not UTF-8{looks_en}"
            ),
            hint=Text(
                "在编辑器里“另存为”或“通过编码保存”选 UTF-8；"
                f"或用命令 iconv -f {source} -t UTF-8 {shown(name)} > new.py",
                f"save it as UTF-8 in the editor, or: iconv -f {source} -t UTF-8 {shown(name)} > new.py",
            ),
        )
    return None


def _check_script(name: str, data: bytes) -> Problem | None:
    first, newline, _ = data.partition(b"\n")
    has_bom = data.startswith(codecs.BOM_UTF8)
    if not has_bom and not (newline and first.endswith(b"\r")):
        return None
    what = (
        Text("开头有 BOM", "begins with a byte order mark")
        if has_bom
        else Text("是 Windows 换行", "has Windows line ends")
    )
    return Problem(
        file=name,
        line=1,
        code="crlf_script",
        guess=None,
        is_fatal=False,
        text=Text(
            f"{shown(name)} {what.zh}（CRLF 或 BOM），Linux 会把第一行的解释器名读错，报“找不到文件”",
            f"{shown(name)} {what.en}: Linux misreads the interpreter in its first line and says “not found”",
        ),
        hint=Text(
            f"编辑器右下角把 CRLF 改成 LF 再保存；或用命令 sed -i 's/\\r$//' {shown(name)}",
            f"save it with LF line ends, or: sed -i 's/\\r$//' {shown(name)}",
        ),
    )


def guess(data: bytes) -> str | None:
    """What bytes that are not UTF-8 probably are: GBK, Big5-like text counts as GBK, else Latin-1; None: no idea."""
    sample = data[: 1 << 18]
    pairs, high, position = 0, 0, 0
    while position < len(sample):
        byte = sample[position]
        if byte < 0x80:
            position += 1
            continue
        high += 1
        following = sample[position + 1] if position + 1 < len(sample) else 0
        # GB2312, nearly all of everyday Chinese, has both bytes above 0xA0; Latin-1 has lone ones among letters.
        if 0xA1 <= byte <= 0xFE and following >= 0xA1:
            pairs += 1
            position += 2
        else:
            position += 2 if 0x81 <= byte <= 0xFE and following >= 0x80 else 1
    if not high:
        return None
    if pairs * 2 >= high and _decodes(sample, "gb18030"):
        return "GBK"
    return "Latin-1" if pairs * 2 < high else None


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _cookie(data: bytes) -> tuple[int, str] | None:
    """Line and name of a PEP 263 declaration in the first two lines."""
    text = data.removeprefix(codecs.BOM_UTF8)
    for number, line in enumerate(text.split(b"\n", 2)[:2], start=1):
        match = _COOKIE.match(line)
        if match:
            return number, match[1].decode("ascii", "replace")
        if not _BLANK.match(line):
            return None
    return None


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _not_as_declared(name: str, line: int, encoding: str, kind: str | None) -> Problem:
    looks_zh, looks_en = (f"（看起来是 {kind}）", f" (it looks like {kind})") if kind else ("", "")
    return Problem(
        file=name,
        line=line,
        code="not_as_declared",
        guess=kind,
        is_fatal=True,
        text=Text(
            f"{shown(name)} 声明是 {shown(encoding)}，但第 {line} 行不是{looks_zh}",
            f"{shown(name)} declares {shown(encoding)}, but line {line} is not{looks_en}",
        ),
        hint=Text(
            "把文件另存为 UTF-8，并删掉编码声明那一行",
            "save the file as UTF-8 and remove the line with the declaration",
        ),
    )


def _utf16(name: str, *, is_fatal: bool = True) -> Problem:
    return Problem(
        file=name,
        line=1,
        code="utf16",
        guess="UTF-16",
        is_fatal=is_fatal,
        text=Text(f"{shown(name)} 是 UTF-16，不是 UTF-8", f"{shown(name)} is UTF-16, not UTF-8"),
        hint=Text(
            "用编辑器另存为 UTF-8（PowerShell 的 > 会写出 UTF-16）", "save it as UTF-8 (PowerShell's > writes UTF-16)"
        ),
    )


def _nul(name: str, line: int) -> Problem:
    return Problem(
        file=name,
        line=line,
        code="nul",
        guess=None,
        is_fatal=True,
        text=Text(f"{shown(name)} 第 {line} 行有 NUL 字节", f"{shown(name)} line {line} holds a NUL byte"),
        hint=Text(
            "文件可能损坏或不是文本；用编辑器重新保存", "the file is damaged or no text; save it again from the editor"
        ),
    )
