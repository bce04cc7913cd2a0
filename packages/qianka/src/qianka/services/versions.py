"""The folders of a published version, below labs/COHORT/SLUG.

VERSION/           what the teacher published, without samples
VERSION.data/      secret/seed: what this cohort's hidden inputs are perturbed by
                   made/: train/ test/ answers/ public/, once they are prepared
                   public.zip: what students may have
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from qianka.errors import PlatformFault, Text
from qianka.grading import labfile, masters
from qianka.grading.model import Lab as LabRules
from qianka.grading.reader import LabError
from qianka.services.platform import Platform


@dataclass(frozen=True)
class VersionFolder:
    """Where the parts of one published version lie."""

    source: Path

    @property
    def side(self) -> Path:
        return self.source.with_name(self.source.name + ".data")

    @property
    def secret(self) -> Path:
        return self.side / "secret"

    @property
    def made(self) -> Path:
        return self.side / "made"

    @property
    def public(self) -> Path:
        return self.side / "public.zip"


def version_folder(platform: Platform, cohort_slug: str, lab_slug: str, version: str) -> VersionFolder:
    """The folder of a version; it need not exist."""
    return VersionFolder(platform.folders.labs / cohort_slug / lab_slug / version)


def loaded(folder: VersionFolder) -> LabRules:
    """The rules of a published version, which never change. Raises PlatformFault when it is gone or damaged."""
    try:
        return _load(folder.source)
    except LabError as error:
        raise PlatformFault(
            Text(f"已发布的实验读不了：{error.message.zh}", f"a published lab cannot be read: {error.message.en}"),
            Text("请教师重新发布这个实验", "a teacher must publish the lab again"),
            reason="lab_gone",
        ) from error


@functools.lru_cache(maxsize=64)
def _load(source: Path) -> LabRules:
    return masters.at_hand(labfile.load(source))
