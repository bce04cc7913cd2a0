"""Two gradings side by side: what was scored, and how the code differs."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.orm import Session

from qianka.errors import BadInput, Text
from qianka.services import access
from qianka.services.labs import loaded, version_folder
from qianka.services.platform import Caller, Platform
from qianka.services.submissions import ensure_tree
from qianka.store.tables import Attempt, Cohort, Lab, Submission

LONGEST_FILE = 200_000
"""bytes of a file that is compared line by line"""
LONGEST_DIFF = 400_000
"""characters of all differences together"""


@dataclass(frozen=True)
class FileDifference:
    """One file that differs; `diff` is None where it is not text, or there is too much of it."""

    path: str
    what: str
    """added, removed or changed"""
    diff: str | None


@dataclass(frozen=True)
class Comparison:
    """Two gradings of one lab."""

    a: Attempt
    b: Attempt
    files: list[FileDifference] = field(default_factory=list)


def compare(platform: Platform, caller: Caller, first: str, second: str) -> Comparison:
    """What differs between two gradings of the same lab, for whoever may see both.

    Raises NotFound, BadInput for two labs.
    """
    with platform.store.reading() as session:
        a, b = access.attempt_for(session, caller, first), access.attempt_for(session, caller, second)
        if a.lab_id != b.lab_id:
            raise BadInput(
                Text("两次评分属于不同的实验", "the two gradings are of different labs"),
                Text("选同一个实验的两次", "choose two of the same lab"),
                reason="two_labs",
            )
        trees = [_tree(session, platform, one) for one in (a, b)]
    if a.submission_id == b.submission_id or None in trees:
        return Comparison(a, b)
    old, new = (folder for folder in trees if folder is not None)
    return Comparison(a, b, _files(old, new))


def _tree(session: Session, platform: Platform, attempt: Attempt) -> Path | None:
    submission = session.get_one(Submission, attempt.submission_id)
    if submission.state != "accepted":
        return None
    lab = session.get_one(Lab, attempt.lab_id)
    cohort = session.get_one(Cohort, lab.cohort_id)
    rules = loaded(version_folder(platform, cohort.slug, lab.slug, attempt.lab_version or lab.version))
    return ensure_tree(platform, submission, rules.handin)


def _files(old: Path, new: Path) -> list[FileDifference]:
    before, after = _listed(old), _listed(new)
    found, left = [], LONGEST_DIFF
    for name in sorted(before | after):
        was, now = old / name, new / name
        what = "added" if name not in before else "removed" if name not in after else "changed"
        if what == "changed" and was.read_bytes() == now.read_bytes():
            continue
        diff = _diff(was if name in before else None, now if name in after else None)
        if diff is not None:
            diff, left = (diff, left - len(diff)) if len(diff) <= left else (None, left)
        found.append(FileDifference(name, what, diff))
    return found


def _listed(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
    }


def _diff(was: Path | None, now: Path | None) -> str | None:
    old, new = _lines(was), _lines(now)
    if old is None or new is None:
        return None
    return "\n".join(list(difflib.unified_diff(old, new, lineterm=""))[2:])


def _lines(path: Path | None) -> list[str] | None:
    if path is None:
        return []
    data = path.read_bytes() if path.stat().st_size <= LONGEST_FILE else b"\0"
    return None if b"\0" in data else data.decode("utf-8", "replace").splitlines()
