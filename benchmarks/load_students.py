"""What load.py's students do, as locust runs it: a live stream each, and a page's request every five seconds.

Reads the file that QIANKA_LOAD names ({sessions, cohort, topics, seconds}) and writes its figures to QIANKA_LOAD_OUT.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import socket
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import FastHttpUser, between, events, task

GIVEN = json.loads(Path(os.environ["QIANKA_LOAD"]).read_text("utf-8"))
COHORT = GIVEN["cohort"]
# Half of the requests are what a page asks when its stream is held back; the others open a page.
PLACES = {
    f"/api/events/recent?topics=me,cohort:{COHORT}": 14,
    "/api/me": 3,
    f"/api/cohorts/{COHORT}/labs": 3,
    "/api/jobs?mine=true&limit=20": 2,
    "/api/grades": 2,
    "/api/budgets": 1,
    f"/api/cohorts/{COHORT}/labs/lab/board": 2,
    "/api/health": 1,
}

_numbers = itertools.count()
seconds: dict[str, list[float]] = {}
newest = {"event": 0}
told: dict[str, Any] = {"streams": 0, "heard": 0, "broken": 0, "errors": []}
delays: list[float] = []


class Student(FastHttpUser):
    """One who is signed in, with a page open."""

    wait_time = between(4.5, 5.5)

    def on_start(self) -> None:
        """The page opens its stream."""
        self.cookie = f"qianka_session={GIVEN['sessions'][next(_numbers) % len(GIVEN['sessions'])]}"
        self.listener = gevent.spawn(self.listen)
        # locust starts its users by the second; people do not look at their pages in step.
        gevent.sleep(random.uniform(0, 5))

    def on_stop(self) -> None:
        """The page is closed."""
        self.listener.kill()

    def listen(self) -> None:
        """The stream of the page, until the end of the run; one that ends early is counted as broken."""
        place = urlsplit(self.host)
        head = [
            f"GET /api/events?topics=me,cohort:{COHORT} HTTP/1.1",
            f"Host: {place.netloc}",
            f"Cookie: {self.cookie}",
        ]
        left = b""
        with socket.create_connection((place.hostname or "", place.port or 80)) as stream:
            stream.sendall("\r\n".join([*head, "", ""]).encode())
            while data := stream.recv(65536):
                *lines, left = (left + data).split(b"\n")
                for line in lines:
                    if line.startswith(b"HTTP/1.1 200"):
                        told["streams"] += 1
                    elif line.startswith(b"data:"):
                        hear(line[5:])
        told["broken"] += 1

    @task
    def look(self) -> None:
        """One request of a page."""
        place = random.choices(list(PLACES), list(PLACES.values()))[0]
        after = f"&after={newest['event']}" if "recent" in place else ""
        self.client.get(place + after, name=place, headers={"Cookie": self.cookie})


def hear(data: bytes) -> None:
    """An event; how long it took from its recording to this page, s."""
    event = json.loads(data)
    at = event.get("at")
    newest["event"] = max(newest["event"], event.get("id", 0))
    if at is None:  # the first message of a stream
        return
    told["heard"] += 1
    delays.append((datetime.now(timezone.utc) - datetime.fromisoformat(at.replace("Z", "+00:00"))).total_seconds())


@events.spawning_complete.add_listener
def opened(**_: Any) -> None:
    """Everybody has their page open: what is answered from now on counts."""
    seconds.clear()
    delays.clear()


@events.request.add_listener
def counted(request_type: str, name: str, response_time: float, exception: Any = None, **_: Any) -> None:
    """One answer."""
    seconds.setdefault(name, []).append(response_time / 1000)
    if exception is not None:
        told["errors"].append(f"{name}: {exception}"[:200])


@events.quitting.add_listener
def written(environment: Any, **_: Any) -> None:
    """The figures of the run."""
    found = {**told, "seconds": seconds, "delays": delays, "at": time.time()}
    Path(os.environ["QIANKA_LOAD_OUT"]).write_text(json.dumps(found), "utf-8")
