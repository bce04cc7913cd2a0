"""Archive or folder in, checked tree out; a refusal leaves nothing behind."""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
from pathlib import Path

from qianka.errors import Refused, Text, Unavailable
from qianka.intake import shape, trees
from qianka.intake.entries import KIND_WORDS, Entry, Source
from qianka.intake.folders import FolderSource
from qianka.intake.formats import sniff
from qianka.intake.litter import is_litter
from qianka.intake.names import clean, twin_key
from qianka.intake.refusals import encrypted, not_plain, ratio, refused, shown, too_big, too_many
from qianka.intake.rules import Rules
from qianka.intake.tars import TarSource
from qianka.intake.trees import File, Tree
from qianka.intake.weights import LOOK, is_weights
from qianka.intake.zips import ZipSource

STAGING = ".taking-"
_RATIO_FROM = 1 << 20
_NAMED = 5


def take(archive: Path, dest: Path, rules: Rules | None = None, filename: str = "") -> Tree:
    """Unpack `archive` (a zip, a tar, or a folder) below `dest`, as `dest/<hash of the tree>`.

    The tree is written beside its place and moved there at the end; one that exists is used as it is.
    Raises Refused naming the rule, with nothing left behind; Unavailable when the disk is full.
    `filename` is what the sender called it; a refusal carries it in its details.
    """
    rules = rules or Rules()
    dest.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=dest))
    try:
        unpacking = _Unpacking(staging / "all", rules)
        source = _open(archive, rules)
        try:
            unpacking.run(source)
        finally:
            source.close()
        return _finish(unpacking, staging, dest, rules)
    except Refused as refusal:
        refusal.details.setdefault("filename", shown(filename))
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise Unavailable(
            Text("服务器磁盘已满，这次没有收下", "the server's disk is full; this hand-in was not taken"),
            Text("稍后再交；这不占次数", "hand in again later; this costs no try"),
            reason="server_disk_full",
        ) from error
    finally:
        trees.remove(staging)


def sweep(dest: Path, older_than: float, now: float) -> int:
    """Delete what an interrupted `take` left in `dest` more than `older_than` seconds before `now`."""
    count = 0
    for path in dest.glob(STAGING + "*"):
        try:
            is_old = path.stat().st_mtime < now - older_than
        except FileNotFoundError:  # its take ended meanwhile
            continue
        if is_old:
            trees.remove(path)
            count += 1
    return count


def _open(archive: Path, rules: Rules) -> Source:
    if archive.is_dir():
        return FolderSource(archive, rules)
    if archive.stat().st_size > rules.max_archive:
        raise too_big("archive", rules.max_archive)
    kind = sniff(archive)
    return ZipSource(archive, rules) if kind == "zip" else TarSource(archive, kind, rules)


def _finish(unpacking: _Unpacking, staging: Path, dest: Path, rules: Rules) -> Tree:
    files = unpacking.files
    if not files:
        raise refused(
            "empty",
            "压缩包里没有文件" + ("（只有系统附带的文件）" if unpacking.dropped else ""),
            "there is no file in the archive" + (" but what the system adds" if unpacking.dropped else ""),
        )
    found = shape.find([file.path for file in files], rules.required)
    top = staging / "all" / found.prefix
    files = [File(file.path[len(found.prefix) :], file.size, file.sha256) for file in files]
    _check_kinds(files, unpacking.heads, found.prefix, rules)
    digest = trees.digest_of(files)
    ready = staging / "ready"
    top.rename(ready)
    # From here on it lies directly in dest: a folder may only be locked once it moves no further.
    beside = dest / f"{staging.name}-ready"
    ready.rename(beside)
    folder = trees.keep(beside, dest, digest, files)
    notes = (*unpacking.notes(), *found.notes)
    return Tree(folder, tuple(sorted(files)), notes, digest)


def _check_kinds(files: list[File], heads: dict[str, bytes], prefix: str, rules: Rules) -> None:
    if not rules.weights:
        for file in files:
            if is_weights(file.path, heads.get(prefix + file.path, b"")):
                raise refused(
                    "weights",
                    f"{shown(file.path)} 是训练好的权重；这个实验要在平台上训练，不收权重",
                    f"{shown(file.path)} holds trained weights; this lab is trained on the platform and takes none",
                    Text("删掉权重文件，让代码自己训练", "remove the weights and let the code train"),
                    name=shown(file.path),
                )
    if rules.allowed is not None:
        allowed = tuple(ending.lower() for ending in rules.allowed)
        asked = set(rules.required)
        wrong = [f.path for f in files if not f.path.lower().endswith(allowed) and f.path not in asked]
        if wrong:
            names = [shown(path) for path in wrong[:5]]
            more = len(wrong) - len(names)
            raise refused(
                "not_allowed",
                f"不收这些文件：{'、'.join(names)}" + (f" 等 {len(wrong)} 个" if more else ""),
                f"these files are not taken: {', '.join(names)}" + (f" and {more} more" if more else ""),
                Text(f"只收 {' '.join(allowed)}", f"taken are {' '.join(allowed)}"),
                names=names,
            )


