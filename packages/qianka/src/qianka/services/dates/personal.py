"""Which dates hold for whom: the class's own and the extensions that a person falls under."""

from __future__ import annotations

from collections.abc import Iterable
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from qianka.policy.dates import Dates, Personal, Rule, personal
from qianka.store.repos import dates as repo
from qianka.store.repos import people
from qianka.store.tables import Cohort, Extension, Lab


def dates_of(lab: Lab) -> Dates:
    """The dates of a lab as the class has them."""
    return Dates(opens=lab.opens_at, due=lab.due_at, locks=lab.locks_at)


def rules_for(extensions: Iterable[Extension], lab_id: int, person_id: int, section: str | None) -> list[Rule]:
    """The extensions that hold for a person in a lab."""
    found = []
    for one in extensions:
        for_lab = one.lab_id is None or one.lab_id == lab_id
        for_me = one.person_id == person_id or (one.person_id is None and one.section == section)
        if for_lab and for_me and one.revoked_at is None:
            found.append(Rule(id=one.id, days=one.days, hours=one.hours, until=one.until))
    return found


def personal_for(session: Session, cohort: Cohort, lab: Lab, person_id: int) -> Personal:
    """The dates that hold for a person in a lab: the most generous of all."""
    mine = people.enrollment(session, cohort.id, person_id)
    rules = rules_for(repo.extensions(session, cohort.id), lab.id, person_id, None if mine is None else mine.section)
    return personal(dates_of(lab), rules, ZoneInfo(cohort.zone))
