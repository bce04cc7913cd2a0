"""What a hand-in must hold and how big it may be."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules for one hand-in; sizes in bytes. The caps hold for what is really unpacked."""

    required: tuple[str, ...] = ()
    """paths that must be there; `code/` a folder with something in it, `code/*.py` at least one such file"""
    allowed: tuple[str, ...] | None = None
    """file name endings that may be handed in, such as `.py`; None: any"""
    weights: bool = True
    """whether trained weights may be part of it"""
    max_archive: int = 64 * MIB
    max_bytes: int = 200 * MIB
    max_file: int = 50 * MIB
    max_source: int | None = None
    """one `.py`: a greater one is taken for answers or weights in disguise; None: like any file"""
    max_files: int = 2000
    """files that are kept"""
    max_folders: int = 2000
    max_listed: int = 20_000
    """entries in the archive, those that are dropped included"""
    max_ratio: int = 200
    """unpacked to packed size, once more than a MiB is unpacked"""
    max_depth: int = 20
    max_name: int = 200
    """bytes of one part of a path"""
    max_path: int = 1000
    """bytes of a whole path"""
