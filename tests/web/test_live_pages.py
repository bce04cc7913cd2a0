"""Pages follow what happens: through a killed server without a reload, and where a proxy holds the stream back."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from qianka.cli import embedded, scaffold
from qianka.cli.embedded import Handle
from qianka.client.api import Client, new_key
from qianka.client.archive import pack
from qianka.client.transport import Transport
from qianka.domain.people import Role
from qianka.server import website
from qianka.server.app import open_platform
from qianka.services import people
from qianka.services.platform import Caller, Platform
from qianka.settings import Settings
from qianka.store.tables import Cohort
from qianka.testing import caller_of, enroll, make_cohort, make_person, make_student

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PASSWORD = "correct horse 9"


class Class(NamedTuple):
    """A platform of processes as people run it, with the class `ai`, its `teacher` and the lab `probe`."""

    handle: Handle
    platform: Platform
    cohort: Cohort
    handin: Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """A server in processes of its own: one that can be killed."""
    if not (website.BUILT / "index.html").is_file():
        pytest.skip("the pages are not built: make web")
    folder = tmp_path_factory.mktemp("running")
    handle = embedded.start(folder / "data", sandbox_backend="none", sandbox_minimum="none")
    platform = open_platform(Settings(data_dir=str(folder / "data")))
    cohort = make_cohort(platform, "ai", title="人工智能")
    enroll(platform, cohort, make_person(platform, "teacher", name="李老师"), Role.TEACHER)
    people.set_password(platform, Caller.system(), "teacher", PASSWORD)
    scaffold.write(folder / "probe")
    pack(folder / "probe", folder / "probe.zip")
    pack(folder / "probe" / "solution", folder / "handin.zip")
    with handle.client() as admin:
        admin.publish_lab("ai", folder / "probe.zip", slug="probe")
    yield Class(handle, platform, cohort, folder / "handin.zip")
    platform.store.close()
    handle.stop()


@pytest.fixture
def list_of_handins(running: Class, browser: Any) -> Iterator[Any]:
    """The teacher's list of what was handed in, in a browser that is told to forget nothing."""
    context = browser.new_context(base_url=running.handle.url, locale="zh-CN")
    page = context.new_page()
    page.goto("/login?next=/c/ai/submissions")
    page.get_by_label("登录名").fill("teacher")
    page.get_by_label("密码", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="登录", exact=True).click()
    page.wait_for_url("**/c/ai/submissions")
    page.evaluate("window.neverReloaded = true")
    yield page
    context.close()


def hands_in(running: Class, login: str, name: str) -> None:
    """A student appears and hands in, with the patience of the command line."""
    student = make_student(running.platform, running.cohort, login, name=name)
    token = people.issue_token(running.platform, caller_of(student), "live").secret
    with Client(Transport(running.handle.url, token, "en", tries=12)) as client:
        client.hand_in("ai", "probe", running.handin, filename="handin.zip", key=new_key())


def servers(up: int) -> list[int]:
    """The processes of the server below `qianka up`."""
    told = subprocess.run(
        ["pgrep", "--parent", str(up), "--full", "qianka.server"], capture_output=True, text=True, check=True
    )
    return [int(line) for line in told.stdout.split()]


def test_a_killed_server_costs_a_badge_and_nothing_else(running: Class, list_of_handins: Any) -> None:
    page, badge = list_of_handins, list_of_handins.get_by_test_id("live-badge")
    hands_in(running, "early", "早到")
    page.get_by_text("早到").first.wait_for()
    for pid in servers(running.handle.process.pid):
        os.kill(pid, signal.SIGKILL)
    badge.wait_for()
    hands_in(running, "during", "途中")
    page.get_by_text("途中").first.wait_for(timeout=15_000)
    badge.wait_for(state="detached", timeout=15_000)
    hands_in(running, "later", "后来")
    page.get_by_text("后来").first.wait_for()
    assert [page.get_by_role("row").filter(has_text=name).count() for name in ("早到", "途中", "后来")] == [1, 1, 1]
    assert page.evaluate("window.neverReloaded")


def test_where_a_proxy_holds_the_stream_back_the_page_asks(running: Class, list_of_handins: Any) -> None:
    page = list_of_handins
    page.route("**/api/events?*", lambda route: None)  # neither answered nor refused
    page.get_by_role("link", name="首页").first.click()
    page.get_by_role("link", name="提交").first.click()
    page.get_by_text("每 5 秒更新").wait_for(timeout=20_000)
    hands_in(running, "behind", "代理后")
    page.get_by_text("代理后").first.wait_for(timeout=10_000)
    assert page.evaluate("window.neverReloaded")
