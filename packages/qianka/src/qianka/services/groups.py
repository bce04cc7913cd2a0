"""Groups: made by staff from a file, or by students who ask each other, until the lock date.

A group hands in as one. Whoever is in it when it hands in sees that and gets its grade; once it has
handed something in, only staff changes who belongs to it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from qianka import roster
from qianka.errors import BadInput, Conflict, Forbidden, NotFound, Refused, Text
from qianka.services import access, audit, events
from qianka.services.people.aliases import new_alias
from qianka.services.platform import Caller, Platform
from qianka.store.repos import groups as repo
from qianka.store.repos import people
from qianka.store.repos.groups import INVITED, LEFT, MEMBER
from qianka.store.tables import Cohort, Group, Grouping, GroupMember, Person

MAX_NAME = 40


@dataclass(frozen=True)
class Found:
    """A group with who is in it and who is asked."""

    group: Group
    members: list[Person]
    invited: list[Person]


def handing_in(session: Session, cohort: Cohort, slug: str, size: int, person_id: int) -> Group | None:
    """The group in which a person hands in to a lab or board that admits groups of `size`; None: alone.

    Raises Conflict for a group that has more members.
    """
    group = None if size <= 1 else repo.group_for(session, cohort.id, slug, person_id)
    if group is not None and len(repo.member_ids(session, group.id)) > size:
        raise Conflict(
            Text(
                f"小组 {group.name} 超过 {size} 人，这里不能以它提交",
                f"the group {group.name} has more than {size} members and cannot hand in here",
            ),
            Text("请教师为这个作业另分小组", "ask the teacher for groups of this lab's own"),
            reason="group_size",
            limit=size,
        )
    return group


def lock(session: Session, group_id: int | None) -> None:
    """Let hand-ins of one group go one after the other until the transaction ends."""
    if group_id is not None:
        repo.locked(session, group_id)


def rules(platform: Platform, caller: Caller, cohort_slug: str) -> list[Grouping]:
    """How groups are formed in a cohort. Raises NotFound."""
    with platform.store.reading() as session:
        return repo.rules(session, access.cohort_for(session, caller, cohort_slug).id)


def set_rules(
    platform: Platform,
    caller: Caller,
    cohort_slug: str,
    *,
    scope: str = "",
    size: int,
    locks_at: datetime | None = None,
    by_students: bool = True,
) -> Grouping:
    """Say how groups of a lab, a board (`scope`: its slug) or the whole cohort are formed; for staff."""
    if not 1 <= size <= 20:
        raise BadInput(Text("小组人数应在 1 和 20 之间", "a group has 1 to 20 members"), reason="group_size")
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        rule = repo.rule(session, cohort.id, scope)
        if rule is None:
            rule = Grouping(cohort_id=cohort.id, scope=scope)
            session.add(rule)
        rule.size, rule.locks_at, rule.by_students = size, locks_at, by_students
        session.flush()
        lock_text = None if locks_at is None else locks_at.isoformat()
        audit.record(
            session, platform, caller, "group.rules", _target(cohort, scope), size=size, locks_at=lock_text,
            by_students=by_students,
        )  # fmt: skip
        events.emit_for_cohort(session, platform, cohort.slug, "group", scope=scope)
    return rule


def list_groups(platform: Platform, caller: Caller, cohort_slug: str, scope: str | None = None) -> list[Found]:
    """The groups of a cohort: all of them for staff, for a student those they are in or asked into."""
    with platform.store.reading() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        found = _found(session, repo.of_cohort(session, cohort.id, scope))
        if access.is_staff(session, caller, cohort.id):
            return found
        return [one for one in found if any(p.id == caller.person_id for p in (*one.members, *one.invited))]


def get(platform: Platform, caller: Caller, group_id: int) -> Found:
    """One group. Raises NotFound for one that the caller is neither in nor asked into nor staff of."""
    with platform.store.reading() as session:
        group = _visible(session, caller, group_id)
        return _found(session, [group])[0]


def create(platform: Platform, caller: Caller, cohort_slug: str, name: str, scope: str = "") -> Found:
    """Make a group with the caller in it. Raises Conflict (a name taken, in another group), Forbidden (locked)."""
    name = _name(name)
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        person = _student(session, caller, cohort)
        _open_rule(session, platform, cohort, scope)
        _require_free(session, cohort, scope, person)
        group = _make(session, platform, cohort, scope, name)
        _put(session, platform, group, person, MEMBER)
        audit.record(session, platform, caller, "group.create", _target(cohort, scope), group=group.id, name=name)
        _tell(session, platform, cohort, group)
        return _found(session, [group])[0]


def invite(platform: Platform, caller: Caller, group_id: int, login: str) -> Found:
    """Ask a classmate into the caller's group. Raises NotFound, Conflict (full, taken), Forbidden (locked)."""
    with platform.store.transaction() as session:
        group, cohort = _mine(session, platform, caller, group_id, (MEMBER,))
        person = people.person_by_login(session, login.strip().lower())
        enrolled = None if person is None else people.enrollment(session, cohort.id, person.id)
        if person is None or enrolled is None or enrolled.role != "student" or enrolled.state != "active":
            raise NotFound(Text(f"班里没有学生 {login}", f"there is no student {login} in this cohort"))
        if repo.is_member(session, group.id, person.id):
            return _found(session, [group])[0]
        _require_room(session, group, cohort, counting_invited=True)
        _put(session, platform, group, person, INVITED)
        audit.record(session, platform, caller, "group.invite", _target(cohort, group.scope), group=group.id, who=login)
        _tell(session, platform, cohort, group)
        return _found(session, [group])[0]


