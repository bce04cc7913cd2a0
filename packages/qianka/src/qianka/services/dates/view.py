"""What a person sees of a lab's dates: their own, why, what being late costs, and the late days left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from qianka.errors import NotFound, Text
from qianka.policy.dates import Personal
from qianka.policy.lateness import LatePolicy
from qianka.services import access
from qianka.services.dates import words
from qianka.services.dates.book import Book, read
from qianka.services.platform import Caller, Platform
from qianka.store.tables import Cohort, Extension, Lab


@dataclass(frozen=True, kw_only=True)
class Mine:
    """The dates of a lab for one person."""

    cohort: Cohort
    lab: Lab
    now: datetime
    personal: Personal
    extension: Extension | None
    """the one that gives the due date"""
    policy: LatePolicy
    late_days_used: int

    @property
    def sentence(self) -> Text:
        """When it is due for them: local time, offset and countdown; and why it is not the class's date."""
        if self.personal.due is None:
            return Text("没有截止时间", "no due date")
        due = words.until(self.personal.due, self.cohort.zone, self.now)
        if self.extension is None or self.lab.due_at is None:
            return due
        one, at = self.extension, words.shown(self.lab.due_at, self.cohort.zone)
        more = words.more(one.days, one.hours, one.until, self.cohort.zone)
        return Text(
            f"{due.zh}；你有延期 {more.zh}（{one.reason}），全班是 {at}",
            f"{due.en}; you have an extension {more.en} ({one.reason}), the class has {at}",
        )

    @property
    def rule(self) -> Text:
        """What being late costs, in a sentence."""
        return describe(self.policy, self.cohort.late_days)


def mine(platform: Platform, caller: Caller, cohort_slug: str, lab_slug: str, login: str | None = None) -> Mine:
    """The dates of a lab for the caller, or for `login` (staff). Raises NotFound, Forbidden."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        lab = access.lab_for(session, caller, cohort, lab_slug)
        person_id = caller.person_id
        if login is not None and login.strip().lower() != caller.login:
            access.require_staff(session, caller, cohort.id)
            person_id = access.person_for(session, caller, login).id
        staff = access.is_staff(session, caller, cohort.id)
        if not staff and lab.opens_at is not None and lab.opens_at > platform.now():
            raise NotFound(Text(f"实验 {lab_slug} 还没有开放", f"the lab {lab_slug} is not open yet"), reason="no_lab")
        book = read(session, platform, cohort, [] if person_id is None else [person_id])
    return of_book(platform, book, cohort, lab, person_id)


def mine_in_all(platform: Platform, caller: Caller, cohort_slug: str) -> dict[int, Mine]:
    """The caller's dates of every lab in a cohort, by lab. Raises NotFound."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        book = read(session, platform, cohort, [] if caller.person_id is None else [caller.person_id])
    return {lab.id: of_book(platform, book, cohort, lab, caller.person_id) for lab in book.labs.values()}


def of_book(platform: Platform, book: Book, cohort: Cohort, lab: Lab, person_id: int | None) -> Mine:
    """The same from a book that is read already. Staff sees the class's dates."""
    personal = book.personal(-1 if person_id is None else person_id, lab.id)
    if personal.due is None and personal.by is None:
        dates = book.dates[lab.id]
        personal = Personal(opens=dates.opens, due=dates.due, locks=dates.locks, by=None)
    used = sum(grade.late_days for grade in book.grades.values())
    return Mine(
        cohort=cohort,
        lab=lab,
        now=platform.now(),
        personal=personal,
        extension=next((one for one in book.extensions if one.id == personal.by), None),
        policy=book.rules_of(lab, lab.version).policy,
        late_days_used=used,
    )


def describe(policy: LatePolicy, budget: int) -> Text:
    """A late policy in a sentence."""
    if policy.mode == "refuse":
        return Text("不收迟交", "late hand-ins are refused")
    until = Text("", "")
    if policy.most_days is not None:
        until = Text(f"，最多迟 {policy.most_days} 天", f", up to {policy.most_days} days")
    if policy.mode == "mark":
        return Text(f"迟交照收，只做标记{until.zh}", f"late hand-ins are taken and marked{until.en}")
    shares = " → ".join(f"{share:.0%}" for share in policy.steps)
    zh = f"迟交逐天共扣 {shares}" if shares else f"迟交每个日历日扣所得分的 {policy.per_day:.0%}"
    en = f"late: {shares} of the points day by day" if shares else f"late: {policy.per_day:.0%} of the points a day"
    if policy.cap < 1:
        zh, en = f"{zh}，至多 {policy.cap:.0%}", f"{en}, {policy.cap:.0%} at most"
    if policy.floor > 0:
        zh, en = f"{zh}，不低于满分的 {policy.floor:.0%}", f"{en}, not below {policy.floor:.0%} of full points"
    days = budget if policy.budget_days is None else min(budget, policy.budget_days)
    if days > 0:
        zh, en = f"{zh}；可先用宽限天数（本实验至多 {days} 天）", f"{en}; late days cover up to {days} of them"
    return Text(zh + until.zh, en + until.en)
