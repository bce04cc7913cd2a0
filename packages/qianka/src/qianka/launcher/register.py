"""Which supervisors live and with whose uid, told in files of root's that outlive the launcher.

A launcher that starts anew learns from them which uids are taken and which runs it may end. The files lie
where a boot clears them; one of a process that is gone, or whose number another process has by now,
counts for nothing.
"""

from __future__ import annotations

import os

from qianka.jobdir.beat import same_process, start_ticks
from qianka.jobdir.codec import FormatError, dumps
from qianka.jobdir.files import read_json, write_all

PLACES = ("/run/qianka-runs", "/var/lib/qianka-runs")


class Register:
    """A folder that only root enters."""

    def __init__(self, places: tuple[str, ...] = PLACES) -> None:
        """Raises OSError where no such folder can be had."""
        self.folder = _folder(places)

    def enter(self, jobs: str, job: str, run: int, *uids: int) -> None:
        """For the supervisor itself, first of all that it does. `uids`: one, or two for a paired run."""
        pid = os.getpid()
        text = dumps({"start": start_ticks(pid), "jobs": jobs, "job": job, "run": run, "uids": list(uids)})
        aside = os.path.join(self.folder, f".{pid}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            write_all(descriptor, text.encode())
        finally:
            os.close(descriptor)
        os.rename(aside, os.path.join(self.folder, str(pid)))

    def strike(self, pid: int) -> None:
        """A supervisor has ended."""
        try:
            os.unlink(os.path.join(self.folder, str(pid)))
        except FileNotFoundError:
            return

    def living(self) -> dict[int, tuple[str, str, int, tuple[int, ...]]]:
        """pid → jobs folder, job, run, uids of those that live; entries of others are removed."""
        found = {}
        for name in os.listdir(self.folder):
            if not name.isdecimal():
                continue
            try:
                entry = read_json(os.path.join(self.folder, name))
                # Before there were paired runs, an entry had one uid.
                uids = tuple(int(uid) for uid in entry.get("uids") or [entry["uid"]])
                told = (str(entry["jobs"]), str(entry["job"]), int(entry["run"]), uids)
                lives = same_process(int(name), int(entry["start"]))
            except FileNotFoundError:
                continue
            except (FormatError, KeyError, TypeError, ValueError):
                lives = False
            if lives:
                found[int(name)] = told
            else:
                self.strike(int(name))
        return found


def _folder(places: tuple[str, ...]) -> str:
    for place in places:
        try:
            os.makedirs(place, mode=0o700, exist_ok=True)
        except OSError:
            continue
        stat = os.lstat(place)
        if stat.st_mode & 0o170000 == 0o040000 and stat.st_uid == os.geteuid() and not stat.st_mode & 0o077:
            return place
    raise OSError(f"none of {', '.join(places)} can be made, closed to all but root")
