"""A class of 300 with its pages open: each a live stream and a request every five seconds, for two minutes.

The load comes from locust, on the same machine; meanwhile ten people a second are told of a grading, and the whole
class of something every ten seconds. Before that, on the quiet platform: an idle health call, the size of the scripts,
and how long a browser takes until a page can be used. The last line is one JSON object of figures; the exit status
is 1 when a limit is broken: an error, a stream that broke, p99 of the calls above 20 times the median of an idle health
call, more than 500 MB of resident memory, a page not usable in 2 s, scripts above 350 KB at sign-in or 1.2 MB in all.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from handin import children, resident
from qianka.cli import embedded, scaffold
from qianka.cli.embedded import Handle
from qianka.client.archive import pack
from qianka.server.app import open_platform
from qianka.services import events
from qianka.services.people.signin import issue
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.testing import factories

COHORT, LAB = "load", "lab"
RATIO, RSS_LIMIT, USABLE, LOGIN_KB, ALL_KB = 20.0, 500_000_000, 2.0, 350, 1200
HERE = Path(__file__).parent


def main() -> int:
    """Run, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qianka-load-") as folder:
        place = Path(folder)
        handle = embedded.start(place / "data", sandbox_backend="none", sandbox_minimum="none", server_processes=2)
        try:
            found = measured(handle, place, options.students, options.seconds)
        finally:
            handle.stop()
    print(json.dumps(found, ensure_ascii=False))
    return 0 if found["ok"] else 1


def measured(handle: Handle, place: Path, students: int, length: int) -> dict[str, Any]:
    """All figures on a running platform."""
    platform = open_platform(Settings(data_dir=str(handle.data_dir)))
    sessions = enrolled(handle, platform, place, students)
    idle = statistics.median(health_calls(handle.url, 200))
    pages = usable(handle.url, sessions[0])
    sizes = script_sizes()
    stop = threading.Event()
    happening = threading.Thread(target=happen, args=(platform, students, stop), daemon=True)
    happening.start()
    told = locust(handle.url, place, sessions, length)
    stop.set()
    happening.join()
    rss = sum(resident(server) for server in children(handle.process.pid, "qianka.server"))
    platform.store.close()
    every = sorted(second for name in told["seconds"].values() for second in name)
    p99 = percentile(every, 0.99)
    figures = {
        "students": students,
        "calls": len(every),
        "errors": len(told["errors"]),
        "first_errors": told["errors"][:5],
        "streams": told["streams"],
        "streams_broken": told["broken"],
        "events_heard": told["heard"],
        "event_delay_p99_s": round(percentile(sorted(told["delays"]), 0.99), 3) if told["delays"] else None,
        "idle_health_ms": round(idle * 1000, 2),
        "call_p50_ms": round(percentile(every, 0.5) * 1000, 2),
        "call_p99_ms": round(p99 * 1000, 2),
        "p99_over_idle": round(p99 / idle, 1),
        "rss_mb": round(rss / 1e6, 1),
        **pages,
        **sizes,
    }
    figures["ok"] = bool(
        not told["errors"]
        and told["streams"] == students
        and told["broken"] == 0
        and told["heard"] > 0
        and figures["p99_over_idle"] <= RATIO
        and rss <= RSS_LIMIT
        and max(pages.values()) <= USABLE
        and sizes["login_script_kb"] <= LOGIN_KB
        and sizes["all_scripts_kb"] <= ALL_KB
    )
    return figures


def enrolled(handle: Handle, platform: Platform, place: Path, students: int) -> list[str]:
    """A class with a lab; a browser session of each of its students."""
    with handle.client() as admin:
        admin.create_cohort(slug=COHORT, title="一个大班", zone="Asia/Shanghai", cpu_hours=2.0)
        scaffold.write(place / LAB)
        pack(place / LAB, place / "lab.zip")
        admin.publish_lab(COHORT, place / "lab.zip", slug=LAB)
    with platform.store.reading() as session:
        from qianka.store.repos import people

        cohort = people.cohort_by_slug(session, COHORT)
    assert cohort is not None
    found = []
    for number in range(students):
        person = factories.make_student(platform, cohort, f"s{number:03}")
        with platform.store.transaction() as session:
            found.append(issue(session, platform, person, "session").secret)
    return found


def happen(platform: Platform, people: int, stop: threading.Event) -> None:
    """Ten people a second are told of a grading of theirs, and every ten seconds the whole class of something."""
    for second in itertools.count():
        if stop.wait(1.0):
            return
        with platform.store.transaction() as session:
            for number in range(10):
                events.emit_for_person(session, platform, 1 + (second * 10 + number) % people, "attempt")
            if second % 10 == 0:
                events.emit_for_cohort(session, platform, COHORT, "dates", lab=LAB)


def locust(address: str, place: Path, sessions: list[str], length: int) -> dict[str, Any]:
    """The load, from a process of its own."""
    given, out = place / "given.json", place / "told.json"
    given.write_text(json.dumps({"sessions": sessions, "cohort": COHORT}), "utf-8")
    command = [sys.executable, "-m", "locust", "-f", str(HERE / "load_students.py"), "--headless", "--only-summary"]
    command += ["-u", str(len(sessions)), "-r", "30", "-t", f"{length}s", "--host", address, "--stop-timeout", "10"]
    environment = {**os.environ, "QIANKA_LOAD": str(given), "QIANKA_LOAD_OUT": str(out)}
    subprocess.run(command, env=environment, check=False, stdout=sys.stderr, stderr=subprocess.STDOUT)
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


def health_calls(address: str, count: int) -> list[float]:
    """Seconds of each of `count` calls on a platform that does nothing else."""
    found = []
    with httpx.Client(base_url=address, trust_env=False) as client:
        for _ in range(count):
            begun = time.perf_counter()
            client.get("/api/health").raise_for_status()
            found.append(time.perf_counter() - begun)
    return found


def usable(address: str, session: str) -> dict[str, float]:
    """Seconds until a page can be used, with an empty cache: the sign-in page, and home for who is signed in."""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as started:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        for name, path, sign in (("login_usable_s", "/login", "#login"), ("home_usable_s", "/", "main h1")):
            times = []
            for _ in range(3):
                context = browser.new_context(base_url=address, locale="zh-CN")
                if path == "/":
                    context.add_cookies([{"name": "qianka_session", "value": session, "url": address}])
                page = context.new_page()
                begun = time.perf_counter()
                page.goto(path, wait_until="commit")
                page.locator(sign).first.wait_for()
                times.append(time.perf_counter() - begun)
                context.close()
            found[name] = round(statistics.median(times), 2)
        browser.close()
    return found


def script_sizes() -> dict[str, int]:
    """Compressed scripts, KB: what the sign-in page loads, and all there are."""
    check = [sys.executable, str(HERE.parent / "tools" / "check_web_size.py")]
    told = subprocess.run(check, check=False, capture_output=True, text=True).stdout
    login, in_all = (int(number) for number in re.findall(r"(\d+) KB", told))
    return {"login_script_kb": login, "all_scripts_kb": in_all}


def percentile(values: list[float], share: float) -> float:
    """The value that `share` of the sorted `values` do not exceed."""
    return values[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    sys.exit(main())
