"""Entries afterwards: looked at, chosen for the private ranking, withdrawn, scored again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.orm import Session

from qianka.errors import Conflict, Forbidden, NotFound, Refused, Text
from qianka.services import access, audit, events, groups
from qianka.services.boards import allowance, standings
from qianka.services.boards.allowance import Allowance
from qianka.services.boards.entering import Door, door_of
from qianka.services.boards.loading import FINAL, Opened, answers_of, of_row, opened
from qianka.services.platform import Caller, Platform
from qianka.services.submissions.storage import archive_path
from qianka.store.repos import boards as repo
from qianka.store.repos import groups as group_repo
from qianka.store.repos import people
from qianka.store.tables import Board, Entry, EntryReceipt, Person


class FoundEntry(NamedTuple):
    """An entry with its board, who sent it, and whether the caller may see its private score."""

    entry: Entry
    board: Opened
    person: Person
    with_private: bool
    is_staff: bool


def allowance_now(platform: Platform, caller: Caller, cohort_slug: str, board_slug: str) -> Allowance:
    """What the caller (or their group) may still enter. Raises NotFound, Forbidden."""
    now = platform.now()
    with platform.store.reading() as session:
        door = door_of(session, caller, cohort_slug, board_slug)
        return allowance.allowance_of(session, door.board, door.person.id, door.group_id, now, is_staff=door.is_staff)


def list_entries(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    board_slug: str,
    *,
    everybody: bool = False,
    before: str | None = None,
    limit: int = 100,
) -> list[FoundEntry]:
    """Entries newest first: the caller's and their groups'; everybody's for staff. Raises NotFound, Forbidden."""
    with platform.store.reading() as session:
        board = opened(session, caller, cohort_slug, board_slug)
        is_staff = access.is_staff(session, caller, board.cohort.id)
        if everybody:
            access.require_staff(session, caller, board.cohort.id)
        elif caller.person_id is None:
            return []
        with_private = is_staff or board.phase(platform.now()) == FINAL
        person_id = None if everybody else caller.person_id
        rows = repo.entries(session, board.row.id, person_id=person_id, before=before, limit=limit)
        return [FoundEntry(entry, board, person, with_private, is_staff) for entry, person in rows]


def get_entry(platform: Platform, caller: Caller, entry_id: str) -> FoundEntry:
    """One entry: the caller's own, their group's, or any for staff. Raises NotFound."""
    with platform.store.reading() as session:
        return _visible(session, platform, caller, entry_id)


def receipt_of(platform: Platform, caller: Caller, entry_id: str) -> EntryReceipt:
    """The receipt of an entry. Raises NotFound; an invalid one has none."""
    with platform.store.reading() as session:
        _visible(session, platform, caller, entry_id)
        receipt = repo.receipt_of(session, entry_id)
    if receipt is None:
        raise NotFound(
            Text("这份提交没有计分，没有回执", "this entry was not scored and has no receipt"),
            Text("按提示改好再交", "mend it as told and enter it again"),
            reason="no_receipt",
        )
    return receipt


def file_of(platform: Platform, caller: Caller, entry_id: str) -> Path:
    """The file exactly as it was entered. Raises NotFound for one that was not kept."""
    found = get_entry(platform, caller, entry_id)
    path = archive_path(platform, found.entry.sha256)
    if found.entry.state in ("invalid", "failed") or not path.exists():
        raise NotFound(Text("没有保存这个文件", "this file was not kept"), reason="no_file")
    return path


def select_entries(
    platform: Platform, caller: Caller, cohort_slug: str, board_slug: str, ids: Sequence[str]
) -> list[str]:
    """Choose the entries that count in the private ranking, in place of those chosen before; [] for the default.

    Raises Refused at once for more than the board admits, or for one that is not the caller's or not scored;
    Conflict after the deadline.
    """
    wanted = list(dict.fromkeys(ids))
    with platform.store.transaction() as session:
        door = door_of(session, caller, cohort_slug, board_slug)
        people.lock_person(session, door.person.id)
        groups.lock(session, door.group_id)
        limit = door.board.rules.selections
        if len(wanted) > limit:
            raise Refused(
                Text(f"最多选 {limit} 份，选了 {len(wanted)} 份", f"at most {limit} may be chosen, not {len(wanted)}"),
                Text("去掉几份再选；原来的选择没有变", "leave some out; what was chosen before stays"),
                reason="too_many_selected",
                limit=limit,
            )
        if not door.is_staff:
            _require_open(door, platform)
        mine = {entry.id: entry for entry in repo.scored(session, door.board.row.id, door.owner)}
        unknown = [id for id in wanted if id not in mine]
        if unknown:
            raise Refused(
                Text(
                    f"这些不是你已计分的提交：{', '.join(unknown[:5])}",
                    f"not scored entries of yours: {', '.join(unknown[:5])}",
                ),
                Text("用 qianka board entries 查看编号", "see their ids with qianka board entries"),
                reason="not_yours",
            )
        for entry in mine.values():
            entry.selected = entry.id in wanted
        standings.renew(session, door.board, door.owner)
        events.emit(session, platform, door.board.topic, "changed")
        audit.record(session, platform, caller, "entry.select", door.board.row.id, owner=door.owner, entries=wanted)
    return wanted


