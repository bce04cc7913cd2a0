"""Server-rendered pages: escaped whatever students wrote, usable without a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from qianka.services import labs
from qianka.services.platform import Platform
from qianka.store.tables import Attempt, Person
from qianka.testing import factories
from starlette.testclient import TestClient

SignIn = Callable[[Person], TestClient]
EVIL = "<script>alert(1)</script>"
ATTRIBUTE = '" onmouseover="alert(1)'


class Tags(HTMLParser):
    """The tags and attributes of a page, as a browser sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def assert_harmless(self) -> None:
        scripts = [attributes.get("src") for tag, attributes in self.found if tag == "script"]
        assert scripts == ["/static/qianka.js"]
        for _, attributes in self.found:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]


LABS = Path(__file__).resolve().parents[4] / "course" / "labs"


def hand_in(client: TestClient, classroom: Any, archive: bytes, name: str = "a.zip") -> dict[str, Any]:
    csrf = client.get("/api/me").json()["csrf"]
    headers = {"Idempotency-Key": "k" * 16, "X-Filename": quote(name, safe=""), "X-CSRF-Token": csrf}
    answer = client.post(f"{classroom.path}/submissions", content=archive, headers=headers)
    assert answer.status_code == 201
    found: dict[str, Any] = answer.json()
    return found


def test_start_page_shows_labs_with_local_deadline(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    from datetime import datetime, timezone

    teacher = factories.caller_of(classroom.teacher)
    due = datetime(2027, 1, 1, 15, 59, tzinfo=timezone.utc)
    labs.change_dates(platform, teacher, classroom.cohort.slug, classroom.lab.slug, due, None)
    text = in_browser(classroom.alice).get("/").text
    assert "2027-01-01 23:59 (UTC+08:00)" in text
    assert 'datetime="2027-01-01T15:59:00+00:00"' in text
    assert "圆内还是圆外" in text


@pytest.mark.parametrize("path", ["/", "/lab/{c}/{l}", "/board/{c}/{l}"])
def test_pages_are_there_in_both_languages(classroom: Any, in_browser: SignIn, path: str) -> None:
    client = in_browser(classroom.alice)
    path = path.format(c=classroom.cohort.slug, l=classroom.lab.slug)
    chinese, english = client.get(path + "?lang=zh"), client.get(path + "?lang=en")
    assert (chinese.status_code, english.status_code) == (200, 200)
    assert '<html lang="zh-CN">' in chinese.text
    assert '<html lang="en">' in english.text
    assert "退出" in chinese.text
    assert "sign out" in english.text
    assert "sign out" in client.get(path).text  # what was chosen is remembered
    Tags(english.text).assert_harmless()


@pytest.mark.parametrize("path", ["/lab/x/y", "/board/x/y", "/submission/s-1"])
def test_a_stranger_is_led_to_the_sign_in_and_back(anonymous: TestClient, path: str) -> None:
    answer = anonymous.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/?next={path}")
    assert f'value="{path}"' in anonymous.get(answer.headers["location"]).text


def test_the_lab_page_hands_out_the_lab_that_its_handout_speaks_of(classroom: Any, in_browser: SignIn) -> None:
    alice = in_browser(classroom.alice)
    page = alice.get(f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}")
    assert f'href="{classroom.path}/public.zip"' in page.text


def test_a_lab_that_scores_no_metric_has_no_board_to_go_to(
    platform: Platform, classroom: Any, in_browser: SignIn
) -> None:
    teacher = factories.caller_of(classroom.teacher)
    slug = classroom.cohort.slug
    labs.publish(platform, teacher, slug, LABS / "lab0-python")
    alice = in_browser(classroom.alice)
    pages = [alice.get(path).text for path in ("/", f"/lab/{slug}/lab0-python", f"/lab/{slug}/{classroom.lab.slug}")]
    boards = [f'href="/board/{slug}/lab0-python"' in page for page in pages]
    assert (boards, f'href="/board/{slug}/{classroom.lab.slug}"' in pages[2]) == ([False, False, False], True)


def test_the_sign_in_page_has_the_address_that_people_type(anonymous: TestClient) -> None:
    answer = anonymous.get("/login?next=//elsewhere.example", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?next=%2F")


@pytest.mark.parametrize("name", [f"{EVIL}.zip", f"{ATTRIBUTE}.zip", "\u202ezip.exe"])
def test_a_hostile_file_name_is_text(classroom: Any, in_browser: SignIn, archive: bytes, name: str) -> None:
    alice = in_browser(classroom.alice)
    told = hand_in(alice, classroom, archive, name)
    for path in (f"/submission/{told['submission']['id']}", f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}"):
        page = alice.get(path)
        assert page.status_code == 200
        Tags(page.text).assert_harmless()


def test_hostile_names_inside_of_an_archive_are_text(classroom: Any, in_browser: SignIn, zip_of: Any) -> None:
    files = {"code/train.py": "", "code/predict.py": "", "README.md": "x", f"code/{EVIL.replace('/', '')}.py": ""}
    alice = in_browser(classroom.alice)
    told = hand_in(alice, classroom, zip_of(files))
    Tags(alice.get(f"/submission/{told['submission']['id']}").text).assert_harmless()


def test_hostile_feedback_and_person_are_text(
    platform: Platform, classroom: Any, in_browser: SignIn, archive: bytes
) -> None:
    alice = in_browser(classroom.alice)
    told = hand_in(alice, classroom, archive)
    with platform.store.transaction() as session:
        attempt = session.get(Attempt, told["attempt"]["id"])
        person = session.get(Person, classroom.alice.id)
        assert attempt is not None
        assert person is not None
        person.name = person.alias = EVIL
        attempt.state, attempt.verdict, attempt.points, attempt.max_points = "done", "crashed", 0.0, 100.0
        attempt.score = 0.5
        words = {"zh": EVIL + ATTRIBUTE, "en": EVIL + ATTRIBUTE}
        attempt.feedback = {
            "format": 1, "verdict": "crashed", "title": words, "advice": words, "points": 0.0, "max_points": 100.0,
            "stage": "train", "exception": EVIL, "file": EVIL, "line": 1, "message": EVIL, "encoding": [],
            "problems": [],
            "checks": [{"kind": "metric", "title": words, "points": 0.0, "max": 1.0, "detail": words, "facts": {}}],
        }  # fmt: skip
        attempt.staff_notes = {"flags": [{"code": EVIL}]}
    for client in (alice, in_browser(classroom.teacher)):
        for path in (
            f"/submission/{told['submission']['id']}",
            f"/board/{classroom.cohort.slug}/{classroom.lab.slug}",
        ):
            page = client.get(path)
            assert page.status_code == 200
            assert EVIL not in page.text
            Tags(page.text).assert_harmless()
    html = alice.get(f"/api/attempts/{told['attempt']['id']}/feedback.html").text
    assert EVIL not in html


def test_what_is_for_staff_is_not_on_a_students_page(
    platform: Platform, classroom: Any, in_browser: SignIn, archive: bytes
) -> None:
    alice = in_browser(classroom.alice)
    told = hand_in(alice, classroom, archive)
    with platform.store.transaction() as session:
        attempt = session.get(Attempt, told["attempt"]["id"])
        assert attempt is not None
        attempt.staff_notes = {"flags": [{"code": "hunts_answers"}]}
    path = f"/submission/{told['submission']['id']}"
    assert "hunts_answers" not in alice.get(path).text
    assert "hunts_answers" in in_browser(classroom.teacher).get(path).text
    assert in_browser(classroom.bob).get(path).status_code == 404


def test_the_form_hands_in_once(classroom: Any, in_browser: SignIn, archive: bytes) -> None:
    alice = in_browser(classroom.alice)
    path = f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}"
    fields = {
        attributes["name"]: attributes["value"] or ""
        for tag, attributes in Tags(alice.get(path).text).found
        if tag == "input" and attributes.get("type") == "hidden" and attributes["name"] == "key"
    }
    fields["csrf"] = alice.get("/api/me").json()["csrf"]
    files = {"archive": ("作业.zip", archive, "application/zip")}
    first = alice.post(f"{path}/handin", data=fields, files=files)
    again = alice.post(f"{path}/handin", data=fields, files=files)
    assert first.status_code == 303
    assert first.headers["location"] == again.headers["location"]
    assert "作业.zip" in alice.get(first.headers["location"]).text


def test_the_form_needs_its_token_and_a_file(
    platform: Platform, classroom: Any, in_browser: SignIn, archive: bytes
) -> None:
    alice = in_browser(classroom.alice)
    path = f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}/handin"
    files = {"archive": ("a.zip", archive, "application/zip")}
    assert alice.post(path, data={"key": "k" * 16}, files=files).status_code == 403
    csrf = alice.get("/api/me").json()["csrf"]
    assert alice.post(path, data={"csrf": csrf}, files={"archive": ("", b"", "application/zip")}).status_code == 400
    assert list(platform.folders.incoming.iterdir()) == []


