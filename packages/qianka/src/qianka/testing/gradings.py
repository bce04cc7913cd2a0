"""A class whose hand-ins are really graded: a published lab, dispatcher and grader on the fake engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from qianka.domain.people import Role
from qianka.services import labs
from qianka.services.platform import Platform
from qianka.store.tables import Attempt, Base, Cohort, Grade, Lab, Person, Submission
from qianka.testing.clock import FakeClock
from qianka.testing.engine import FakeEngine
from qianka.testing.factories import caller_of, enroll, make_attempt, make_cohort, make_person, make_student
from qianka.testing.factories import make_submission as _make_submission
from qianka.testing.labfolders import LAB_TOML, SOLUTION, make_lab_folder, script_good_stages, write_files
from qianka.worker.dispatcher import Dispatcher
from qianka.worker.grader import Grader

Row = TypeVar("Row", bound=Base)


@dataclass
class GradingScene:
    """Everything between a hand-in and its grade."""

    platform: Platform
    clock: FakeClock
    engine: FakeEngine
    cohort: Cohort
    teacher: Person
    folder: Path
    """the teacher's own copy of the lab"""
    lab: Lab
    people: dict[str, Person] = field(default_factory=dict)

    def student(self, login: str, **fields: Any) -> Person:
        """A student of the class by login, made at the first call."""
        if login not in self.people:
            self.people[login] = make_student(self.platform, self.cohort, login, **fields)
        return self.people[login]

    def publish(self, lab_toml: str = LAB_TOML, slug: str = "lab1") -> Lab:
        """Publish the lab (again), another text being another version."""
        (self.folder / "lab.toml").write_text(lab_toml, "utf-8")
        self.lab = labs.publish(self.platform, caller_of(self.teacher), self.cohort.slug, self.folder, slug=slug)
        return self.lab

    def hand_in(self, login: str, files: Mapping[str, str] | None = None, **fields: Any) -> Attempt:
        """An accepted hand-in with its queued attempt."""
        row: Submission = _make_submission(self.platform, self.lab, self.student(login), **fields)
        write_files(self.platform.folders.trees / str(row.tree_sha256), files or SOLUTION)
        return make_attempt(self.platform, row, lab_version=self.lab.version)

    def run(self, seconds: float = 3000.0) -> None:
        """Let worker and engine work until nothing is left to do."""
        dispatcher, grader = Dispatcher(self.platform, self.engine), Grader(self.platform)
        end = self.platform.now() + timedelta(seconds=seconds)
        while self.platform.now() < end:
            if grader.step() | dispatcher.step():
                continue
            if not any(a.state in ("queued", "running") for a in self.rows(Attempt)):
                return
            dispatcher.wait(1.0)
            self.clock.advance(1.0)

    def read(self, row: Row) -> Row:
        """A row as it is now."""
        with self.platform.store.reading() as session:
            found = session.get(type(row), row.id)  # type: ignore[attr-defined]
        if found is None:
            raise LookupError(row)
        return found

    def rows(self, table: type[Row]) -> list[Row]:
        """All rows of a table."""
        with self.platform.store.reading() as session:
            return list(session.query(table).order_by(table.id))  # type: ignore[attr-defined]

    def points(self, login: str) -> float | None:
        """What counts for a student in the lab."""
        person = self.student(login)
        found = [g for g in self.rows(Grade) if g.person_id == person.id and g.lab_id == self.lab.id]
        return found[0].points if found else None


def make_grading_scene(platform: Platform, clock: FakeClock, folder: Path, lab_toml: str = LAB_TOML) -> GradingScene:
    """The cohort `ai` with a published lab and its teacher; every stage ends well until a test says otherwise."""
    engine = FakeEngine(clock, jobs=platform.folders.jobs)
    script_good_stages(engine)
    cohort = make_cohort(platform, "ai")
    teacher = make_person(platform, "teacher")
    enroll(platform, cohort, teacher, Role.TEACHER)
    make_lab_folder(folder, lab_toml)
    lab = labs.publish(platform, caller_of(teacher), cohort.slug, folder, slug="lab1")
    return GradingScene(platform, clock, engine, cohort, teacher, folder, lab)
