"""Regrades: rehearsed by the real grader, compared, applied or dropped; gradings replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka.errors import Conflict, Forbidden, NotFound
from qianka.services import attempts, boards, grades, jobs, regrades, submissions
from qianka.services.regrades.replay import differences
from qianka.store.tables import Attempt, Audit, Event, Grade, GradeChange, Job, Ledger, Regrade, Submission
from qianka.testing import FakeClock, Program, caller_of, make_platform
from qianka.testing.gradings import GradingScene, make_grading_scene
from qianka.testing.labfolders import LAB_TOML, figures

STRICTER = LAB_TOML.replace("full = 0.9", "full = 1.0")
"""0.95 no longer earns everything"""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[GradingScene]:
    clock = FakeClock()
    platform = make_platform(tmp_path / "data", clock=clock)
    yield make_grading_scene(platform, clock, tmp_path / "small")
    platform.store.close()


@pytest.fixture
def graded(scene: GradingScene) -> GradingScene:
    """Two students with 100 points each; then the lab is published anew and stricter."""
    for login in ("alice", "bob"):
        scene.hand_in(login)
        scene.clock.advance(60)
    scene.run()
    assert (scene.points("alice"), scene.points("bob")) == (100, 100)
    scene.publish(STRICTER)
    return scene


def start(scene: GradingScene, **chosen: object) -> Regrade:
    return regrades.start(scene.platform, caller_of(scene.teacher), "ai", "lab1", "更严", **chosen)  # type: ignore[arg-type]


def show(scene: GradingScene, regrade: Regrade) -> regrades.Difference:
    return regrades.show(scene.platform, caller_of(scene.teacher), regrade.id)


def apply(scene: GradingScene, regrade: Regrade) -> Regrade:
    digest = show(scene, regrade).digest
    return regrades.apply(scene.platform, caller_of(scene.teacher), regrade.id, digest)


def test_publishing_changes_no_grade_and_says_so(graded: GradingScene) -> None:
    graded.run()
    assert (graded.points("alice"), graded.points("bob")) == (100, 100)
    assert regrades.outdated(graded.platform, graded.lab) == 2


def test_a_rehearsal_tells_who_moves_by_how_much_and_why_check_by_check(graded: GradingScene) -> None:
    regrade = start(graded)
    assert show(graded, regrade).waiting == 2
    graded.run()
    found = show(graded, regrade)
    assert (found.waiting, found.graded, found.faults) == (0, 2, [])
    assert [(line.login, line.moved) for line in found.lines] == [("alice", -6), ("bob", -6)]
    (change,) = found.lines[0].changes
    assert (change.kind, change.before, change.after) == ("metric", 60, 54)
    assert (graded.points("alice"), graded.points("bob")) == (100, 100)


def test_nothing_of_a_rehearsal_reaches_a_student(graded: GradingScene) -> None:
    student = caller_of(graded.student("alice"))
    (handed,) = submissions.list_submissions(graded.platform, student, "ai", "lab1")
    seen = attempts.of_submission(graded.platform, student, handed.submission.id)
    board = boards.board(graded.platform, student, "ai", "lab1").rows
    regrade = start(graded)
    begun = max(event.id for event in graded.rows(Event))
    graded.run()
    rehearsed = [row for row in graded.rows(Attempt) if row.regrade_id == regrade.id]
    assert [row.state for row in rehearsed] == ["done", "done"]
    assert [a.id for a in attempts.of_submission(graded.platform, student, handed.submission.id)] == [seen[0].id]
    assert submissions.get(graded.platform, student, handed.submission.id).attempt.id == seen[0].id  # type: ignore[union-attr]
    for attempt in rehearsed:
        with pytest.raises(NotFound):
            attempts.get(graded.platform, student, attempt.id)
    with pytest.raises(NotFound):
        regrades.show(graded.platform, student, regrade.id)
    mine = {row.attempt_id for row in jobs.list_jobs(graded.platform, student)}
    assert not mine & {row.id for row in rehearsed}
    made = [row for row in graded.rows(Job) if row.attempt_id in {a.id for a in rehearsed}]
    assert {row.person_id for row in made} == {graded.teacher.id}
    for job in made:
        with pytest.raises(NotFound):
            jobs.get(graded.platform, student, job.id)
    assert boards.board(graded.platform, student, "ai", "lab1").rows == board
    assert [grade.points for grade in grades.mine(graded.platform, student)] == [100]
    topics = {event.topic for event in graded.rows(Event) if event.id > begun}
    of_staff = {f"attempt:{a.id}" for a in rehearsed} | {f"person:{graded.teacher.id}"}
    assert topics <= of_staff | {f"job:{job.id}" for job in graded.rows(Job)}
    assert f"board:{graded.lab.id}" not in topics


def test_a_rehearsal_costs_students_nothing(graded: GradingScene) -> None:
    before = [(row.submitted_at, row.charged, row.late) for row in graded.rows(Submission)]
    used = {row.id for row in graded.rows(Ledger) if row.charged}
    start(graded)
    graded.run()
    assert [(row.submitted_at, row.charged, row.late) for row in graded.rows(Submission)] == before
    assert {row.id for row in graded.rows(Ledger) if row.charged} == used


def test_applying_moves_grades_and_board_at_once_and_keeps_what_was(graded: GradingScene) -> None:
    regrade = start(graded)
    graded.engine.programs["judge"] = Program(seconds=1, files={"figures.json": figures(0.9)})
    graded.run()
    applied = apply(graded, regrade)
    assert (applied.state, applied.open_lab_id) == ("applied", None)
    assert applied.outcome == {"submissions": 2, "graded": 2, "faults": 0, "moved": 2, "up": 0, "down": 2}
    student = caller_of(graded.student("alice"))
    (grade,) = grades.mine(graded.platform, student)
    assert grade.points is not None
    assert grade.points < 100
    assert [row.score for row in boards.board(graded.platform, student, "ai", "lab1").rows] == ["0.9000", "0.9000"]
    changes = [row for row in graded.rows(GradeChange) if row.regrade_id == regrade.id]
    assert [(row.before["points"], row.by_id, row.reason) for row in changes if row.before] == [
        (100, graded.teacher.id, "更严")
    ] * 2
    told = [event for event in graded.rows(Event) if event.kind == "verdict" and event.payload.get("why") == "regrade"]
    assert {event.payload["attempt"] for event in told} == {row.after["attempt"] for row in changes if row.after}
    (mine,) = submissions.list_submissions(graded.platform, student, "ai", "lab1")
    seen = attempts.of_submission(graded.platform, student, mine.submission.id)
    assert [(a.number, a.why) for a in seen] == [(1, "handin"), (2, "regrade")]
    assert [row.action for row in graded.rows(Audit) if row.action.startswith("regrade.")] == [
        "regrade.start",
        "regrade.apply",
    ]
    assert [line.moved for line in show(graded, regrade).lines] == [line.points for line in _moves(graded)]


def _moves(scene: GradingScene) -> list[object]:
    from qianka.services.dates import Move

    return sorted(
        (
            Move(person_id=row.person_id, lab_id=row.lab_id, before=row.before, after=row.after or {})
            for row in scene.rows(GradeChange)
            if row.regrade_id is not None
        ),
        key=lambda move: move.points,
    )


def test_a_dropped_regrade_leaves_no_trace_in_grades(graded: GradingScene) -> None:
    regrade = start(graded)
    regrades.drop(graded.platform, caller_of(graded.teacher), regrade.id)
    graded.run()
    assert {row.state for row in graded.rows(Attempt) if row.regrade_id == regrade.id} == {"cancelled"}
    assert not [row for row in graded.rows(Job) if row.state in ("PENDING", "RUNNING")]
    assert (graded.points("alice"), graded.points("bob")) == (100, 100)
    with pytest.raises(Conflict):
        apply(graded, regrade)
    start(graded)


def test_a_second_regrade_is_refused_while_one_is_open(graded: GradingScene) -> None:
    start(graded)
    with pytest.raises(Conflict) as refused:
        start(graded)
    assert refused.value.reason == "regrade_open"


def test_what_is_still_being_graded_cannot_be_applied(graded: GradingScene) -> None:
    regrade = start(graded)
    with pytest.raises(Conflict) as refused:
        apply(graded, regrade)
    assert refused.value.reason == "under_way"


def test_a_fault_of_the_platform_moves_no_grade_and_is_listed_apart(graded: GradingScene) -> None:
    regrade = start(graded)
    graded.engine.programs["judge"] = Program(seconds=1, exit_code=1)
    graded.run(60_000)
    found = show(graded, regrade)
    assert found.lines == []
    assert [(fault.login, fault.verdict) for fault in found.faults] == [
        ("alice", "infra_error"),
        ("bob", "infra_error"),
    ]
    apply(graded, regrade)
    assert (graded.points("alice"), graded.points("bob")) == (100, 100)
    assert {row.counts for row in graded.rows(Attempt) if row.regrade_id == regrade.id} == {False}


def test_who_hands_in_meanwhile_is_graded_as_always_and_keeps_the_better_one(graded: GradingScene) -> None:
    regrade = start(graded)
    graded.run()
    digest = show(graded, regrade).digest
    graded.clock.advance(60)
    graded.engine.programs["judge"] = Program(seconds=1, files={"figures.json": figures(1.0)})
    graded.hand_in("alice")
    graded.run()
    assert graded.points("alice") == 100
    with pytest.raises(Conflict) as refused:
        regrades.apply(graded.platform, caller_of(graded.teacher), regrade.id, digest)
    assert refused.value.reason == "changed"
    apply(graded, regrade)
    assert (graded.points("alice"), graded.points("bob")) == (100, 94)


def test_a_worker_that_dies_in_a_rehearsal_goes_on_where_it_was(graded: GradingScene) -> None:
    regrade = start(graded)
    graded.run(seconds=5)
    assert show(graded, regrade).waiting == 2
    graded.run()
    assert show(graded, regrade).graded == 2
    made = [row for row in graded.rows(Attempt) if row.regrade_id == regrade.id]
    trained = [row for row in graded.rows(Job) if row.name == "train" and row.attempt_id in {a.id for a in made}]
    assert len(trained) == 2


def test_chosen_people_and_versions(graded: GradingScene) -> None:
    old = next(row.lab_version for row in graded.rows(Attempt))
    regrade = start(graded, logins=["bob"], version=old)
    graded.run()
    assert [row.person_id for row in graded.rows(Attempt) if row.regrade_id] == [graded.student("bob").id]
    assert show(graded, regrade).lines == []
    for name in ("v9", "../../../etc"):
        regrades.drop(graded.platform, caller_of(graded.teacher), regrade.id) if name == "v9" else None
        with pytest.raises(NotFound):
            start(graded, version=name)


def test_a_student_starts_no_regrade_and_an_assistant_applies_none(graded: GradingScene) -> None:
    from qianka.domain.people import Role
    from qianka.testing import enroll, make_person

    assistant = make_person(graded.platform, "ta")
    enroll(graded.platform, graded.cohort, assistant, Role.ASSISTANT)
    with pytest.raises(Forbidden):
        regrades.start(graded.platform, caller_of(graded.student("bob")), "ai", "lab1", "x")
    regrade = regrades.start(graded.platform, caller_of(assistant), "ai", "lab1", "x")
    graded.run()
    found = regrades.show(graded.platform, caller_of(assistant), regrade.id)
    with pytest.raises(Forbidden):
        regrades.apply(graded.platform, caller_of(assistant), regrade.id, found.digest)


def test_penalties_stay_with_the_original_time(scene: GradingScene) -> None:
    late = LAB_TOML.replace("[handin]\n", '[handin]\nlate = "penalty"\nlate_penalty = 0.1\ngrace_seconds = 0\n')
    scene.publish(late)
    from datetime import timedelta

    from qianka.services import dates

    scene.hand_in("alice")
    scene.run()
    with scene.platform.store.reading() as session:
        at = session.query(Submission).one().submitted_at
    dates.change_dates(scene.platform, caller_of(scene.teacher), "ai", "lab1", due=at - timedelta(hours=1))
    assert scene.points("alice") == 90
    scene.clock.advance(40 * 86_400)
    scene.publish(late.replace("full = 0.9", "full = 1.0"))
    regrade = start(scene)
    scene.run()
    apply(scene, regrade)
    (grade,) = scene.rows(Grade)
    assert (grade.raw_points, grade.penalty, grade.points, grade.days_late) == (94, 9.4, 84.6, 1)


def test_an_attempt_keeps_what_it_was_graded_with(scene: GradingScene) -> None:
    attempt = scene.hand_in("alice")
    scene.run()
    kept = scene.read(attempt).conditions
    assert kept is not None
    assert kept["lab_version"] == scene.lab.version
    assert kept["reference"]["train"]["cpu"] is not None
    assert set(kept["nodes"].values()) == {"fake"}
    seed = next(scene.platform.folders.labs.rglob("seed")).read_text().strip()
    assert len(kept["seed_sha256"]) == 64
    assert seed not in json.dumps(kept)


def test_a_replay_comes_out_the_same_with_the_stored_figures_and_never_counts(scene: GradingScene) -> None:
    attempt = scene.hand_in("alice")
    scene.run()
    teacher = caller_of(scene.teacher)
    # A reference timed anew would make the student look ten times as slow.
    scene.engine.programs["reference-train"] = Program(seconds=1, memory=10 << 20)
    made = regrades.replay(scene.platform, teacher, attempt.id)
    assert regrades.replayed(scene.platform, teacher, made.id).same is None
    scene.run()
    found = regrades.replayed(scene.platform, teacher, made.id)
    assert (found.same, found.changes, found.environment) == (True, [], [])
    assert not scene.read(made).counts
    assert [grade.attempt_id for grade in scene.rows(Grade)] == [attempt.id]
    with pytest.raises(Forbidden):
        regrades.replay(scene.platform, caller_of(scene.student("alice")), attempt.id)
    with pytest.raises(NotFound):
        regrades.replayed(scene.platform, caller_of(scene.student("alice")), made.id)


def test_a_replay_that_differs_says_in_what(scene: GradingScene) -> None:
    attempt = scene.hand_in("alice")
    scene.run()
    teacher = caller_of(scene.teacher)
    scene.engine.programs["judge"] = Program(seconds=1, files={"figures.json": figures(0.85)})
    made = regrades.replay(scene.platform, teacher, attempt.id)
    scene.run()
    found = regrades.replayed(scene.platform, teacher, made.id)
    assert found.same is False
    assert [change.kind for change in found.changes] == ["metric"]


def test_the_environment_is_compared_package_by_package() -> None:
    old = {"environment": {"digest": "a", "python": "3.11.2", "packages": ["numpy-1.26", "torch-2.2"], "kit": "k"}}
    new = {"environment": {"digest": "b", "python": "3.11.2", "packages": ["numpy-2.0", "torch-2.2"], "kit": "k"}}
    (told,) = differences(old, new)
    assert told.en == "packages of the runtime: numpy-1.26 → numpy-2.0"
    assert differences(old, old) == []
    assert differences(None, new) != []
