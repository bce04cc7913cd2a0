"""Boards of predictions and groups over HTTP, spoken by the product's own client; the page of a board."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from qianka import receipts
from qianka.client import archive
from qianka.client.boards import Boards, Groups
from qianka.client.transport import Transport
from qianka.errors import Conflict, Forbidden, NotFound, OverLimit, QiankaError, Refused, TooLarge
from qianka.services.platform import Platform
from qianka.store.tables import Person
from qianka.testing.boards import board_toml, table
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]
TRUTH = {str(n): n % 2 for n in range(200)}


class Speaker:
    """Somebody at the platform, with the client of the command line."""

    def __init__(self, client: TestClient) -> None:
        self.raw = client
        transport = Transport("http://localhost", transport=client._transport, tries=1)
        transport.http.headers.update(client.headers)
        self.boards, self.groups = Boards(transport), Groups(transport)


@pytest.fixture
def speaking(with_token: SignIn) -> Callable[[Person], Speaker]:
    return lambda person: Speaker(with_token(person))


def packed(tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "guess"
    folder.mkdir()
    (folder / "board.toml").write_text(board_toml(**changes), "utf-8")
    (folder / "answers.csv").write_text(table("id,label", TRUTH.items()))
    (folder / "sample_submission.csv").write_text(table("id,label", ((id, 0) for id in TRUTH)))
    archive.pack(folder, tmp_path / "guess.zip")
    return tmp_path / "guess.zip"


def file(tmp_path: Path, wrong: int = 0, name: str = "p.csv") -> Path:
    path = tmp_path / name
    ids = set(list(TRUTH)[:wrong])
    path.write_text(table("id,label", ((id, 1 - one if id in ids else one) for id, one in TRUTH.items())))
    return path


def test_a_board_from_the_folder_to_the_final_ranking(
    classroom: Any, speaking: Callable[[Person], Speaker], tmp_path: Path
) -> None:
    cohort = classroom.cohort.slug
    teacher, alice, bob = (speaking(one) for one in (classroom.teacher, classroom.alice, classroom.bob))
    folder = packed(tmp_path, limits__a_day=3)
    with pytest.raises(Forbidden):
        alice.boards.create(cohort, folder, "guess")
    made = teacher.boards.create(cohort, folder, "guess")
    assert (made.slug, made.metric, made.phase, made.has_sample) == ("guess", "accuracy", "open", True)
    assert [one.slug for one in alice.boards.of_cohort(cohort)] == ["guess"]
    assert alice.boards.sample(cohort, "guess").startswith(b"id,label\n0,0\n")

    entered = alice.boards.enter(cohort, "guess", file(tmp_path, 20), "key-number-one")
    assert (entered.entry.state, entered.again) == ("scored", False)
    assert entered.receipt is not None
    assert receipts.verify_file(entered.receipt).body["submission"] == entered.entry.id
    assert alice.boards.receipt(entered.entry.id) == entered.receipt
    assert alice.boards.enter(cohort, "guess", file(tmp_path, 20), "key-number-one").again
    assert entered.allowance is not None
    assert entered.allowance.left == 2
    bob.boards.enter(cohort, "guess", file(tmp_path, 10), "key-number-two")

    ranking = alice.boards.ranking(cohort, "guess")
    assert [(one.rank, one.mine, one.entries) for one in ranking.entries] == [(1, False, 1), (2, True, 1)]
    assert ranking.private is False
    mine = list(alice.boards.entries(cohort, "guess"))
    assert [(one.id, one.private) for one in mine] == [(entered.entry.id, None)]
    assert {one.login for one in teacher.boards.entries(cohort, "guess", everybody=True)} == {"alice", "bob"}
    assert alice.boards.select(cohort, "guess", [entered.entry.id]) == [entered.entry.id]
    with pytest.raises(Refused):
        alice.boards.select(cohort, "guess", [entered.entry.id, "e-1", "e-2"])
    assert alice.raw.get(f"/api/entries/{entered.entry.id}/file").text == file(tmp_path, 20).read_text()
    with pytest.raises(NotFound):
        bob.boards.withdraw(entered.entry.id)

    past = (classroom.cohort.created_at - timedelta(days=1)).isoformat()
    with pytest.raises(Forbidden):
        alice.boards.change(cohort, "guess", due_at=past)
    assert teacher.boards.change(cohort, "guess", due_at=past).phase == "final"
    final = alice.boards.ranking(cohort, "guess")
    assert (final.phase, final.private) == ("final", True)
    with pytest.raises(Conflict):
        alice.boards.enter(cohort, "guess", file(tmp_path, 1), "key-number-ten")
    assert teacher.boards.rebuild(cohort, "guess").changed == 0
    assert teacher.boards.withdraw(entered.entry.id, refund=True).state == "withdrawn"
    assert [one.mine for one in alice.boards.ranking(cohort, "guess").entries] == [False]


def test_what_is_wrong_is_told_in_the_callers_language_at_no_cost(
    classroom: Any, speaking: Callable[[Person], Speaker], tmp_path: Path
) -> None:
    cohort = classroom.cohort.slug
    speaking(classroom.teacher).boards.create(cohort, packed(tmp_path, predictions__max_mb=0.01), "guess")
    alice = speaking(classroom.alice)
    bad = tmp_path / "bad.csv"
    bad.write_text("id,label\n0,NaN\n1,1\n")
    entered = alice.boards.enter(cohort, "guess", bad, "key-of-a-bad-one")
    assert (entered.entry.state, entered.receipt, entered.entry.charged) == ("invalid", None, False)
    codes = {one.code: one for one in entered.entry.problems}
    assert codes["not_finite"].first[0] == {"line": 2, "id": "0", "value": "NaN"}
    assert codes["missing_id"].count == 198
    assert "NaN" in (entered.entry.message or "")
    big = tmp_path / "big.csv"
    big.write_bytes(b"id,label\n" + b"0,1\n" * 10_000)
    with pytest.raises(TooLarge):
        alice.boards.enter(cohort, "guess", big, "key-of-a-big-one")
    streamed = alice.raw.post(
        f"/api/cohorts/{cohort}/boards/guess/entries",
        content=iter([b"id,label\n", b"0,1\n" * 10_000]),
        headers={"Idempotency-Key": "key-without-length"},
    )
    assert streamed.status_code == 413
    zipped = tmp_path / "p.csv.gz"
    zipped.write_bytes(b"\x1f\x8b")
    with pytest.raises(Refused) as refused:
        alice.boards.enter(cohort, "guess", zipped, "key-of-a-zipped-one")
    assert refused.value.reason == "predictions"
    allowance = alice.boards.ranking(cohort, "guess").allowance
    assert allowance is not None
    assert allowance.used_today == 0


def test_strangers_know_of_no_board(
    classroom: Any, speaking: Callable[[Person], Speaker], tmp_path: Path, platform: Platform
) -> None:
    from qianka.testing import make_person

    speaking(classroom.teacher).boards.create(classroom.cohort.slug, packed(tmp_path), "guess")
    eve = speaking(make_person(platform))
    with pytest.raises(NotFound):
        eve.boards.ranking(classroom.cohort.slug, "guess")
    with pytest.raises(NotFound):
        eve.boards.enter(classroom.cohort.slug, "guess", file(tmp_path), "key-of-a-stranger")


def test_live_events_of_a_board_are_for_its_class(
    classroom: Any, speaking: Callable[[Person], Speaker], tmp_path: Path, platform: Platform
) -> None:
    from qianka.server.topics import Topics
    from qianka.testing import caller_of, make_person

    made = speaking(classroom.teacher).boards.create(classroom.cohort.slug, packed(tmp_path), "guess")
    Topics(caller_of(classroom.alice), f"board:{made.id}").check(platform)
    for who, topic in ((make_person(platform), f"board:{made.id}"), (classroom.alice, "board:b-none")):
        with pytest.raises(NotFound):
            Topics(caller_of(who), topic).check(platform)


def test_groups_form_and_enter_as_one(classroom: Any, speaking: Callable[[Person], Speaker], tmp_path: Path) -> None:
    cohort = classroom.cohort.slug
    teacher, alice, bob = (speaking(one) for one in (classroom.teacher, classroom.alice, classroom.bob))
    teacher.boards.create(cohort, packed(tmp_path, group__size=2, limits__a_day=1), "guess")
    rules = teacher.groups.set_rules(cohort, scope="guess", size=2, locks_at="2099-01-01T00:00:00+08:00")
    assert [one.size for one in alice.groups.rules(cohort)] == [rules.size]
    red = alice.groups.create(cohort, "red", "guess")
    alice.groups.invite(red.id, "bob")
    assert [one.login for one in bob.groups.accept(red.id).members] == ["alice", "bob"]
    assert [one.name for one in bob.groups.of_cohort(cohort)] == ["red"]
    alice.boards.enter(cohort, "guess", file(tmp_path), "key-of-the-group")
    with pytest.raises(OverLimit):
        bob.boards.enter(cohort, "guess", file(tmp_path), "key-of-the-other")
    assert [(one.name, one.mine) for one in bob.boards.ranking(cohort, "guess").entries] == [("red", True)]
    with pytest.raises(QiankaError):
        bob.groups.leave(red.id)
    moved = teacher.groups.import_csv(cohort, b"group,login\nblue,bob\n", "guess")
    assert {one.name: len(one.members) for one in moved} == {"blue": 1, "red": 1}
