"""Writing transactions a second on both databases, and what a reader waits meanwhile.

Each transaction is about what a hand-in writes: one read with a lock, five rows. PostgreSQL runs with
fsync on, in a server that this script starts and removes. One JSON object at the end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
import time
from pathlib import Path

from qianka.services import events
from qianka.services.platform import Platform
from qianka.settings import Settings
from qianka.store.session import Store
from qianka.store.tables import Audit, Base
from qianka.testing import make_person
from qianka.testing.postgres import PostgresServer, programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    figures: dict[str, object] = {"threads": options.threads}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures["sqlite"] = measure(Store(f"sqlite:///{place / 'q.db'}"), place, options.threads, options.seconds)
    if programs() is not None:
        place = Path(tempfile.mkdtemp(prefix="qianka-pg-"))
        place.chmod(0o755)
        server = PostgresServer(place / "server", fsync="on", synchronous_commit="on", full_page_writes="on")
        try:
            server.make()
            server.start()
            url = server.database(bare=True)
            figures["postgresql"] = measure(Store(url), place, options.threads, options.seconds)
        finally:
            server.remove()
            place.rmdir()
    print(json.dumps(figures))
    return 0


def measure(store: Store, place: Path, threads: int, seconds: float) -> dict[str, float]:
    """Transactions a second, and milliseconds of a read beside them."""
    Base.metadata.create_all(store.engine)
    platform = Platform(settings=Settings(data_dir=str(place)), store=store)
    person = make_person(platform)
    stop, done, waits = threading.Event(), [0] * threads, []

    def write(number: int) -> None:
        while not stop.is_set():
            with store.transaction() as session:
                session.get(type(person), person.id, with_for_update=True)
                for _ in range(4):
                    session.add(Audit(at=platform.now(), action="x", target="y", person_id=person.id))
                events.emit(session, platform, "job:x", "x")
            done[number] += 1

    workers = [threading.Thread(target=write, args=(number,)) for number in range(threads)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    while time.perf_counter() - begun < seconds:
        at = time.perf_counter()
        events.newest(platform)
        waits.append((time.perf_counter() - at) * 1000)
        time.sleep(0.01)
    stop.set()
    for worker in workers:
        worker.join()
    took = time.perf_counter() - begun
    store.close()
    return {
        "transactions_a_second": round(sum(done) / took, 1),
        "read_ms_median": round(statistics.median(waits), 2),
        "read_ms_worst": round(max(waits), 1),
    }


if __name__ == "__main__":
    raise SystemExit(main())
