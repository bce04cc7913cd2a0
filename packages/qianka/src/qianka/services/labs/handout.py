"""The handout of a lab: its README, and the pictures it shows."""

from __future__ import annotations

from pathlib import Path

from qianka.errors import NotFound, Text
from qianka.services.labs.folders import version_folder
from qianka.services.labs.view import get
from qianka.services.platform import Caller, Platform

LONGEST = 1 << 20
"""bytes of a handout"""
PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_OPEN = ("", "guide", "starter", "images", "figures", "handout")
"""folders of a lab whose pictures a student may see; the empty one is the lab's own"""


def handout(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, language: str = "zh") -> str:
    """The handout as Markdown: README.en.md in English where there is one, else README.md; empty when neither is.

    Raises NotFound.
    """
    source = _source(platform, caller, cohort_slug, lab_slug)
    names = ["README.en.md", "README.md"] if language == "en" else ["README.md"]
    for name in names:
        path = source / name
        if path.is_file():
            with path.open("rb") as file:
                return file.read(LONGEST).decode("utf-8", "replace")
    return ""


def picture(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, name: str) -> tuple[Path, str]:
    """A picture that the handout shows, with its media type. Raises NotFound for anything else of the folder."""
    source = _source(platform, caller, cohort_slug, lab_slug).resolve()
    parts = [part for part in name.split("/") if part not in ("", ".")]
    path = source.joinpath(*parts).resolve()
    kind = PICTURES.get(path.suffix.lower())
    is_open = ".." not in parts and (parts[0] if len(parts) > 1 else "") in _OPEN
    if kind is None or not is_open or not path.is_relative_to(source) or not path.is_file():
        raise NotFound(Text(f"讲义里没有图片 {name}", f"the handout has no picture {name}"), reason="no_picture")
    return path, kind


def _source(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str) -> Path:
    lab = get(platform, caller, cohort_slug, lab_slug)
    return version_folder(platform, cohort_slug, lab_slug, lab.version).source
