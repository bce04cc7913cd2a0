"""A class hands in at once while the server is killed: nothing lost, nothing double, flat memory.

120 clients hand in 5 MB each within 5 s; at second 3 the server gets SIGKILL and is started again by
`qianka up`; clients retry with their Idempotency-Key. The last line is one JSON object of figures;
the exit status is 1 when a hand-in was lost or doubled, a receipt does not verify, or a limit is broken.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qianka import receipts
from qianka.cli import embedded, scaffold
from qianka.client import archive
from qianka.client.api import Client, new_key
from qianka.client.transport import Transport
from qianka.errors import QiankaError
from qianka.schemas.submissions import HandedIn
from qianka.server.app import open_platform
from qianka.services import people, submissions
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.tables import Cohort, Person
from qianka.testing import factories

COHORT, LAB = "burst", "lab"
RSS_LIMIT = 300_000_000


@dataclass
class Student:
    """One client: a token, an archive of its own, when it begins, and what came of it."""

    token: str
    archive: Path
    sha256: str
    begins: float
    handed: HandedIn | None = None
    error: str | None = None
    seconds: float = 0.0


class Peak:
    """The highest resident memory of the processes that match, sampled from outside."""

    def __init__(self, up: int, word: str) -> None:
        self.up, self.word, self.bytes = up, word, 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """The peak, bytes."""
        self._stop.set()
        self._thread.join()
        return self.bytes

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            for pid in children(self.up, self.word):
                self.bytes = max(self.bytes, resident(pid))


def children(parent: int, word: str) -> list[int]:
    """The children of `parent` with `word` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if int(fields[1]) == parent and word in words:
            found.append(int(entry.name))
    return found


def resident(pid: int) -> int:
    """Peak resident memory of a process, bytes; 0 once it is gone."""
    try:
        lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=120)
    parser.add_argument("--megabytes", type=float, default=5.0)
    parser.add_argument("--within", type=float, default=5.0, help="seconds in which all begin")
    parser.add_argument("--kill-at", type=float, default=3.0, help="second at which the server is killed; 0: never")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="qianka-handin-") as folder:
        figures = measure(Path(folder), options)
    ok = (
        figures["submissions"] == figures["clients"]
        and figures["receipts_verified"] == figures["clients"]
        and figures["lost"] == figures["double"] == figures["errors"] == figures["bytes_missing"] == 0
        and figures["server_peak_rss"] <= RSS_LIMIT
    )
    figures["ok"] = ok
    print(json.dumps(figures))
    return 0 if ok else 1


