"""What operating systems, editors and tools leave in a folder; it is dropped, and that is told."""

from __future__ import annotations

_FOLDERS = {
    *("__macosx", ".spotlight-v100", ".trashes", ".fseventsd", "$recycle.bin"),
    *(".git", ".svn", ".hg", ".idea", ".vscode", ".ipynb_checkpoints"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "node_modules"),
}
_FILES = {".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", ".directory", ".localized", "icon\r"}
_PREFIXES = ("._", "~$", ".~lock.")


def is_litter(name: str) -> bool:
    """Whether an entry named `name`, with `/` between its parts, is litter or inside of it."""
    parts = [part for part in name.lower().split("/") if part]
    if not parts:
        return False
    if any(part in _FOLDERS for part in parts):
        return True
    return parts[-1] in _FILES or parts[-1].startswith(_PREFIXES)
