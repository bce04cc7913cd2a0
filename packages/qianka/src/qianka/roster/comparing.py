"""What a roster would change in a class: added, dropped, returned, changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from qianka.roster.model import Change, Diff, Known, Roster, Row

PARTIAL_FROM = 0.3
"""share of the class missing from a file above which it is taken for a part of the roster"""


def diff(current: Sequence[Known], roster: Roster, mode: Literal["append", "replace"] = "replace") -> Diff:
    """Compare the class with a roster, by student number without regard to case.

    A student whose row could not be read is neither dropped nor changed. `append` drops nobody.
    """
    by_number = {known.student_number.lower(): known for known in current if known.student_number}
    unread = {problem.student_number.lower() for problem in roster.problems if problem.student_number}
    added: list[Row] = []
    returned: list[Change] = []
    changed: list[Change] = []
    unchanged = 0
    seen: set[str] = set()
    for row in roster.rows:
        key = row.student_number.lower()
        seen.add(key)
        known = by_number.get(key)
        if known is None:
            added.append(row)
            continue
        fields = {} if known.is_kept else _differences(known, row)
        if not known.is_active:
            returned.append(Change(known=known, row=row, fields=fields))
        elif fields:
            changed.append(Change(known=known, row=row, fields=fields))
        else:
            unchanged += 1
    students = [known for known in by_number.values() if known.is_active and not known.is_kept]
    missing = [known for known in students if (known.student_number or "").lower() not in seen | unread]
    share = len(missing) / len(students) if students else 0.0
    kept = [known for known in current if known.is_active and known.is_kept and not _is_seen(known, seen)]
    return Diff(
        added=tuple(added),
        dropped=tuple(missing) if mode == "replace" else (),
        returned=tuple(returned),
        changed=tuple(changed),
        unchanged=unchanged,
        kept=tuple(kept),
        is_partial=share > PARTIAL_FROM,
        missing_share=share,
    )


def _differences(known: Known, row: Row) -> dict[str, tuple[str, str]]:
    """What the file says otherwise; a column that is not there, or a cell left empty, says nothing."""
    pairs: Iterable[tuple[str, str, str]] = (
        ("name", known.name, row.name),
        ("section", known.section, row.section),
        ("login", known.login, row.login),
        ("email", known.email, row.email),
    )
    return {field: (old, new) for field, old, new in pairs if new and new != old}


def _is_seen(known: Known, seen: set[str]) -> bool:
    return known.student_number is not None and known.student_number.lower() in seen
