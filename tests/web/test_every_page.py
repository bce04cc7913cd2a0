"""Every page in both languages on a phone: no sideways scroll, no error, nothing serious for axe, no name run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qianka.services import inquiries, people, screens
from qianka.services.attempts.outcome import update_grade
from qianka.services.platform import Caller
from qianka.services.screens import Shows
from qianka.store.tables import Lab
from qianka.testing import caller_of, make_attempt, make_job, make_person, make_submission
from qianka.testing.boards import board_toml, table
from qianka.testing.pages import ADMIN, OUTSIDE, STUDENT, TEACHER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PASSWORD = "correct horse 9"
HOSTILE = "<img src=x onerror=document.title=1>&amp;"

# Nobody is signed in at first; the health of a server without a worker is told with a status of its own.
EXPECTED = re.compile("status of (40[0-9]|503)")


@pytest.fixture(scope="module")
def filled(classmates: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The class with something on every page; names of it that would run if a page let them."""
    site = classmates
    platform, teacher = site.platform, caller_of(site.teacher)
    with platform.store.transaction() as session:
        from qianka.store.tables import Person

        alice = session.query(Person).filter_by(login="alice").one()
        alice.name = alice.alias = HOSTILE
        lab = session.query(Lab).filter_by(slug="pairs").one()
    handed = make_submission(platform, lab, alice, filename=f"{HOSTILE}.zip")
    attempt = make_attempt(
        platform, handed, state="done", verdict="accepted", points=80, max_points=100, lab_version=lab.version
    )
    with platform.store.transaction() as session:
        update_grade(session, platform, lab, alice.id, "best")
    job = make_job(platform, alice, cohort=site.cohort)
    asked = inquiries.ask(platform, caller_of(alice), "ai", lab.slug, HOSTILE)
    folder = tmp_path_factory.mktemp("board")
    (folder / "board.toml").write_text(board_toml(title=HOSTILE), "utf-8")
    (folder / "answers.csv").write_text(table("id,label", ((n, "ab"[n % 2]) for n in range(40))), "utf-8")
    from qianka.services import boards

    boards.create(platform, teacher, "ai", folder, "guess")
    _, secret = screens.make(platform, teacher, "ai", "A101", Shows(scenes=("board", "queue", "top")))
    make_person(platform, "boss", admin=True, name="管理员")
    people.set_password(platform, Caller.system(), "boss", PASSWORD)
    return {
        "cohort": "ai",
        "lab": lab.slug,
        "board": "guess",
        "job": job.id,
        "submission": handed.id,
        "attempt": attempt.id,
        "inquiry": asked,
        "screen": secret,
    }


@pytest.fixture
def phone(browser: Any, classmates: Any) -> Iterator[Any]:
    """Opens a phone that is set to a language and a look."""
    contexts: list[Any] = []

    def opened(language: str, look: str) -> Any:
        context = browser.new_context(
            base_url=classmates.address, viewport={"width": 360, "height": 780}, locale="zh-CN"
        )
        context.set_default_timeout(20_000)
        context.add_init_script(
            f"localStorage.setItem('qianka.language', '{language}'); localStorage.setItem('qianka.look', '{look}')"
        )
        contexts.append(context)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()


def sign_in(page: Any, login: str) -> None:
    page.goto("/login")
    page.locator("#login").fill(login)
    page.locator("#password").fill(PASSWORD)
    page.locator("button[type=submit]").click()
    page.locator(".shell").wait_for()


def faults_of(page: Any, path: str, errors: list[str]) -> list[str]:
    """What is wrong with the page at `path`."""
    errors.clear()
    page.goto(path)
    page.locator("h1, h2, .screen, .ant-result").first.wait_for()
    page.wait_for_load_state("networkidle") if path in OUTSIDE else page.wait_for_timeout(500)
    found = [f"console: {error}" for error in errors if not EXPECTED.search(error)]
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > 360:
        found.append(f"{width} px wide")
    if page.title() == "1":
        found.append("a name was run")
    page.evaluate(AXE.read_text("utf-8"))
    told = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations"
        ".filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')))"
    )
    return found + [f"axe: {one}" for one in told]


@pytest.mark.parametrize(("language", "look"), [("zh", "light"), ("en", "dark")])
@pytest.mark.parametrize(
    ("login", "paths"),
    [("alice", STUDENT), ("teacher", TEACHER), ("boss", ADMIN), (None, OUTSIDE)],
    ids=["student", "teacher", "administrator", "outside"],
)
def test_every_page_is_sound(
    filled: dict[str, str], phone: Any, language: str, look: str, login: str | None, paths: tuple[str, ...]
) -> None:
    page = phone(language, look)
    errors: list[str] = []
    page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    if login is not None:
        sign_in(page, login)
    faults = {path: found for path in paths if (found := faults_of(page, path.format(**filled), errors))}
    assert not faults, "\n".join(f"{path}: {fault}" for path, found in faults.items() for fault in found)
