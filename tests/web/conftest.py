"""A server with the built pages, and a real browser to look at them."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import uvicorn
from qianka.cli import scaffold
from qianka.domain.people import Role
from qianka.server import website
from qianka.server.app import create_app
from qianka.services import labs, people
from qianka.services.platform import Caller, Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.store.tables import Base, Cohort, Person
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student

PASSWORD = "correct horse 9"


class Site(NamedTuple):
    """A server with the class `ai`, of which `teacher` is the only one at first."""

    address: str
    platform: Platform
    cohort: Cohort
    teacher: Person


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server on an empty data directory, in a thread of this process."""
    if not (website.BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make web")
    settings = Settings(data_dir=str(tmp_path_factory.mktemp("site")))
    store = Store(f"sqlite:///{settings.data_dir}/qianka.db")
    Base.metadata.create_all(store.engine)
    platform = Platform(settings=settings, store=store)
    platform.folders.make()
    teacher = make_person(platform, "teacher", student_number=None, name="李老师")
    cohort = make_cohort(platform, "ai", title="人工智能")
    enroll(platform, cohort, teacher, Role.TEACHER)
    people.set_password(platform, Caller.system(), "teacher", PASSWORD)
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(create_app(settings, platform), log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        yield Site(f"http://127.0.0.1:{door.getsockname()[1]}", platform, cohort, teacher)
        server.should_exit = True
        server.force_exit = True  # live streams of pages would be waited for
        thread.join(10)
    store.close()


@pytest.fixture(scope="module")
def classmates(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The students alice and bob join the class, and a lab that groups of two may hand in."""
    for login, name in (("alice", "爱丽丝"), ("bob", "鲍勃")):
        make_student(site.platform, site.cohort, login, name=name)
        people.set_password(site.platform, Caller.system(), login, PASSWORD)
    folder = tmp_path_factory.mktemp("labs") / "pairs"
    scaffold.write(folder)
    rules = folder / "lab.toml"
    rules.write_text(rules.read_text("utf-8").replace("[handin]\n", "[handin]\ngroup = 2\n"), "utf-8")
    labs.publish(site.platform, caller_of(site.teacher), "ai", folder)
    return site


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's own Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with playwright.sync_playwright() as started:
        # Chromium refuses its own sandbox to root.
        made = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield made
        made.close()


@pytest.fixture
def sign_in(browser: Any, site: Site) -> Iterator[Callable[..., Any]]:
    """Opens a page as somebody, in a browser window of its own; an error on the console fails the test."""
    contexts: list[Any] = []
    errors: list[str] = []

    def signed_in(login: str, path: str, width: int = 1280) -> Any:
        context = browser.new_context(base_url=site.address, locale="zh-CN", viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"/login?next={path}")
        page.get_by_label("登录名").fill(login)
        page.get_by_label("密码", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="登录", exact=True).click()
        page.wait_for_url(f"**{path}")
        return page

    yield signed_in
    for context in contexts:
        context.close()
    # A browser reports refusals that we expect: nobody is signed in at first, and a file may be no roster.
    assert [error for error in errors if "status of 40" not in error] == []