class _Unpacking:
    """One archive being written to a fresh folder, with every cap counted on real bytes."""

    def __init__(self, folder: Path, rules: Rules) -> None:
        self._folder = folder
        self._rules = rules
        self._total = 0
        self._files: set[str] = set()
        self._twins: dict[str, str] = {}
        self._made: set[tuple[str, ...]] = set()
        self._guesses: dict[str, list[str]] = {}
        self.files: list[File] = []
        self.heads: dict[str, bytes] = {}
        self.dropped = 0
        self._dropped_names: list[str] = []
        folder.mkdir()

    def run(self, source: Source) -> None:
        """Write all entries. Raises Refused."""
        limit = self._rules.max_bytes
        for listed, entry in enumerate(source.entries()):
            if listed >= self._rules.max_listed:
                raise too_many(self._rules.max_listed)
            if is_litter(entry.name) and ".." not in entry.name.split("/"):
                self._drop(entry.name)
                continue
            parts = clean(entry.name, self._rules)
            if not parts:
                continue
            self._admit(entry, parts)
            if entry.kind == "file":
                if self._total + entry.size > limit:
                    raise too_big("total", limit)
                self._write(source, parts)

    def notes(self) -> list[Text]:
        """What was dropped, and which names had to be guessed."""
        notes = []
        if self.dropped:
            names, count = self._dropped_names, self.dropped
            zh_more, en_more = (" 等", f" and {count - len(names)} more") if count > len(names) else ("", "")
            notes.append(
                Text(
                    f"忽略了 {count} 个系统或工具附带的文件：{'、'.join(names)}{zh_more}",
                    f"left out {count} files that systems and tools add: {', '.join(names)}{en_more}",
                )
            )
        for guess, found in self._guesses.items():
            name = shown(found[0])
            notes.append(
                Text(
                    f"{len(found)} 个文件名没有注明编码，按 {guess} 解读，如 {name}",
                    f"{len(found)} names did not state their encoding; read as {guess}, such as {name}",
                )
            )
        return notes

    def _drop(self, name: str) -> None:
        self.dropped += 1
        if len(self._dropped_names) < _NAMED:
            self._dropped_names.append(shown(name))

    def _admit(self, entry: Entry, parts: tuple[str, ...]) -> None:
        path = "/".join(parts)
        if entry.is_encrypted:
            raise encrypted()
        if entry.kind in KIND_WORDS:
            raise not_plain(entry.name, *KIND_WORDS[entry.kind])
        if entry.kind == "file" and entry.size > _largest(path, self._rules):
            raise too_big(path, _largest(path, self._rules))
        if entry.kind == "file" and len(self._files) >= self._rules.max_files:
            raise too_many(self._rules.max_files)
        if entry.guess is not None:
            self._guesses.setdefault(entry.guess, []).append(path)
        for i in range(1, len(parts) + 1):
            part = "/".join(parts[:i])
            twin = self._twins.setdefault(twin_key(parts[:i]), part)
            is_file = i == len(parts) and entry.kind == "file"
            is_clash = part in self._files or (is_file and parts[:i] in self._made)
            if twin != part or is_clash:
                raise _same_name(twin, part)
        if entry.kind == "file":
            self._files.add(path)

    def _write(self, source: Source, parts: tuple[str, ...]) -> None:
        rules, path = self._rules, "/".join(parts)
        self._make_folders(parts[:-1])
        largest = _largest(path, rules)
        sha, size, head = hashlib.sha256(), 0, b""
        target = os.path.join(self._folder, *parts)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(target, flags, 0o600), "wb") as file:
            for piece in source.read():
                size += len(piece)
                self._total += len(piece)
                if size > largest:
                    raise too_big(path, largest)
                if self._total > rules.max_bytes:
                    raise too_big("total", rules.max_bytes)
                if source.packed and self._total > max(_RATIO_FROM, rules.max_ratio * source.packed):
                    raise ratio(rules.max_ratio)
                if len(head) < LOOK:
                    head += piece[: LOOK - len(head)]
                sha.update(piece)
                file.write(piece)
        self.heads[path] = head
        self.files.append(File(path, size, sha.hexdigest()))

    def _make_folders(self, parts: tuple[str, ...]) -> None:
        if not parts or parts in self._made:
            return
        if len(self._made) + len(parts) > self._rules.max_folders:
            raise too_many(self._rules.max_folders)
        os.makedirs(os.path.join(self._folder, *parts), exist_ok=True)
        for i in range(1, len(parts) + 1):
            self._made.add(parts[:i])


def _largest(path: str, rules: Rules) -> int:
    if rules.max_source is not None and path.lower().endswith(".py"):
        return min(rules.max_source, rules.max_file)
    return rules.max_file


def _same_name(first: str, second: str) -> Refused:
    if first == second:
        return refused(
            "duplicate_name",
            f"压缩包里有两个 {shown(first)}",
            f"the archive holds {shown(first)} twice",
            name=shown(first),
        )
    return refused(
        "duplicate_name",
        f"{shown(first)} 和 {shown(second)} 只差大小写（或写法），有的系统分不清",
        f"{shown(first)} and {shown(second)} differ in case alone; some systems take them for one",
        Text("改掉其中一个的名字", "rename one of them"),
        names=[shown(first), shown(second)],
    )
