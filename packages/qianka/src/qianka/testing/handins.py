"""A class that hands in: one lab with a real lab.toml on disk, a student, a teacher, archives as they upload them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from qianka.domain.people import Role
from qianka.ids import new_id
from qianka.services import submissions
from qianka.services.platform import Platform
from qianka.store.tables import Attempt, Cohort, Lab, Person
from qianka.testing.clock import FakeClock
from qianka.testing.factories import caller_of, enroll, make_cohort, make_lab, make_person, make_student

LAB_TOML = """
title = "实验"
[handin]
required = ["code/train.py", "README.md"]
max_mb = 5.0
attempts_a_day = 5
late = "{late}"
grace_seconds = 300
[[check]]
kind = "metric"
metric = "accuracy"
weight = 100
floor = 0.3
line = 0.7
full = 0.8
"""


@dataclass
class HandinScene:
    """Everything that a hand-in needs; `hand_in` takes the place of server and client."""

    platform: Platform
    clock: FakeClock
    cohort: Cohort
    lab: Lab
    student: Person
    teacher: Person
    folder: Path
    """the published lab"""

    def archive(self, content: str = "print(1)", **files: str) -> Path:
        """A complete upload in `incoming`, sound unless `files` spoil it."""
        return self.upload(packed({"code/train.py": content, "README.md": "# 1", **files}))

    def upload(self, data: bytes) -> Path:
        """Any bytes as a complete upload."""
        path = self.platform.folders.incoming / new_id("u")
        path.write_bytes(data)
        return path

    def hand_in(
        self,
        who: Person | None = None,
        key: str | None = None,
        *,
        content: str | None = None,
        archive: Path | None = None,
    ) -> submissions.HandedIn:
        """A hand-in of `who` (the student) with a fresh key and fresh content unless given."""
        return submissions.hand_in(
            self.platform,
            caller_of(who or self.student),
            self.cohort.slug,
            self.lab.slug,
            archive or self.archive(content or new_id("c")),
            "作业 1.zip",
            key or new_id("key"),
        )

    def begin(self, attempt: Attempt | None) -> None:
        """Let the grading of a hand-in begin: a newer one no longer takes its place."""
        with self.platform.store.transaction() as session:
            stored = session.merge(attempt) if attempt is not None else None
            if stored is not None:
                stored.state = "running"

    def write_lab(self, **values: Any) -> None:
        """Publish the lab's rules again, with `late` as given."""
        (self.folder / "lab.toml").write_text(LAB_TOML.format(**{"late": "mark", **values}), "utf-8")


def packed(files: Mapping[str, str]) -> bytes:
    """A zip of these texts, the same bytes each time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, text in files.items():
            made.writestr(zipfile.ZipInfo(name, (2026, 9, 1, 0, 0, 0)), text)
    return out.getvalue()


def make_handin_scene(platform: Platform, clock: FakeClock) -> HandinScene:
    """The cohort `ai` with `lab1`, due in 30 days, the student `alice` and the teacher `teacher`."""
    cohort = make_cohort(platform, "ai")
    lab = make_lab(platform, cohort, due_at=clock.now() + timedelta(days=30))
    folder = platform.folders.labs / cohort.slug / lab.slug / lab.version
    folder.mkdir(parents=True)
    teacher = make_person(platform, "teacher")
    enroll(platform, cohort, teacher, Role.TEACHER)
    scene = HandinScene(platform, clock, cohort, lab, make_student(platform, cohort, "alice"), teacher, folder)
    scene.write_lab()
    return scene