def withdraw(platform: Platform, caller: Caller, entry_id: str, *, refund: bool = False) -> FoundEntry:
    """Take an entry off the board as if it had never been; it stays charged unless staff gives the try back.

    The owner may until the deadline, unless a Ladder protects the score; staff at any time. Raises NotFound,
    Forbidden, Conflict.
    """
    with platform.store.transaction() as session:
        found = _visible(session, platform, caller, entry_id)
        if refund:
            access.require_staff(session, caller, found.board.cohort.id)
        if not found.is_staff:
            _require_own(session, caller, found)
            allowance.check_time(found.board, platform.now())
        people.lock_person(session, found.entry.person_id)
        groups.lock(session, found.entry.group_id)
        session.refresh(found.entry)
        if found.entry.state != repo.SCORED:
            raise Conflict(
                Text("这份提交没有计分，不用撤回", "this entry is not scored: there is nothing to withdraw"),
                reason="not_scored",
            )
        found.entry.state, found.entry.withdrawn_at, found.entry.selected = "withdrawn", platform.now(), False
        if refund:
            found.entry.charged = False
        _rebuild(session, platform, found.board, found.entry.owner)
        events.emit(session, platform, found.board.topic, "changed")
        audit.record(session, platform, caller, "entry.withdraw", entry_id, refund=refund)
    return found


def rebuild(platform: Platform, caller: Caller, cohort_slug: str, board_slug: str) -> tuple[int, int]:
    """Score every entry from its file again and make the board anew; (owners, entries with another score).

    For teachers. Raises NotFound, Forbidden, PlatformFault.
    """
    with platform.store.transaction() as session:
        board = opened(session, caller, cohort_slug, board_slug)
        access.require_teacher(session, caller, board.cohort.id)
        answers = answers_of(platform, board)
        owners = repo.owners(session, board.row.id)
        changed = sum(standings.rebuild(session, platform, board, answers, owner) for owner in owners)
        events.emit(session, platform, board.topic, "changed")
        audit.record(session, platform, caller, "board.rebuild", board.row.id, owners=len(owners), changed=changed)
    return len(owners), changed


def _rebuild(session: Session, platform: Platform, board: Opened, owner: str) -> None:
    if board.rules.ladder:
        standings.rebuild(session, platform, board, answers_of(platform, board), owner)
    else:
        standings.renew(session, board, owner)


def _require_own(session: Session, caller: Caller, found: FoundEntry) -> None:
    """Raises Forbidden for who was suspended, who has left the group since, and where there is a Ladder."""
    access.require_active(session, caller, found.board.cohort.id)
    group_id = found.entry.group_id
    if group_id is not None and not group_repo.is_member(session, group_id, caller.person_id or 0):
        raise Forbidden(
            Text("你已不在交它的小组里", "you are no longer in the group that entered it"),
            Text("请那个小组的成员撤回", "ask a member of that group"),
            reason="left_group",
        )
    if found.board.rules.ladder:
        # Who could take back what was told would be told the next score whatever it is.
        raise Forbidden(
            Text("这个榜的公开分数受保护，提交不能自己撤回", "this board protects its score: nothing is taken back"),
            Text(
                "不想让它算进最终排名，就用 qianka board select 选别的；真的交错了请联系教师",
                "choose others for the final ranking with qianka board select; after a mistake talk to the teacher",
            ),
            reason="ladder",
        )


def _require_open(door: Door, platform: Platform) -> None:
    row = door.board.row
    if row.due_at is not None and platform.now() > row.due_at:
        raise Conflict(
            Text("已过截止时间，选择不能再改", "the deadline has passed: what was chosen stays"),
            Text("没有选过的，按公开分数最好的计算", "who chose nothing is ranked by their best public entries"),
            reason="past_due",
        )


def _visible(session: Session, platform: Platform, caller: Caller, entry_id: str) -> FoundEntry:
    entry = session.get(Entry, entry_id)
    row = None if entry is None else session.get(Board, entry.board_id)
    person = None if entry is None else session.get(Person, entry.person_id)
    if entry is None or row is None or person is None:
        raise _none(entry_id)
    is_staff = access.is_staff(session, caller, row.cohort_id)
    is_mine = caller.person_id is not None and (
        entry.person_id == caller.person_id
        or (entry.group_id is not None and group_repo.is_member(session, entry.group_id, caller.person_id))
    )
    if not (is_staff or is_mine):
        raise _none(entry_id)
    board = of_row(session, row)
    return FoundEntry(entry, board, person, is_staff or board.phase(platform.now()) == FINAL, is_staff)


def _none(entry_id: str) -> NotFound:
    return NotFound(Text(f"没有编号为 {entry_id} 的提交", f"there is no entry {entry_id}"), reason="no_entry")