def accept(platform: Platform, caller: Caller, group_id: int) -> Found:
    """Join a group that asked. Raises NotFound, Conflict (full, in another group), Forbidden (locked)."""
    with platform.store.transaction() as session:
        group, cohort = _mine(session, platform, caller, group_id, (INVITED, MEMBER))
        person = _student(session, caller, cohort)
        if not repo.is_member(session, group.id, person.id):
            _require_free(session, cohort, group.scope, person)
            _require_room(session, group, cohort)
            _put(session, platform, group, person, MEMBER)
            audit.record(session, platform, caller, "group.join", _target(cohort, group.scope), group=group.id)
            _tell(session, platform, cohort, group)
        return _found(session, [group])[0]


def leave(platform: Platform, caller: Caller, group_id: int) -> None:
    """Leave a group, or decline. Raises NotFound, Forbidden (locked), Conflict (it has handed in)."""
    with platform.store.transaction() as session:
        group, cohort = _mine(session, platform, caller, group_id, (INVITED, MEMBER))
        row = repo.membership(session, group.id, caller.person_id or 0)
        if row is not None:
            row.state, row.since = LEFT, platform.now()
        audit.record(session, platform, caller, "group.leave", _target(cohort, group.scope), group=group.id)
        _tell(session, platform, cohort, group)


def import_csv(
    platform: Platform, caller: Caller, cohort_slug: str, data: bytes, *, scope: str = "", encoding: str | None = None
) -> list[Found]:
    """Make the groups of a scope what a list (CSV, workbook) says; for staff.

    Its columns are group or 小组, and login or student number (学号). People whom the file does not name stay
    where they are. Nothing is written when a line is wrong: raises Refused with line numbers, BadInput for a file
    that is no table.
    """
    with platform.store.transaction() as session:
        cohort = access.cohort_for(session, caller, cohort_slug)
        access.require_staff(session, caller, cohort.id)
        wanted = _wanted(session, cohort, roster.first_rows(data, encoding))
        rule = repo.rule(session, cohort.id, scope)
        if rule is None:
            size = max(len(members) for members in wanted.values())
            session.add(Grouping(cohort_id=cohort.id, scope=scope, size=size, by_students=False))
            session.flush()
        for name, persons in wanted.items():
            group = repo.by_name(session, cohort.id, scope, name) or _make(session, platform, cohort, scope, name)
            for person in persons:
                _move(session, platform, cohort, group, person)
        audit.record(session, platform, caller, "group.import", _target(cohort, scope), groups=len(wanted))
        events.emit_for_cohort(session, platform, cohort.slug, "group", scope=scope)
        return _found(session, repo.of_cohort(session, cohort.id, scope))


