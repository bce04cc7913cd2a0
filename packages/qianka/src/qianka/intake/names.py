"""Names inside an archive: from bytes to text, and from text to a safe relative path."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from qianka.intake.refusals import refused, shown
from qianka.intake.rules import Rules

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # control, format (direction marks), surrogate, line and paragraph breaks


class Name(NamedTuple):
    """A decoded name; `guess` says which encoding was guessed, None when nothing had to be."""

    text: str
    guess: str | None


def decode(raw: bytes, is_utf8: bool = False) -> Name:
    """The text of a name: UTF-8 when it is, else GB18030 (Windows in Chinese), else CP437.

    Bytes are decoded before anything looks for separators: the second byte of a Chinese character may
    be 0x5C, the backslash.
    """
    try:
        text = raw.decode("utf-8")
        return Name(text, None if is_utf8 or raw.isascii() else "UTF-8")
    except UnicodeDecodeError:
        pass
    try:
        return Name(raw.decode("gb18030"), "GB18030")
    except UnicodeDecodeError:
        return Name(raw.decode("cp437"), "CP437")


def clean(name: str, rules: Rules) -> tuple[str, ...]:
    """The parts of a relative path, in NFC; () for the folder itself. Raises Refused for what is not one."""
    if any(unicodedata.category(letter) in _HIDDEN for letter in name):
        raise refused(
            "name_control",
            f"文件名 {shown(name)} 里有控制字符或看不见的字符",
            f"the name {shown(name)} holds control or invisible characters",
            name=shown(name),
        )
    if name.startswith("/"):
        raise refused(
            "name_absolute", f"{shown(name)} 是绝对路径", f"{shown(name)} is an absolute path", name=shown(name)
        )
    if len(name) > 1 and name[1] == ":" and name[0].isascii() and name[0].isalpha():
        raise refused("name_drive", f"{shown(name)} 带盘符", f"{shown(name)} names a drive", name=shown(name))
    parts = [unicodedata.normalize("NFC", part) for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or ".." in name.replace("\\", "/").split("/"):
        raise refused(
            "name_outside",
            f"{shown(name)} 跑到了文件夹外面",
            f"{shown(name)} leads out of the folder",
            name=shown(name),
        )
    if "\\" in name:
        raise refused(
            "name_backslash",
            f"文件名 {shown(name)} 里有反斜杠",
            f"the name {shown(name)} holds a backslash",
            name=shown(name),
        )
    if len(parts) > rules.max_depth:
        raise refused(
            "too_deep",
            f"文件夹嵌套超过 {rules.max_depth} 层",
            f"folders are nested more than {rules.max_depth} deep",
            limit=rules.max_depth,
        )
    lengths = [len(part.encode("utf-8")) for part in parts]
    if any(length > rules.max_name for length in lengths) or sum(lengths) + len(parts) > rules.max_path:
        raise refused(
            "name_too_long",
            f"文件名 {shown(name, 40)} 太长（每一段最多 {rules.max_name} 字节）",
            f"the name {shown(name, 40)} is too long (at most {rules.max_name} bytes a part)",
            limit=rules.max_name,
        )
    return tuple(parts)


def twin_key(parts: tuple[str, ...]) -> str:
    """Equal for names that some file system takes for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", "/".join(parts)).casefold())
