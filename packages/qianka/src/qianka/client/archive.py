"""A folder as a zip: the same files give the same bytes, and litter stays at home."""

from __future__ import annotations

import fnmatch
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from qianka.errors import BadInput, NotFound, Text, TooLarge

LITTER = (
    ".git*",
    ".hg",
    ".svn",
    ".venv",
    ".env",
    ".idea",
    ".vscode",
    ".*_cache",
    ".ipynb_checkpoints",
    ".DS_Store",
    "._*",
    "__pycache__",
    "__MACOSX",
    "*.py[co]",
    "node_modules",
    "venv",
    "env",
    "Thumbs.db",
    "desktop.ini",
    "*~",
    "*.swp",
    "*.receipt.json",
    "*.egg-info",
    "expect.toml",
)
"""names that are never sent; the last one states what a lab's sample must get"""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def is_archive(path: Path) -> bool:
    """Whether a file is sent as it is."""
    return path.is_file() and path.name.lower().endswith(_ARCHIVES)


def pack(folder: Path, target: Path, limit: int | None = None) -> list[str]:
    """Write the files of `folder` to the zip `target`; the names, sorted.

    Raises BadInput when there is nothing to send, TooLarge above `limit` bytes unpacked, NotFound.
    """
    if not folder.exists():
        raise NotFound(Text(f"没有 {folder}", f"there is no {folder}"))
    names, size = [], 0
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(files(folder), key=lambda path: path.relative_to(folder).as_posix()):
            name = path.relative_to(folder).as_posix()
            size += path.stat().st_size
            if limit is not None and size > limit:
                raise TooLarge(
                    Text(
                        f"{folder} 里的文件超过 {limit / 1e6:.0f} MB", f"{folder} holds more than {limit / 1e6:.0f} MB"
                    ),
                    Text(
                        "去掉数据和模型权重，或把它们写进 .gitignore",
                        "leave out data and weights, or name them in .gitignore",
                    ),
                )
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
            names.append(name)
    if not names:
        raise BadInput(Text(f"{folder} 里没有要交的文件", f"{folder} holds no file to hand in"))
    return names


def files(folder: Path) -> Iterator[Path]:
    """The regular files of `folder` that are neither litter nor named by its .gitignore; links are not followed."""
    rules = _ignored(folder)
    for root, folders, names in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(n for n in folders if not _left_out(here / n, folder, rules, is_folder=True))
        for name in names:
            path = here / name
            if not path.is_symlink() and path.is_file() and not _left_out(path, folder, rules, is_folder=False):
                yield path


def _left_out(path: Path, folder: Path, rules: list[tuple[str, bool, bool]], *, is_folder: bool) -> bool:
    if path.is_symlink() and is_folder:
        return True
    if any(fnmatch.fnmatchcase(path.name, pattern) for pattern in LITTER):
        return True
    relative = path.relative_to(folder).as_posix()
    ignored = False
    for pattern, folders_only, keep in rules:
        if folders_only and not is_folder:
            continue
        subject = relative if "/" in pattern else path.name
        if fnmatch.fnmatchcase(subject, pattern.lstrip("/")):
            ignored = not keep
    return ignored


def _ignored(folder: Path) -> list[tuple[str, bool, bool]]:
    """The rules of the folder's own .gitignore, in order: pattern, only folders, `!`."""
    try:
        lines = (folder / ".gitignore").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    rules = []
    for line in lines:
        line = line.strip()
        if line and not line.startswith("#"):
            pattern = line.removeprefix("!")
            rules.append((pattern.rstrip("/"), pattern.endswith("/"), line.startswith("!")))
    return rules
