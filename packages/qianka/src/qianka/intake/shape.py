"""Whether a hand-in has the shape that is asked for: one extra folder taken off, missing files named."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Sequence
from typing import NamedTuple

from qianka.errors import Refused, Text
from qianka.intake.refusals import refused, shown

_MAX_UNWRAP = 3
_ARCHIVES = (".zip", ".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")


class Shape(NamedTuple):
    """`prefix`: the folders taken off, such as `hw1/`; "" for none."""

    prefix: str
    notes: tuple[Text, ...]


def find(paths: Sequence[str], required: Sequence[str]) -> Shape:
    """Where the hand-in really begins. Raises Refused when required files are missing, naming near misses."""
    prefix, notes = "", []
    below = list(paths)
    for _ in range(_MAX_UNWRAP):
        if not missing(below, required):
            break
        top = _only_folder(below, required)
        if top is None:
            break
        prefix += top + "/"
        below = [path[len(top) + 1 :] for path in below]
        notes.append(Text(f"去掉了最外层文件夹 {shown(top)}/", f"took off the outermost folder {shown(top)}/"))
    absent = missing(below, required)
    if absent:
        raise _refusal(paths, below, absent, required)
    return Shape(prefix, tuple(notes))


def missing(paths: Sequence[str], required: Sequence[str]) -> list[str]:
    """The required ones that no path satisfies."""
    return [want for want in required if not any(_satisfies(path, want) for path in paths)]


def near(paths: Sequence[str], want: str) -> list[str]:
    """Paths that somebody may have meant by `want`: other case, other folder, hidden second ending, a slip."""
    plain = want.rstrip("/")
    base = plain.rsplit("/", 1)[-1].casefold()
    found = []
    for path in [*_folders(paths), *paths]:
        bare = path.rstrip("/")
        name = bare.rsplit("/", 1)[-1].casefold()
        stem = name.rsplit(".", 1)[0]
        if bare.casefold() == plain.casefold() or name == base or stem == base or name == base.rsplit(".", 1)[0]:
            found.append(path)
    if not found:
        found = difflib.get_close_matches(plain, paths, n=2, cutoff=0.8)
    return list(dict.fromkeys(found))[:3]


def _satisfies(path: str, want: str) -> bool:
    if want.endswith("/"):
        return path.startswith(want)
    if any(letter in want for letter in "*?["):
        return path.count("/") == want.count("/") and fnmatch.fnmatchcase(path, want)
    return path == want


def _only_folder(paths: Sequence[str], required: Sequence[str]) -> str | None:
    tops = {path.split("/", 1)[0] for path in paths}
    if len(tops) != 1 or any("/" not in path for path in paths):
        return None
    top = tops.pop()
    wanted = {want.split("/", 1)[0].casefold() for want in required if "/" in want}
    return None if top.casefold() in wanted else top


def _folders(paths: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        for i in range(len(parts)):
            found["/".join(parts[: i + 1]) + "/"] = None
    return list(found)


def _refusal(paths: Sequence[str], below: Sequence[str], absent: list[str], required: Sequence[str]) -> Refused:
    tops = sorted({path.split("/", 1)[0] for path in below if "/" in path})
    holding = [
        top
        for top in tops
        if len(missing([p[len(top) + 1 :] for p in below if p.startswith(top + "/")], required)) < len(required)
    ]
    strangers = [top for top in tops if not any(want.split("/", 1)[0] == top for want in required)]
    if len(absent) == len(required) and len(strangers) >= 2 and holding:
        names = [shown(top) + "/" for top in strangers[:4]]
        return refused(
            "two_folders",
            f"压缩包里有 {len(strangers)} 个并列的文件夹：{'、'.join(names)}，不知道该评哪一个",
            f"the archive holds {len(strangers)} folders side by side, {', '.join(names)}: which one is meant?",
            Text("只留下要交的那一个再打包", "keep the one that is meant and pack again"),
            folders=names,
        )
    inner = [path for path in paths if path.lower().endswith(_ARCHIVES)]
    if inner and len(absent) == len(required):
        return refused(
            "nested_archive",
            f"压缩包里还套着一个压缩包：{shown(inner[0])}",
            f"there is another archive inside: {shown(inner[0])}",
            Text("解开里面的，直接把文件打包再交", "unpack the inner one and hand in its files"),
            name=shown(inner[0]),
        )
    return _missing_refusal(below, absent)


def _missing_refusal(below: Sequence[str], absent: list[str]) -> Refused:
    zh, en, pairs = [], [], {}
    for want in absent[:8]:
        close = near(below, want)
        pairs[want] = close
        zh.append(f"{want}（找到了 {'、'.join(map(shown, close))}）" if close else want)
        en.append(f"{want} (found {', '.join(map(shown, close))})" if close else want)
    return refused(
        "missing_files",
        f"缺少要求的文件：{'；'.join(zh)}",
        f"required files are missing: {'; '.join(en)}",
        Text(
            "按要求的名字和位置放好再交；大小写也要一致",
            "put them where they are asked for; capital and small letters count",
        ),
        missing=absent,
        near=pairs,
    )
