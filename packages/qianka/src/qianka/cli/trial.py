"""Trying hand-ins on a platform of one's own: a class for them, the lab published, each graded to its end."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from qianka import settings
from qianka.cli import embedded, following, output, turnin
from qianka.cli.embedded import Handle
from qianka.client import archive
from qianka.errors import Text

if TYPE_CHECKING:
    from qianka.client.api import Client
    from qianka.schemas.labs import Lab
    from qianka.schemas.submissions import Attempt, HandedIn

COHORT = "trial"


class Trial:
    """One lab on an embedded platform."""

    def __init__(self, platform: Handle) -> None:
        self.platform = platform
        self.lab = ""

    def publish(self, lab: Path, slug: str, *, practice: bool = False) -> Lab:
        """Make the class and publish the folder. Raises what is wrong with lab.toml, by file, line and key."""
        self.lab = slug
        with self.platform.client() as admin, tempfile.TemporaryDirectory(prefix="qianka-") as folder:
            admin.create_cohort(slug=COHORT, title=COHORT, zone="UTC")
            packed = Path(folder) / "lab.zip"
            archive.pack(lab, packed)
            return admin.publish_lab(COHORT, packed, slug=slug, practice=practice)

    def hand_in(self, path: Path, name: str) -> HandedIn:
        """Hand in as a student of its own, so that no hand-in takes the place of another."""
        with self.student(name) as client, tempfile.TemporaryDirectory(prefix="qianka-") as folder:
            file, filename = turnin.packed(path, Path(folder))
            return client.hand_in(COHORT, self.lab, file, filename=filename)

    def student(self, name: str) -> Client:
        """The client of a fresh student."""
        from qianka.client.api import Client
        from qianka.client.transport import Transport

        login = f"{name[:20]}-{secrets.token_hex(3)}".lower()
        password = secrets.token_urlsafe(16)
        with self.platform.client() as admin:
            added = admin.add_person(COHORT, login=login, name=name)
        with Client(Transport(self.platform.url, None, output.language())) as stranger:
            stranger.activate(login, added.code or "", password)
            token = stranger.login(login, password, "trial").token
        return Client(Transport(self.platform.url, token, output.language()))

    def hand_in_all(self, paths: Sequence[tuple[Path, str]]) -> list[HandedIn]:
        """Hand in several at once, each (path, name)."""
        with ThreadPoolExecutor(max_workers=4) as pool:
            return list(pool.map(lambda pair: self.hand_in(*pair), paths))

    def follow(self, attempts: Sequence[str], tell: Callable[[Attempt], None]) -> dict[str, Attempt]:
        """Each attempt once it has ended, as staff sees it; `tell` hears of every change."""
        ended: dict[str, Attempt] = {}
        if not attempts:
            return ended
        with self.platform.client() as admin:
            for event in admin.follow([f"attempt:{one}" for one in attempts], 0):
                one = event.topic.partition(":")[2]
                if one in ended:
                    continue
                attempt = admin.attempt(one)
                tell(attempt)
                if attempt.state in following.ENDED:
                    ended[one] = attempt
                if len(ended) == len(attempts):
                    break
        return ended


def share_cache(data_dir: Path) -> None:
    """Copy the data sets that this machine has already, so that none is fetched twice."""
    data = Path(settings.load().settings.data_dir)
    for source in (data / "cache", data.with_name(data.name + "-demo") / "cache"):
        if not source.is_dir():
            continue
        for folder in source.iterdir():
            if folder.is_dir() and not folder.name.startswith(".") and not (data_dir / "cache" / folder.name).exists():
                shutil.copytree(folder, data_dir / "cache" / folder.name)


def start(folder: Path, isolation: str) -> Handle:
    """An embedded platform for a trial in `folder`. Raises Unavailable, SandboxRefused."""
    runtime = embedded.need_runtime()
    data_dir = folder / "data"
    share_cache(data_dir)
    output.note(Text("启动临时平台…", "starting a platform for the trial …"))
    is_contained = isolation != "none"
    return embedded.start(
        data_dir,
        runtime_dir=str(runtime),
        sandbox_backend=isolation,
        sandbox_minimum="degraded" if is_contained else "none",
    )
