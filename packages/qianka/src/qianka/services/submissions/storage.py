"""The bytes of hand-ins: archives by content hash, trees by tree hash, both verifiable later."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from qianka import intake
from qianka.errors import PlatformFault, Text
from qianka.grading.model import Handin
from qianka.services import leases
from qianka.services.platform import Platform
from qianka.store.repos import submissions
from qianka.store.tables import Submission

_MIB = 1 << 20
_KIB = 1 << 10
_UNPACKED = 4
ORPHAN_AGE = 86_400.0
"""seconds after which a stored archive that no hand-in names is deleted"""


def rules_of(handin: Handin) -> intake.Rules:
    """The rules of intake that a lab's `[handin]` asks for."""
    size = int(handin.max_mb * _MIB)
    return intake.Rules(
        required=handin.required,
        allowed=handin.allowed,
        weights=handin.weights,
        max_archive=size,
        max_bytes=_UNPACKED * size,
        max_file=2 * size,
        max_source=handin.max_source_kb * _KIB,
        max_files=handin.max_files,
        max_folders=handin.max_files + 100,
    )


def upload_limit(platform: Platform, handin: Handin) -> int:
    """Bytes of the largest archive that a lab takes on this platform."""
    return min(rules_of(handin).max_archive, platform.settings.server_upload_mb * 1_000_000)


def hash_file(path: Path) -> tuple[str, int]:
    """SHA-256 in hex and size in bytes."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_MIB):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def keep_archive(platform: Platform, archive: Path, sha256: str) -> Path:
    """Move an upload to its place; the same content is kept once. Durable when it returns."""
    blob = archive_path(platform, sha256)
    if blob.exists():
        archive.unlink(missing_ok=True)
        os.utime(blob)  # young again: not an orphan while this hand-in is being recorded
        return blob
    descriptor = os.open(archive, os.O_RDONLY)
    try:
        os.fchmod(descriptor, 0o400)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(archive, blob)
    os.utime(blob)
    _sync_folder(blob.parent)
    return blob


def archive_path(platform: Platform, sha256: str) -> Path:
    """Where the archive with that content lies."""
    return platform.folders.blobs / sha256


def tree_path(platform: Platform, submission: Submission) -> Path:
    """The checked tree of a hand-in. Raises PlatformFault when an invalid one is asked for."""
    if submission.tree_sha256 is None:
        raise PlatformFault(Text("无效的提交没有文件树", "an invalid hand-in has no tree"), reason="no_tree")
    return platform.folders.trees / submission.tree_sha256


def ensure_tree(platform: Platform, submission: Submission, handin: Handin) -> Path:
    """The tree of a hand-in, unpacked again from its archive where it is gone or was changed.

    Raises PlatformFault when the archive is gone too or gives another tree: never the student's fault.
    """
    folder = tree_path(platform, submission)
    if folder.is_dir() and intake.digest_of(intake.measure(folder)) == submission.tree_sha256:
        return folder
    blob = archive_path(platform, submission.archive_sha256)
    if not blob.exists():
        raise _lost(submission)
    intake.remove(folder)
    tree = intake.take(blob, platform.folders.trees, rules_of(handin), submission.filename)
    if tree.digest != submission.tree_sha256:
        raise _lost(submission)
    return tree.folder


def differences(platform: Platform, submission: Submission) -> list[Text]:
    """How the stored bytes differ from those that were handed in and signed; [] when nothing was touched."""
    found = []
    blob = archive_path(platform, submission.archive_sha256)
    if not blob.exists():
        found.append(Text("存档不见了", "the archive is gone"))
    elif hash_file(blob)[0] != submission.archive_sha256:
        found.append(Text("存档被改过", "the archive was changed"))
    folder = tree_path(platform, submission)
    then = {str(file["path"]): str(file["sha256"]) for file in submission.files}
    now = {file.path: file.sha256 for file in intake.measure(folder)}
    for path in sorted(then.keys() | now.keys()):
        if then.get(path) != now.get(path):
            found.append(Text(f"{path} 和提交时不同", f"{path} is not what was handed in"))
    return found


def sweep(platform: Platform, age: float = ORPHAN_AGE) -> int:
    """Delete what interrupted hand-ins left: unfinished trees, archives that no hand-in names; how many."""
    now = platform.now().timestamp()
    count = intake.sweep(platform.folders.trees, 3600.0, now)
    old = []
    for blob in platform.folders.blobs.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if blob.stat().st_mtime < now - age:
                old.append(blob)
    if not old:
        return count
    with platform.store.transaction() as session:  # no hand-in is recorded meanwhile
        if leases.is_held(session, platform, "backup"):
            return count
        known = submissions.known_archives(session, [blob.name for blob in old])
        for blob in old:
            if blob.name not in known:
                blob.unlink(missing_ok=True)
                count += 1
    return count


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lost(submission: Submission) -> PlatformFault:
    return PlatformFault(
        Text(f"提交 {submission.id} 的文件读不出来", f"the files of {submission.id} cannot be read"),
        Text("管理员：从备份恢复 blobs 目录", "administrator: restore the folder blobs from a backup"),
        reason="lost_files",
    )
