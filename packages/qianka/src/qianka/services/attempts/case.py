"""One attempt as the grader looks at it: rows, rules, folders, and the jobs of its stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qianka.domain.jobs import JobState
from qianka.errors import PlatformFault, Text
from qianka.grading import stages
from qianka.grading.model import Lab as LabRules
from qianka.services.labs import loaded, version_folder
from qianka.services.labs.folders import VersionFolder
from qianka.services.platform import Platform
from qianka.store.repos import attempts as repo
from qianka.store.repos import labs as lab_repo
from qianka.store.tables import Attempt, Cohort, Job, Lab, Submission

OURS = ("style", "tests", "notebook", "judge")
"""stages that our own code decides: done again when an attempt is retried"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What `advance` starts from; rows are detached."""

    attempt: Attempt
    submission: Submission
    lab: Lab
    cohort: Cohort
    jobs: dict[str, Job]
    """the job that counts of each stage"""
    pinned: dict[str, Any] | None = None
    """of a replay: the conditions of the grading that it repeats"""

    @property
    def states(self) -> dict[str, JobState]:
        """Job states by stage."""
        return {name: JobState(job.state) for name, job in self.jobs.items()}

    def folder(self, platform: Platform) -> VersionFolder:
        """The lab's version this attempt is graded by."""
        return version_folder(platform, self.cohort.slug, self.lab.slug, self.attempt.lab_version)

    def rules(self, platform: Platform) -> LabRules:
        """The rules of that version. Raises PlatformFault."""
        return loaded(self.folder(platform))

    def paths(self, platform: Platform) -> stages.Paths:
        """Where everything lies, with what ended stages have left."""
        folder, folders = self.folder(platform), platform.folders
        outs = {
            name: folders.jobs / job.id / "out"
            for name, job in self.jobs.items()
            if job.state == JobState.COMPLETED.value
        }
        return stages.Paths(
            tree=folders.trees / (self.submission.tree_sha256 or "-"),
            train_data=folder.made / "train",
            test_data=folder.made / "test",
            answers=folder.made / "answers",
            runtime=folders.runtime,
            outs=outs,
        )


def look(platform: Platform, attempt_id: str) -> Case | None:
    """The case of an attempt; None when there is no such attempt. Raises PlatformFault for a torn row."""
    with platform.store.reading() as session:
        attempt = session.get(Attempt, attempt_id)
        if attempt is None:
            return None
        submission = session.get(Submission, attempt.submission_id)
        found = lab_repo.with_cohort(session, attempt.lab_id)
        made = repo.jobs_of(session, attempt_id)
        original = None if attempt.replay_of is None else session.get(Attempt, attempt.replay_of)
    if submission is None or found is None:
        raise PlatformFault(Text("评分的提交或实验不见了", "the submission or the lab of an attempt is gone"))
    current = {job_key(attempt, name): name for name in _names()}
    jobs = {current[job.key]: job for job in made if job.key in current}
    pinned = None if original is None else original.conditions
    return Case(attempt=attempt, submission=submission, lab=found[0], cohort=found[1], jobs=jobs, pinned=pinned)


def job_key(attempt: Attempt, stage: str) -> str:
    """The key that makes one job of a stage: stages of ours get a new one at each retry of the attempt."""
    number = 1 + attempt.retries if stage in OURS else 1
    return f"attempt:{attempt.id}:{stage}:{number}"


def _names() -> tuple[str, ...]:
    repeats = tuple(f"{stage}#{n}" for stage in ("train", "predict") for n in (2, 3))
    return ("train", "predict", *OURS, *repeats)
