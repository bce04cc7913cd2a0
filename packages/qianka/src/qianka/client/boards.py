"""Boards of predictions and groups, as methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qianka.client.transport import Transport
from qianka.schemas.base import Page
from qianka.schemas.boards import Board
from qianka.schemas.groups import Group, GroupRules
from qianka.schemas.predictions import EnteredFile, PredictionBoard, PredictionEntry, PredictionRanking, Rebuilt

LONG = 180.0
"""seconds to wait for an answer that takes work"""
_CHUNK = 256 << 10


class Boards:
    """The boards of one platform, as one person sees them. Every method raises what the server refused with."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def efficiency(self, cohort: str, lab: str, limit: int = 100) -> Board:
        """Score per GPU-minute in a lab."""
        path = f"/api/cohorts/{_part(cohort)}/labs/{_part(lab)}/board"
        return Board.model_validate(self.transport.get(path, limit=limit, by="efficiency"))

    def of_cohort(self, cohort: str) -> list[PredictionBoard]:
        """The boards of predictions of a cohort."""
        return [PredictionBoard.model_validate(item) for item in self.transport.get(_boards(cohort))]

    def ranking(self, cohort: str, board: str, limit: int = 100, *, private: bool | None = None) -> PredictionRanking:
        """A board with its ranking; `private` True before the reveal: for staff."""
        asked = None if private is None else str(private).lower()
        found = self.transport.get(_board(cohort, board), limit=limit, private=asked)
        return PredictionRanking.model_validate(found)

    def create(self, cohort: str, archive: Path, slug: str, **kaggle: Any) -> PredictionBoard:
        """Make a board of a zipped folder; `kaggle`: metric, title, ladder, a_day of one in Kaggle's form."""
        given = {name: str(value) for name, value in kaggle.items() if value is not None}
        response = self.transport.request(
            "POST", _boards(cohort), content=archive.read_bytes, params={"slug": slug, **given}, timeout=LONG
        )
        return PredictionBoard.model_validate(response.json())

    def change(self, cohort: str, board: str, **changes: Any) -> PredictionBoard:
        """New dates (as ISO text) and limits; None lifts one."""
        response = self.transport.request("PATCH", _board(cohort, board), json=changes)
        return PredictionBoard.model_validate(response.json())

    def sample(self, cohort: str, board: str) -> bytes:
        """The sample file."""
        return self.transport.request("GET", f"{_board(cohort, board)}/sample.csv").content

    def rebuild(self, cohort: str, board: str) -> Rebuilt:
        """Score everything again."""
        return Rebuilt.model_validate(self.transport.post(f"{_board(cohort, board)}/rebuild", timeout=LONG))

    def enter(self, cohort: str, board: str, file: Path, key: str) -> EnteredFile:
        """Enter a CSV; however often the connection breaks, the same key is the same entry."""
        headers = {
            "Idempotency-Key": key,
            "Content-Type": "text/csv",
            "Content-Length": str(file.stat().st_size),
            "X-Filename": quote(file.name, safe=""),
        }
        response = self.transport.request(
            "POST", f"{_board(cohort, board)}/entries", content=lambda: _chunks(file), headers=headers, timeout=LONG
        )
        return EnteredFile.model_validate(response.json())

    def entries(self, cohort: str, board: str, *, everybody: bool = False) -> Iterator[PredictionEntry]:
        """One's own and one's group's entries, newest first; everybody's for staff."""
        after: str | None = None
        while True:
            found = self.transport.get(f"{_board(cohort, board)}/entries", everybody=everybody, after=after)
            page = Page[PredictionEntry].model_validate(found)
            yield from page.items
            after = page.next
            if after is None:
                return

    def select(self, cohort: str, board: str, entries: list[str]) -> list[str]:
        """Choose what counts in the private ranking."""
        path = f"{_board(cohort, board)}/selection"
        found: list[str] = self.transport.request("PUT", path, json={"entries": entries}).json()["entries"]
        return found

    def withdraw(self, entry: str, *, refund: bool = False) -> PredictionEntry:
        """Take an entry off the board."""
        path = f"/api/entries/{_part(entry)}/withdraw"
        response = self.transport.request("POST", path, params={"refund": refund})
        return PredictionEntry.model_validate(response.json())

    def receipt(self, entry: str) -> str:
        """The receipt file, exactly as it is to be saved."""
        return self.transport.request("GET", f"/api/entries/{_part(entry)}/receipt").text


class Groups:
    """The groups of one platform, as one person sees them."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    def rules(self, cohort: str) -> list[GroupRules]:
        """How groups are formed."""
        path = f"/api/cohorts/{_part(cohort)}/group-rules"
        return [GroupRules.model_validate(item) for item in self.transport.get(path)]

    def set_rules(self, cohort: str, **rules: Any) -> GroupRules:
        """Set how they are formed, for staff."""
        path = f"/api/cohorts/{_part(cohort)}/group-rules"
        return GroupRules.model_validate(self.transport.request("PUT", path, json=rules).json())

    def of_cohort(self, cohort: str, scope: str | None = None) -> list[Group]:
        """All groups for staff, else one's own."""
        return [Group.model_validate(item) for item in self.transport.get(_groups(cohort), scope=scope)]

    def create(self, cohort: str, name: str, scope: str = "") -> Group:
        """Make a group with oneself in it."""
        return Group.model_validate(self.transport.post(_groups(cohort), {"name": name, "scope": scope}))

    def import_csv(self, cohort: str, data: bytes, scope: str = "", encoding: str | None = None) -> list[Group]:
        """Make groups what a CSV says, for staff."""
        given = {"scope": scope} | ({} if encoding is None else {"encoding": encoding})
        headers = {"Content-Type": "text/csv"}
        path = f"{_groups(cohort)}/import"
        found = self.transport.request("POST", path, content=data, headers=headers, params=given).json()
        return [Group.model_validate(item) for item in found]

    def invite(self, group: int, login: str) -> Group:
        """Ask a classmate."""
        return Group.model_validate(self.transport.post(f"/api/groups/{group}/invite", {"login": login}))

    def accept(self, group: int) -> Group:
        """Join a group that asked."""
        return Group.model_validate(self.transport.post(f"/api/groups/{group}/accept"))

    def leave(self, group: int) -> None:
        """Leave a group, or decline."""
        self.transport.post(f"/api/groups/{group}/leave")


def _part(name: str) -> str:
    return quote(name, safe="")


def _boards(cohort: str) -> str:
    return f"/api/cohorts/{_part(cohort)}/boards"


def _board(cohort: str, board: str) -> str:
    return f"{_boards(cohort)}/{_part(board)}"


def _groups(cohort: str) -> str:
    return f"/api/cohorts/{_part(cohort)}/groups"


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk
