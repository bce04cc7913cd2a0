"""Under which names people and groups stand on a board, and who stands there at all."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from qianka.services.platform import Caller
from qianka.store.repos import boards as repo
from qianka.store.repos import groups
from qianka.store.tables import Cohort


def owner_of(person_id: int, group_id: int | None) -> str:
    """Who an entry counts for."""
    return f"p{person_id}" if group_id is None else f"g{group_id}"


@dataclass(frozen=True)
class Named:
    """One who may stand on a board."""

    name: str
    is_mine: bool


def named(
    session: Session, caller: Caller, cohort: Cohort, slug: str, *, grouped: bool, is_staff: bool
) -> dict[str, Named]:
    """Everybody who may stand on the board of `slug`, by owner, under the name that the caller may see.

    That is the alias, unless the caller is staff, it is the caller's own, or the person (every member of a
    group) chose to show their name; for a projector it always is. Students who are suspended, and those who are
    in a group where groups enter, do not stand there by themselves.
    """
    is_staff = is_staff and not caller.by_alias
    people = {row.id: row for row in repo.class_names(session, cohort.id)}
    in_group = groups.groups_for(session, cohort.id, slug) if grouped else {}
    found = {
        f"p{id}": Named(
            row.name if is_staff or (row.show_name and not caller.by_alias) or id == caller.person_id else row.alias,
            id == caller.person_id,
        )
        for id, row in people.items()
        if id not in in_group
    }
    if not grouped:
        return found
    members: dict[int, list[bool]] = {}
    for group_id, person_id, show_name in repo.group_people(session, cohort.id):
        if person_id in people:
            members.setdefault(group_id, []).append(show_name)
    mine = in_group.get(caller.person_id or 0)
    for row in repo.group_names(session, cohort.id):
        if row.id in members:
            is_named = is_staff or row.id == mine or (all(members[row.id]) and not caller.by_alias)
            found[f"g{row.id}"] = Named(row.name if is_named else row.alias, row.id == mine)
    return found