def test_a_form_above_the_limit_is_cut_off(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    alice = in_browser(classroom.alice)
    path = f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}/handin"
    csrf = alice.get("/api/me").json()["csrf"]
    big = b"x" * (platform.settings.server_upload_mb * 1_000_000 + 200_000)
    answer = alice.post(path, data={"csrf": csrf}, files={"archive": ("a.zip", big, "application/zip")})
    assert answer.status_code == 413
    assert list(platform.folders.incoming.iterdir()) == []


def test_every_page_says_when_isolation_is_degraded(platform: Platform, classroom: Any, in_browser: SignIn) -> None:
    report = {"level": "degraded", "missing": [{"code": "cgroup", "zh": "没有控制组", "en": "no control group"}]}
    (platform.folders.run / "sandbox.json").write_text(json.dumps(report), "utf-8")
    client = in_browser(classroom.alice)
    for path in ("/", f"/lab/{classroom.cohort.slug}/{classroom.lab.slug}", "/nothing"):
        assert "没有控制组" in client.get(path + "?lang=zh").text
        assert "no control group" in client.get(path + "?lang=en").text


def test_every_page_says_when_the_server_stayed_root(
    platform: Platform, anonymous: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    why = {"kept_root": {"zh": "没有用户 qianka", "en": "there is no user qianka"}}
    (platform.folders.run / "up.json").write_text(json.dumps(why), "utf-8")
    assert "没有用户 qianka" in anonymous.get("/?lang=zh").text
    assert "there is no user qianka" in anonymous.get("/?lang=en").text
