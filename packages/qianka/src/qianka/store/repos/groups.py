"""Queries on groups, their members, and how they may be formed."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from qianka.store.tables import Entry, Group, Grouping, GroupMember, Person, Submission

MEMBER, INVITED, LEFT = "member", "invited", "left"


def shared_by_members(group_id: int) -> Select[int]:
    """Ids of all groups that somebody of this group is in, itself among them: in each they hand in together."""
    members = select(GroupMember.person_id).where(GroupMember.group_id == group_id, GroupMember.state == MEMBER)
    return select(GroupMember.group_id).where(GroupMember.person_id.in_(members), GroupMember.state == MEMBER)


def rules(session: Session, cohort_id: int) -> list[Grouping]:
    """How groups are formed in a cohort, by scope."""
    return list(session.scalars(select(Grouping).where(Grouping.cohort_id == cohort_id).order_by(Grouping.scope)))


def rule(session: Session, cohort_id: int, scope: str) -> Grouping | None:
    """How groups of a scope are formed, locked until the transaction ends."""
    query = select(Grouping).where(Grouping.cohort_id == cohort_id, Grouping.scope == scope)
    return session.scalar(query.with_for_update())


def of_cohort(session: Session, cohort_id: int, scope: str | None = None) -> list[Group]:
    """The groups of a cohort (of one scope), by scope and name."""
    query = select(Group).where(Group.cohort_id == cohort_id).order_by(Group.scope, Group.name)
    return list(session.scalars(query if scope is None else query.where(Group.scope == scope)))


def by_name(session: Session, cohort_id: int, scope: str, name: str) -> Group | None:
    """The group of that name."""
    query = select(Group).where(Group.cohort_id == cohort_id, Group.scope == scope, Group.name == name)
    return session.scalar(query)


def locked(session: Session, group_id: int) -> Group | None:
    """A group, locked until the transaction ends (on SQLite the transaction itself is the lock)."""
    return session.scalar(select(Group).where(Group.id == group_id).with_for_update())


def members(session: Session, group_ids: Iterable[int]) -> list[tuple[GroupMember, Person]]:
    """Who is in these groups or asked into them, in the order of coming."""
    query = (
        select(GroupMember, Person)
        .join(Person, Person.id == GroupMember.person_id)
        .where(GroupMember.group_id.in_(list(group_ids)), GroupMember.state != LEFT)
        .order_by(GroupMember.since, GroupMember.id)
    )
    return [(row, person) for row, person in session.execute(query)]


def member_ids(session: Session, group_id: int) -> list[int]:
    """Ids of the persons who are in a group."""
    query = select(GroupMember.person_id).where(GroupMember.group_id == group_id, GroupMember.state == MEMBER)
    return list(session.scalars(query.order_by(GroupMember.id)))


def concerned(session: Session, group_id: int) -> list[int]:
    """Ids of everybody who is, was or is asked to be in a group."""
    return list(session.scalars(select(GroupMember.person_id).where(GroupMember.group_id == group_id)))


def membership(session: Session, group_id: int, person_id: int) -> GroupMember | None:
    """What a person is to a group."""
    query = select(GroupMember).where(GroupMember.group_id == group_id, GroupMember.person_id == person_id)
    return session.scalar(query)


def is_member(session: Session, group_id: int, person_id: int) -> bool:
    """Whether a person is in a group."""
    row = membership(session, group_id, person_id)
    return row is not None and row.state == MEMBER


def in_scope(session: Session, cohort_id: int, scope: str, person_id: int) -> Group | None:
    """The group of exactly this scope that a person is in."""
    query = (
        select(Group)
        .join(GroupMember, GroupMember.group_id == Group.id)
        .where(
            Group.cohort_id == cohort_id,
            Group.scope == scope,
            GroupMember.person_id == person_id,
            GroupMember.state == MEMBER,
        )
    )
    return session.scalar(query.order_by(Group.id).limit(1))


def group_for(session: Session, cohort_id: int, slug: str, person_id: int) -> Group | None:
    """The group in which a person hands in to a lab or board: made for it, else one for the whole cohort."""
    return in_scope(session, cohort_id, slug, person_id) or in_scope(session, cohort_id, "", person_id)


def groups_for(session: Session, cohort_id: int, slug: str) -> dict[int, int]:
    """For everybody in a group that hands in to `slug`: person id → group id."""
    query = (
        select(GroupMember.person_id, Group.id)
        .join(Group, Group.id == GroupMember.group_id)
        .where(Group.cohort_id == cohort_id, Group.scope.in_(("", slug)), GroupMember.state == MEMBER)
        .order_by(Group.scope)  # the one made for it comes last, and counts
    )
    return {row[0]: row[1] for row in session.execute(query)}


def has_work(session: Session, group_id: int) -> bool:
    """Whether a group has handed anything in that was taken; what was refused at the door is nothing."""
    is_refused = Entry.state.in_(("invalid", "failed"))
    handed = session.scalar(select(func.count()).where(Submission.group_id == group_id, Submission.state == "accepted"))
    entered = session.scalar(select(func.count()).where(Entry.group_id == group_id, ~is_refused))
    return bool(handed or entered)


def aliases(session: Session, cohort_id: int) -> set[str]:
    """Aliases of the groups of a cohort."""
    return set(session.scalars(select(Group.alias).where(Group.cohort_id == cohort_id)))
