"""A class with a board of predictions: rows with known answers, and files as people enter them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qianka.domain.people import Role
from qianka.ids import new_id
from qianka.services import boards
from qianka.services.boards import Entered, Ranking
from qianka.services.platform import Caller, Platform
from qianka.store.repos import boards as repo
from qianka.store.tables import Board, Cohort, Entry, Person, Standing
from qianka.testing.clock import FakeClock
from qianka.testing.factories import caller_of, enroll, make_cohort, make_person, make_student


def board_toml(**changes: Any) -> str:
    """A board.toml; `changes` by dotted key, such as `limits.a_day`, given with `__` for the dot."""
    values: dict[str, dict[str, Any]] = {
        "": {"title": "猜数", "title_en": "Guess", "metric": "accuracy"},
        "split": {"public": 0.5},
        "limits": {"a_day": 1000},
        "public": {"ladder": False},
    }
    for key, value in changes.items():
        table, _, name = key.rpartition("__")
        values.setdefault(table, {})[name] = value
    lines = []
    for table, keys in values.items():
        lines += [f"[{table}]"] if table else []
        lines += [f"{key} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def table(header: str, rows: Iterable[tuple[Any, Any]]) -> str:
    """A CSV of two columns."""
    return header + "\n" + "".join(f"{one},{other}\n" for one, other in rows)


@dataclass
class BoardScene:
    """Everything that entering needs; `enter` takes the place of server and client."""

    platform: Platform
    clock: FakeClock
    cohort: Cohort
    board: Board
    teacher: Person
    truth: dict[str, Any]
    """the answers by id"""

    def student(self, login: str | None = None, **fields: Any) -> Person:
        """Another student of the class."""
        return make_student(self.platform, self.cohort, login, **fields)

    def file(self, text: str | bytes) -> Path:
        """A complete upload in `incoming`."""
        path = self.platform.folders.incoming / new_id("u")
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def predictions(self, wrong: int | Iterable[str] = 0) -> str:
        """A sound file for answers of 0 and 1; `wrong`: how many are, or the ids of those."""
        ids = set(list(self.truth)[:wrong]) if isinstance(wrong, int) else set(wrong)
        column = self.board.rules["column"]
        rows = ((id, (1 - int(value)) if id in ids else value) for id, value in self.truth.items())
        return table(f"id,{column}", rows)

    def enter(
        self, who: Person, text: str | bytes | None = None, key: str | None = None, *, filename: str = "predictions.csv"
    ) -> Entered:
        """An entry of `who` with a fresh key; a second passes first."""
        self.clock.advance(1)
        return boards.enter(
            self.platform,
            caller_of(who),
            self.cohort.slug,
            self.board.slug,
            self.file(self.predictions() if text is None else text),
            filename,
            key or secrets.token_hex(8),
        )

    def ranking(self, caller: Caller | None = None, *, private: bool | None = None) -> Ranking:
        """The board, as staff sees it unless `caller` is given."""
        seen = caller or caller_of(self.teacher)
        return boards.ranking(self.platform, seen, self.cohort.slug, self.board.slug, private=private)

    def rows(self, *, private: bool = False) -> list[tuple[int | None, str, str | None]]:
        """(rank, name, score) of each row."""
        return [(row.rank, row.name, row.score) for row in self.ranking(private=private).rows]

    def entries(self, who: Person) -> list[Entry]:
        """What `who` entered, oldest first."""
        with self.platform.store.reading() as session:
            return [row for row, _ in repo.entries(session, self.board.id, person_id=who.id)][::-1]

    def standing(self, owner: str) -> Standing | None:
        """Where an owner stands."""
        with self.platform.store.reading() as session:
            return repo.standing(session, self.board.id, owner)

    @property
    def public_ids(self) -> list[str]:
        """Ids of the public rows."""
        return self._ids("public")

    @property
    def private_ids(self) -> list[str]:
        """Ids of the private rows."""
        return self._ids("private")

    def _ids(self, part: str) -> list[str]:
        from qianka.services.boards.loading import answers_of, of_row

        with self.platform.store.reading() as session:
            found = answers_of(self.platform, of_row(session, self.board))
        places = set(getattr(found, part))
        return [id for id, place in found.rows.items() if place in places]


def make_board_scene(
    platform: Platform,
    clock: FakeClock,
    *,
    rows: int = 40,
    truth: Callable[[int], Any] = lambda n: n % 2,
    zone: str = "Asia/Shanghai",
    **changes: Any,
) -> BoardScene:
    """The cohort `ai` with the board `guess` of `rows` answers; `changes` as for `board_toml`."""
    cohort = make_cohort(platform, "ai", zone=zone)
    teacher = make_person(platform)
    enroll(platform, cohort, teacher, Role.TEACHER)
    answers = {str(1000 + n): truth(n) for n in range(rows)}
    folder = platform.folders.root / "boards-in" / secrets.token_hex(4)
    folder.mkdir(parents=True)
    text = board_toml(**changes)
    is_label = 'metric = "accuracy"' in text or "balanced" in text or "f1_" in text or "kappa" in text
    column = "label" if is_label else "value"
    (folder / "board.toml").write_text(text, "utf-8")
    (folder / "answers.csv").write_text(table(f"id,{column}", answers.items()), "utf-8")
    (folder / "sample_submission.csv").write_text(table(f"id,{column}", ((id, 0) for id in answers)), "utf-8")
    board = boards.create(platform, caller_of(teacher), "ai", folder, "guess")
    return BoardScene(platform, clock, cohort, board, teacher, answers)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