def _wanted(session: Session, cohort: Cohort, rows: list[list[str]]) -> dict[str, list[Person]]:
    rows = rows or [[]]
    header = [cell.strip().lower() for cell in rows[0]]
    of_group = next((header.index(name) for name in ("group", "小组", "组", "队") if name in header), None)
    keys = ("login", "账号", "登录名", "学号", "student_number", "number")
    of_person = next((header.index(name) for name in keys if name in header), None)
    if of_group is None or of_person is None:
        raise BadInput(
            Text("要有“小组”和“学号”（或 login）两列", "columns group and login (or student number) are needed"),
            reason="columns",
        )
    enrolled = [person for row, person in people.class_list(session, cohort.id) if row.role == "student"]
    known = {key.lower(): person for person in enrolled for key in (person.login, person.student_number) if key}
    found: dict[str, list[Person]] = {}
    problems: list[str] = []
    seen: set[int] = set()
    for line, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        name, key = (row[at].strip() if at < len(row) else "" for at in (of_group, of_person))
        person = known.get(key.lower())
        if not name or person is None or person.id in seen:
            problems.append(f"{line} ({key or '-'})")
            continue
        seen.add(person.id)
        found.setdefault(_name(name), []).append(person)
    if problems or not found:
        shown = ", ".join(problems[:5]) + (f" … {len(problems)}" if len(problems) > 5 else "")
        raise Refused(
            Text(
                f"这些行的人不在班里、重复或没有小组名：{shown or '-'}",
                f"not in the class, twice, or no group: {shown or '-'}",
            ),
            Text("什么都没有写；改好再导入", "nothing was written; mend the file and import it again"),
            reason="groups",
            count=len(problems),
        )
    return found


def _move(session: Session, platform: Platform, cohort: Cohort, group: Group, person: Person) -> None:
    before = repo.in_scope(session, cohort.id, group.scope, person.id)
    if before is not None and before.id != group.id:
        row = repo.membership(session, before.id, person.id)
        if row is not None:
            row.state, row.since = LEFT, platform.now()
    if before is None or before.id != group.id:
        _put(session, platform, group, person, MEMBER)


def _make(session: Session, platform: Platform, cohort: Cohort, scope: str, name: str) -> Group:
    if repo.by_name(session, cohort.id, scope, name) is not None:
        raise Conflict(
            Text(f"已经有小组 {name}", f"there is a group {name} already"),
            Text("换一个名字", "choose another name"),
            reason="name_taken",
        )
    taken = repo.aliases(session, cohort.id) | people.aliases(session)
    alias = new_alias(taken, random.SystemRandom())
    group = Group(cohort_id=cohort.id, scope=scope, name=name, alias=alias, created_at=platform.now())
    session.add(group)
    session.flush()
    return group


def _put(session: Session, platform: Platform, group: Group, person: Person, state: str) -> None:
    row = repo.membership(session, group.id, person.id)
    if row is None:
        row = GroupMember(group_id=group.id, person_id=person.id, state=state, since=platform.now())
        session.add(row)
    elif row.state != state:
        row.state, row.since = state, platform.now()
    session.flush()


def _tell(session: Session, platform: Platform, cohort: Cohort, group: Group) -> None:
    """Open pages of those in the group, of those asked, of whoever just left, and of staff."""
    for person_id in repo.concerned(session, group.id):
        events.emit_for_person(session, platform, person_id, "group", group=group.id, scope=group.scope)
    events.emit_for_staff(session, platform, cohort.slug, "group", group=group.id, scope=group.scope)


