"""Which paths a launcher opens, and the pool of uids; needs no root."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from qianka.launcher import main as launcher
from qianka.launcher.sources import NotAllowed, Sources
from qianka.launcher.uids import NoneFree, UidPool

linux = pytest.mark.skipif(sys.platform != "linux", reason="O_PATH is Linux's")


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    for name in ("data/trees/t1", "data/secrets", "allowed/python", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "other").chmod(0o700)
    return Sources(str(tmp_path / "data"), [str(tmp_path / "allowed")])


def opens(sources: Sources, path: Path) -> bool:
    os.close(sources.open(str(path)))
    return True


@linux
def test_below_the_data_directory_and_the_allowed(sources: Sources, tmp_path: Path) -> None:
    assert opens(sources, tmp_path / "data/trees/t1")
    assert opens(sources, tmp_path / "allowed/python")
    assert opens(sources, Path("/usr/lib"))


@linux
@pytest.mark.parametrize("path", ["data", "data/secrets", "other", "data/trees/../secrets", "data-evil"])
def test_nothing_else(sources: Sources, tmp_path: Path, path: str) -> None:
    (tmp_path / "data-evil").mkdir(mode=0o700)
    with pytest.raises(NotAllowed):
        sources.open(f"{tmp_path}/{path}")


@linux
def test_a_data_directory_behind_a_link_is_known_by_both_names(sources: Sources, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tmp_path / "data")
    assert opens(Sources(str(tmp_path / "alias"), []), tmp_path / "alias/trees/t1")


@linux
def test_special_files_and_links_are_no_sources(sources: Sources, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data/trees/pipe")
    (tmp_path / "data/trees/link").symlink_to("t1")
    for name in ("pipe", "link", "link/inner"):
        with pytest.raises(NotAllowed):
            sources.open(f"{tmp_path}/data/trees/{name}")


def test_uids_go_round_and_none_is_given_twice() -> None:
    pool = UidPool(61_000, 3)
    first = [pool.take()[0] for _ in range(3)]
    assert sorted(first) == [61_000, 61_001, 61_002]
    with pytest.raises(NoneFree):
        pool.take()
    pool.give_back(61_001)
    assert pool.take() == (61_001,)
    pool.give_back(61_000)
    pool.give_back(61_002)
    pool.keep(61_002)
    assert pool.take() == (61_000,)
    with pytest.raises(NoneFree):
        pool.take()


@pytest.mark.parametrize(("base", "count"), [(0, 10), (500, 10), (61_000, 0)])
def test_a_pool_of_system_users_is_refused(base: int, count: int) -> None:
    with pytest.raises(ValueError, match="pool"):
        UidPool(base, count)


def test_an_ordinary_user_cannot_be_a_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert launcher.main([str(tmp_path), "--service-uid", "1000"]) == 77


@pytest.mark.parametrize(
    "words", [[], ["/data"], ["/data", "--service-uid"], ["/data", "--service-uid", "x"], ["--x", "1"]]
)
def test_a_command_line_that_makes_no_sense_is_told(words: list[str]) -> None:
    assert launcher.main(words) == 2
