"""Root starting a platform on a data directory that an ordinary user could have filled with traps."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from qianka import settings
from qianka.cli.lock import DataLock, holder
from qianka.cli.owner import as_owner
from qianka.cli.up import Platform
from qianka.client.credentials import write_private
from qianka.errors import ConfigError
from qianka.testing.supervised import ORDINARY

pytestmark = pytest.mark.root


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="qianka-owner-", dir="/var/tmp"))
    folder.chmod(0o755)
    data = folder / "data"
    (data / "run").mkdir(parents=True, mode=0o700)
    for path in (data, data / "run"):
        os.chown(path, ORDINARY, ORDINARY)
    yield data
    shutil.rmtree(folder)


def test_a_lock_that_is_a_link_does_not_make_root_overwrite_what_it_names(data: Path) -> None:
    precious = data.parent / "precious"
    precious.write_text("of root", "utf-8")
    precious.chmod(0o600)
    (data / "run/up.lock").symlink_to(precious)
    with pytest.raises(ConfigError):
        DataLock(data)
    assert holder(data) == {}
    assert precious.read_text("utf-8") == "of root"


def test_a_run_folder_that_is_a_link_does_not_make_root_write_elsewhere(data: Path) -> None:
    roots = data.parent / "roots"
    roots.mkdir()
    (data / "run").rmdir()
    (data / "run").symlink_to(roots)
    with pytest.raises(ConfigError):
        DataLock(data)
    with pytest.raises(PermissionError), as_owner(data):
        write_private(data / "run/up.json", "{}")
    assert list(roots.iterdir()) == []


def test_what_root_leaves_there_belongs_to_the_owner(data: Path) -> None:
    lock = DataLock(data)
    lock.tell(address="http://here")
    assert holder(data)["address"] == "http://here"
    assert (data / "run/up.lock").stat().st_uid == ORDINARY
    assert os.geteuid() == 0
    lock.release()


def test_the_launcher_acts_in_the_group_of_the_service_not_in_one_of_the_same_number(data: Path) -> None:
    platform = Platform(settings.load(overrides={"data.dir": str(data)}).settings, None, {}, is_embedded=False)
    words = platform._launcher(999, 995)
    assert words[words.index("--service-uid") + 1] == "999"
    assert words[words.index("--service-gid") + 1] == "995"
