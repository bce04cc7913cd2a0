"""Pictures of every page, of the demo class, on a phone, a laptop and a projector: `make screenshots`.

They land in `screenshots/SIZE/WHO-PAGE.png`, which git ignores; `--readme` takes the few of docs/images anew.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, sync_playwright
from qianka.cli import embedded
from qianka.cli.demo import classroom, people
from qianka.domain.people import Role
from qianka.server.app import open_platform
from qianka.services import boards, inquiries, screens
from qianka.services import people as accounts
from qianka.services.platform import Caller, Platform
from qianka.services.screens import Shows
from qianka.settings import Settings
from qianka.store.tables import Attempt, Cohort, Enrollment, Job, Lab, Person, Submission
from qianka.testing import caller_of
from qianka.testing.boards import BoardScene, board_toml, table
from qianka.testing.clock import FakeClock
from qianka.testing.pages import ADMIN, OUTSIDE, STUDENT, TEACHER
from sqlalchemy import select

HERE = Path(__file__).parents[1]
SIZES = {"phone": (390, 844), "laptop": (1280, 800), "projector": (1920, 1080)}
README = {
    "home": ("laptop", "student", "/"),
    "grading": ("laptop", "student", "/attempts/{attempt}"),
    "board": ("laptop", "student", "/c/{cohort}/boards/{board}"),
    "gradebook": ("laptop", "teacher", "/c/{cohort}/grades"),
    "phone": ("phone", "student", "/c/{cohort}/labs/{lab}"),
    "projector": ("projector", "outside", "/screen/{cohort}#{screen}"),
}
"""the pictures of docs/images: where and by whom which page is looked at"""


def main() -> int:
    """Take the pictures; 2 when there is no demo class yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", choices=["zh", "en"], default="zh")
    parser.add_argument("--look", choices=["light", "dark"], default="light")
    parser.add_argument("--readme", action="store_true", help="only those of docs/images")
    options = parser.parse_args()
    demo = embedded.find_runtime().parent
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (demo / "qianka.db").exists() or chromium is None:
        print(
            "先运行 make demo DEMO_ONCE=1，并安装 chromium / run make demo DEMO_ONCE=1 first, and install chromium",
            file=sys.stderr,
        )
        return 2
    with copy_of(demo) as (platform, address), sync_playwright() as started:
        filled, logins = fill(platform)
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for (size, who), paths in wanted(options.readme).items():
            page = opened(browser, address, size, options)
            if who in logins:
                sign_in(page, logins[who])
            for path, name in paths.items():
                print(f"{size:10} {who:8} {path}", flush=True)
                take(page, path.format(**filled), target(options, size, who, name))
        browser.close()
    return 0