def measure(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Set up, burst, count."""
    data_dir = folder / "data"
    handle = embedded.start(data_dir, sandbox_backend="none", sandbox_minimum="none")
    try:
        platform = open_platform(Settings(data_dir=str(data_dir)))
        lab = folder / LAB
        scaffold.write(lab)
        with handle.client() as admin:
            admin.create_cohort(slug=COHORT, title=COHORT, zone="Asia/Shanghai")
            packed = folder / "lab.zip"
            archive.pack(lab, packed)
            admin.publish_lab(COHORT, packed, slug=LAB)
        students = enrolled(platform, folder, lab, options)
        figures = burst(handle, students, options)
        figures.update(count(platform, handle, students))
        platform.store.close()
    finally:
        handle.stop()
    return figures


def enrolled(platform: Platform, folder: Path, lab: Path, options: argparse.Namespace) -> list[Student]:
    """Students with tokens and archives of their own bytes."""
    draw = random.Random(23)
    with platform.store.transaction() as session:
        from qianka.store.repos import people as repo

        cohort = repo.cohort_by_slug(session, COHORT)
        assert isinstance(cohort, Cohort)
    students = []
    for number in range(options.clients):
        person: Person = factories.make_student(platform, cohort, f"burst{number}")
        token = people.issue_token(platform, factories.caller_of(person), "burst").secret
        file = folder / f"{number}.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as target:
            for path in archive.files(lab / "solution"):
                target.write(path, path.relative_to(lab / "solution").as_posix())
            target.writestr("figure.png", draw.randbytes(int(options.megabytes * 1_000_000)))
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        students.append(Student(token, file, digest, draw.uniform(0, options.within)))
    return students


def burst(handle: embedded.Handle, students: list[Student], options: argparse.Namespace) -> dict[str, Any]:
    """All hand in; the server is killed in between."""
    up = handle.process.pid
    server, worker = Peak(up, "qianka.server"), Peak(up, "worker")
    began = time.monotonic()
    killed = threading.Timer(options.kill_at, kill_server, (up,))
    if options.kill_at:
        killed.start()
    with ThreadPoolExecutor(max_workers=len(students)) as pool:
        list(pool.map(lambda one: hand_in(handle.url, one, began), students))
    wall = time.monotonic() - began
    killed.cancel()
    times = sorted(one.seconds for one in students)
    return {
        "clients": len(students),
        "megabytes": options.megabytes,
        "killed_at": options.kill_at or None,
        "wall": round(wall, 2),
        "median_seconds": round(times[len(times) // 2], 2),
        "slowest_seconds": round(times[-1], 2),
        "server_peak_rss": server.stop(),
        "worker_peak_rss": worker.stop(),
        "errors": sum(one.error is not None for one in students),
        "first_error": next((one.error for one in students if one.error), None),
        "retried": sum(one.handed.again for one in students if one.handed is not None),
    }


def kill_server(up: int) -> None:
    for pid in children(up, "qianka.server"):
        os.kill(pid, signal.SIGKILL)


def hand_in(url: str, student: Student, began: float) -> None:
    """One client, beginning at its moment; keeps its key over all retries."""
    time.sleep(max(0.0, began + student.begins - time.monotonic()))
    since = time.monotonic()
    with Client(Transport(url, student.token, "en", tries=12)) as client:
        try:
            student.handed = client.hand_in(COHORT, LAB, student.archive, filename="作业.zip", key=new_key())
        except QiankaError as error:
            student.error = f"{type(error).__name__}: {error}"
    student.seconds = time.monotonic() - since


def estimate(admin: Client, waiting: list[str]) -> str | None:
    """What somebody who waits is told, once the grader has taken up the burst."""
    until = time.monotonic() + 60
    while waiting and time.monotonic() < until:
        queue = admin.attempt(waiting[0]).queue
        if queue is not None:
            return queue.sentence
        time.sleep(0.5)
    return None


def count(platform: Platform, handle: embedded.Handle, students: list[Student]) -> dict[str, Any]:
    """What is on the server, and which receipts verify."""
    with handle.client() as admin:
        listed = admin.submissions(COHORT, LAB, everybody=True)
        first = next(one for one in students if one.handed is not None)
        waiting = [s.attempt.id for s in listed if s.attempt is not None and s.attempt.state == "queued"]
        sentence = estimate(admin, waiting)
    assert first.handed is not None
    public = json.loads(first.handed.receipt or "{}")["public_key"]
    known = {receipts.key_id_of(public): public}
    verified = missing = 0
    for one in students:
        if one.handed is None or one.handed.receipt is None:
            continue
        found = receipts.verify_file(one.handed.receipt, known)
        verified += found.is_trusted and found.body["archive_sha256"] == one.sha256
        path = submissions.storage.archive_path(platform, one.sha256)
        missing += not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != one.sha256
    mine = [one.login for one in listed]
    ids = {one.id for one in listed}
    return {
        "submissions": len(listed),
        "receipts_verified": verified,
        "lost": sum(one.handed is not None and one.handed.submission.id not in ids for one in students),
        "double": len(mine) - len(set(mine)),
        "bytes_missing": missing,
        "queued": len(waiting),
        "estimate": sentence,
        "unfinished_uploads": len(list(platform.folders.incoming.glob("u-*"))),
    }


if __name__ == "__main__":
    sys.exit(main())