def _mine(
    session: Session, platform: Platform, caller: Caller, group_id: int, states: tuple[str, ...]
) -> tuple[Group, Cohort]:
    """A group that the caller may change now, locked."""
    group = repo.locked(session, group_id)
    row = None if group is None else repo.membership(session, group_id, caller.person_id or 0)
    if group is None or row is None or row.state not in states:
        raise _no_group(group_id)
    cohort = session.get(Cohort, group.cohort_id)
    if cohort is None:
        raise _no_group(group_id)
    access.require_active(session, caller, cohort.id)
    access.require_open(cohort)
    _open_rule(session, platform, cohort, group.scope)
    if repo.has_work(session, group.id):
        raise Conflict(
            Text("小组已经提交过，不能再换人", "the group has handed in: its members stay"),
            Text("有特殊情况请联系教师", "talk to the teacher if they must change"),
            reason="group_has_work",
        )
    return group, cohort


def _open_rule(session: Session, platform: Platform, cohort: Cohort, scope: str) -> Grouping:
    rule = repo.rule(session, cohort.id, scope)
    if rule is None or not rule.by_students:
        raise Forbidden(
            Text("这里的小组由教师分", "groups are made by staff here"),
            Text("请教师分组，或请教师开放自由组队", "ask the teacher to put you into one, or to open groups"),
            reason="by_staff",
        )
    if rule.locks_at is not None and platform.now() >= rule.locks_at:
        raise Forbidden(
            Text("组队已经截止", "groups are locked"),
            Text("要改动请联系教师", "talk to the teacher for changes"),
            reason="locked",
            locks_at=rule.locks_at.isoformat(),
        )
    return rule


def _require_free(session: Session, cohort: Cohort, scope: str, person: Person) -> None:
    people.lock_person(session, person.id)
    other = repo.in_scope(session, cohort.id, scope, person.id)
    if other is not None:
        raise Conflict(
            Text(f"你已经在小组 {other.name} 里", f"you are in the group {other.name}"),
            Text("先退出那个小组", "leave it first"),
            reason="in_a_group",
        )


def _require_room(session: Session, group: Group, cohort: Cohort, *, counting_invited: bool = False) -> None:
    rule = repo.rule(session, cohort.id, group.scope)
    rows = [row for row, _ in repo.members(session, [group.id])]
    taken = [row for row in rows if counting_invited or row.state == MEMBER]
    if rule is not None and len(taken) >= rule.size:
        raise Conflict(
            Text(f"小组已满（最多 {rule.size} 人）", f"the group is full ({rule.size} at most)"),
            reason="group_full",
            limit=rule.size,
        )


def _student(session: Session, caller: Caller, cohort: Cohort) -> Person:
    enrolled = access.require_active(session, caller, cohort.id)
    access.require_open(cohort)
    person = None if caller.person_id is None else session.get(Person, caller.person_id)
    if person is None or enrolled is None or enrolled.role != "student":
        raise Forbidden(Text("只有学生组队", "only students form groups"), reason="students_only")
    return person


def _visible(session: Session, caller: Caller, group_id: int) -> Group:
    group = session.get(Group, group_id)
    if group is None:
        raise _no_group(group_id)
    row = repo.membership(session, group_id, caller.person_id or 0)
    if not access.is_staff(session, caller, group.cohort_id) and (row is None or row.state == LEFT):
        raise _no_group(group_id)
    return group


def _found(session: Session, groups: list[Group]) -> list[Found]:
    people_of: dict[int, list[tuple[GroupMember, Person]]] = {group.id: [] for group in groups}
    for row, person in repo.members(session, people_of):
        people_of[row.group_id].append((row, person))
    return [
        Found(
            group,
            [person for row, person in people_of[group.id] if row.state == MEMBER],
            [person for row, person in people_of[group.id] if row.state == INVITED],
        )
        for group in groups
    ]


def _name(name: str) -> str:
    name = " ".join("".join(letter for letter in name if letter.isprintable()).split())
    if not 1 <= len(name) <= MAX_NAME:
        raise BadInput(
            Text(f"组名应有 1 到 {MAX_NAME} 个字", f"a name has 1 to {MAX_NAME} letters"), reason="group_name"
        )
    return name


def _no_group(group_id: int) -> NotFound:
    return NotFound(Text(f"没有小组 {group_id}", f"there is no group {group_id}"), reason="no_group")


def _target(cohort: Cohort, scope: str) -> str:
    return f"group:{cohort.slug}/{scope}"