def wanted(is_readme: bool) -> dict[tuple[str, str], dict[str, str]]:
    """Paths with the name of their picture, by size and person."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    if is_readme:
        for name, (size, who, path) in README.items():
            found.setdefault((size, who), {})[path] = name
        return found
    pages = {"outside": OUTSIDE, "student": STUDENT, "teacher": TEACHER, "admin": ADMIN}
    for size in SIZES:
        for who, paths in pages.items():
            found[size, who] = {path: name_of(path) for path in paths}
    return found


def name_of(path: str) -> str:
    """A file name for a page: `/c/{cohort}/labs/{lab}` becomes `c-labs-lab`."""
    words = re.findall(r"[a-z]+", path.replace("{cohort}/", "").partition("#")[0])
    return "-".join(words) or "home"


def target(options: argparse.Namespace, size: str, who: str, name: str) -> Path:
    if options.readme:
        return HERE / "docs" / "images" / f"{name}.{options.language}.jpg"
    return HERE / "screenshots" / size / f"{who}-{name}.png"


@contextmanager
def copy_of(demo: Path) -> Iterator[tuple[Platform, str]]:
    """A platform on a copy of the demo class, and its address: the demo itself is left as it is."""
    with tempfile.TemporaryDirectory(prefix="qianka-pictures-") as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        for part in ("blobs", "labs", "jobs", "secrets", "incoming", "trees"):
            shutil.copytree(demo / part, data / part, symlinks=True)
        for part in demo.glob("qianka.db*"):
            shutil.copy2(part, data)
        handle = embedded.start(data, runtime_dir=str(demo / "runtime"), sandbox_minimum="none")
        platform = open_platform(Settings(data_dir=str(data)))
        with closing(platform.store):
            try:
                yield platform, handle.url
            finally:
                handle.stop()


def fill(platform: Platform) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What the demo class lacks on its pages; the words for their paths, and who is signed in as whom."""
    with platform.store.reading() as session:
        cohort = session.scalars(select(Cohort)).one()
        lab = session.scalars(select(Lab)).one()
        teacher = session.scalars(select(Person).where(Person.login == classroom.TEACHER)).one()
        students = session.scalars(
            select(Person).join(Enrollment, Enrollment.person_id == Person.id).where(Enrollment.role == Role.STUDENT)
        ).all()
        best = session.scalars(select(Attempt).where(Attempt.points == 100).order_by(Attempt.id.desc()).limit(1)).one()
        handed = session.get_one(Submission, best.submission_id)
        student = session.get_one(Person, handed.person_id)
        job = session.scalars(select(Job).where(Job.person_id == student.id).order_by(Job.id).limit(1)).one()
    asked = inquiries.ask(platform, caller_of(student), cohort.slug, lab.slug, "准确率这一项是怎么算的？")
    with_predictions(platform, cohort, teacher, [student, *students[:8]])
    _, secret = screens.make(platform, caller_of(teacher), cohort.slug, "A101", Shows(always=True))
    accounts.set_password(platform, Caller.system(), "admin", people.PASSWORD)
    words = {
        "cohort": cohort.slug,
        "lab": lab.slug,
        "board": "guess",
        "job": job.id,
        "submission": handed.id,
        "attempt": best.id,
        "inquiry": asked,
        "screen": secret,
    }
    return words, {"student": student.login, "teacher": teacher.login, "admin": "admin"}


def with_predictions(platform: Platform, cohort: Cohort, teacher: Person, people: list[Person]) -> None:
    """A board of predictions on which `people` entered twice each."""
    draw = random.Random(7)  # noqa: S311 (wrong answers, no secrets)
    answers = {str(1000 + n): n % 2 for n in range(400)}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "board.toml").write_text(board_toml(title="猫还是狗", title_en="Cat or dog"), "utf-8")
        (Path(folder) / "answers.csv").write_text(table("id,label", answers.items()), "utf-8")
        board = boards.create(platform, caller_of(teacher), cohort.slug, Path(folder), "guess")
    scene = BoardScene(platform, FakeClock(), cohort, board, teacher, {id: str(one) for id, one in answers.items()})
    for person in people:
        for _ in range(2):
            scene.enter(person, scene.predictions(draw.sample(sorted(answers), draw.randrange(10, 120))))


def opened(browser: Browser, address: str, size: str, options: argparse.Namespace) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(
        base_url=address, viewport={"width": width, "height": height}, locale="zh-CN", timezone_id="Asia/Shanghai"
    )
    context.add_init_script(
        f"localStorage.setItem('qianka.language', '{options.language}');"
        f"localStorage.setItem('qianka.look', '{options.look}')"
    )
    context.route("**/api/health", without_notices)
    return context.new_page()


def without_notices(route: Route) -> None:
    """What is wrong with the machine on which the pictures are taken does not belong on them."""
    answer = route.fetch()
    route.fulfill(response=answer, json=answer.json() | {"notices": []})


def sign_in(page: Page, login: str) -> None:
    page.goto("/login")
    page.locator("#login").fill(login)
    page.locator("#password").fill(people.PASSWORD)
    page.locator("button[type=submit]").click()
    page.locator(".shell").wait_for()


def take(page: Page, path: str, target: Path) -> None:
    """One picture, of what is seen without scrolling when it is for the README, else of the whole page."""
    target.parent.mkdir(parents=True, exist_ok=True)
    page.goto("about:blank")  # another fragment alone would not load the page anew
    page.goto(path)
    page.locator("h1, h2, .screen, .ant-result").first.wait_for()
    page.wait_for_timeout(1000)  # charts draw themselves
    shown: dict[str, Any] = {"type": "jpeg", "quality": 70} if target.suffix == ".jpg" else {"full_page": True}
    page.screenshot(path=target, animations="disabled", **shown)


if __name__ == "__main__":
    sys.exit(main())
