"""The sentences with which a hand-in is refused; each names the rule and what to do."""

from __future__ import annotations

from typing import Any

from qianka.errors import Refused, Text

_REPACK = Text(
    "用系统自带的“压缩”重新打一个 zip，或用 qianka turnin 直接交文件夹",
    "pack it again with the system's own zip, or hand in the folder with qianka turnin",
)


def refused(reason: str, zh: str, en: str, hint: Text | None = None, **details: Any) -> Refused:
    """A refusal with code `reason`."""
    return Refused(Text(zh, en), hint or _REPACK, reason=reason, **details)


def damaged(zh: str = "压缩包已损坏，读不出来", en: str = "the archive is damaged and cannot be read") -> Refused:
    """The bytes are not what their format says."""
    return refused(
        "damaged", zh, en, Text("重新打包，并确认上传完整", "pack it again and make sure that all of it arrives")
    )


def too_many(limit: int) -> Refused:
    """More files, folders or entries than the limit."""
    return refused(
        "too_many_files",
        f"压缩包里的文件超过 {limit} 个",
        f"the archive holds more than {limit} files",
        Text(
            "只交要求的文件，不要带 .venv、node_modules 或数据集",
            "hand in only what is asked for, no .venv, node_modules or data sets",
        ),
        limit=limit,
    )


def too_big(what: str, limit: int) -> Refused:
    """More bytes than the limit; `what`: archive, total or the path of a file."""
    words = {
        "archive": ("压缩包", "the archive"),
        "total": ("解压后的总大小", "what the archive unpacks to"),
    }
    zh, en = words.get(what, (f"文件 {shown(what)} 解压后", f"the file {shown(what)}, unpacked,"))
    return refused(
        "too_big",
        f"{zh}超过上限 {size(limit)}",
        f"{en} is above the limit of {size(limit)}",
        Text("不要带数据集、检查点和输出文件", "leave out data sets, checkpoints and outputs"),
        limit=limit,
    )


def ratio(limit: int) -> Refused:
    """A decompression bomb."""
    return refused(
        "ratio",
        f"解压后是原来的 {limit} 倍以上，像压缩炸弹",
        f"it unpacks to more than {limit} times its size, like a decompression bomb",
        Text("不要带大片重复内容的文件", "leave out files of repeated content"),
        limit=limit,
    )


def encrypted() -> Refused:
    """Locked with a password."""
    return refused(
        "encrypted",
        "压缩包加了密码",
        "the archive is locked with a password",
        Text("去掉密码再打包", "pack it without a password"),
    )


def not_plain(name: str, zh: str, en: str) -> Refused:
    """A link, a device or the like."""
    return refused(
        "not_a_file",
        f"{shown(name)} 是{zh}，只收普通文件和文件夹",
        f"{shown(name)} is {en}; only plain files and folders are taken",
        Text("把它换成真正的文件再打包", "replace it by the real file and pack again"),
        name=shown(name),
    )


def size(number: int) -> str:
    """Bytes as people say them."""
    if number >= 1 << 20:
        return f"{number / (1 << 20):.4g} MB"
    return f"{number / 1024:.4g} KB" if number >= 1024 else f"{number} B"


def shown(name: str, length: int = 80) -> str:
    """A name fit for a sentence: short, and without characters that hide or move others."""
    plain = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in name[:length])
    return plain + ("…" if len(name) > length else "")
