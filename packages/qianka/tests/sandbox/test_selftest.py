"""The self-test: levels, and that every lack comes with a way out in both languages."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from qianka import jobdir
from qianka.sandbox import advice, apparmor, cgroup, delegate, find, selftest


@pytest.mark.parametrize(
    ("codes", "level"),
    [
        ([], "full"),
        (["swap", "core_pattern"], "full"),
        (["own_uid"], "degraded"),
        (["own_uid", "seccomp"], "refuse"),
        (["bubblewrap"], "refuse"),
    ],
)
def test_levels(codes: list[str], level: str) -> None:
    assert advice.level([advice.item(code) for code in codes]) == level


@pytest.mark.parametrize("code", advice.codes())
def test_every_lack_is_told_in_both_languages_with_a_way_out(code: str) -> None:
    item = advice.item(code, "why " * 1000)
    assert item["need"] in ("must", "should", "note")
    assert all(item[key] for key in ("zh", "en", "fix_zh", "fix_en"))
    assert len(item["why"]) <= 500


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_refusal_names_the_lack_the_tools_own_error_and_the_fix(language: str) -> None:
    text = advice.refusal([advice.item("namespaces", "setting up uid map: Permission denied")], language)
    assert "setting up uid map: Permission denied" in text
    assert apparmor.PLACE in text
    assert "--isolation none" in text


def test_the_profile_for_ubuntu_grants_namespaces_to_bubblewrap_alone() -> None:
    assert "profile bwrap /usr/bin/bwrap flags=(unconfined)" in apparmor.PROFILE
    assert "userns," in apparmor.PROFILE


def test_backend_none_is_a_level_of_its_own(tmp_path: Path) -> None:
    report = selftest.probe("none", tmp_path)
    assert report["level"] == "none"
    assert [item["code"] for item in report["missing"]] == ["isolation"]


@pytest.mark.skipif(sys.platform != "linux", reason="the canaries are Linux's")
def test_no_bubblewrap_means_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "bubblewrap", lambda: None)
    report = selftest.probe("bubblewrap", tmp_path)
    assert report["level"] == "refuse"
    assert "bubblewrap" in [item["code"] for item in report["missing"]]


@pytest.mark.sandbox
@pytest.mark.skipif(find.bubblewrap() is None, reason="needs bubblewrap")
def test_the_canaries_tell_what_this_machine_can_do(tmp_path: Path) -> None:
    began = time.monotonic()
    report = selftest.probe("bubblewrap", tmp_path)
    assert time.monotonic() - began < 10  # under 2 s on an idle machine
    codes = {item["code"] for item in report["missing"]}
    assert report["level"] == ("full" if not codes else "degraded")
    if os.geteuid() != 0:
        assert "own_uid" in codes
    assert jobdir.loads(jobdir.dumps(report)) == report


@pytest.mark.sandbox
@pytest.mark.skipif(find.bubblewrap() is None, reason="needs bubblewrap")
def test_a_sandbox_without_its_filter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qianka.sandbox import bubblewrap

    real = bubblewrap.options

    def without_filter(*args: object, **names: object) -> list[str]:
        words = real(*args, **names)  # type: ignore[arg-type]
        at = words.index("--seccomp")
        return words[:at] + words[at + 2 :]

    monkeypatch.setattr(bubblewrap, "options", without_filter)
    report = selftest.probe("bubblewrap", tmp_path)
    assert report["level"] == "refuse"
    assert [item["code"] for item in report["missing"] if item["need"] == "must"] == ["seccomp"]


@pytest.mark.sandbox
@pytest.mark.skipif(find.bubblewrap() is None, reason="needs bubblewrap")
def test_a_sandbox_that_shares_the_network_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qianka.sandbox import bubblewrap

    real = bubblewrap.Setup.__init__

    def shared(self: bubblewrap.Setup, version: tuple[int, int, int]) -> None:
        real(self, version)
        self.network = "host"

    monkeypatch.setattr(bubblewrap.Setup, "__init__", shared)
    codes = [item["code"] for item in selftest.probe("bubblewrap", tmp_path)["missing"]]
    assert "network" in codes


@pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")
def test_a_bound_that_does_not_hold_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Toothless(cgroup.Group):
        def out_of_memory_kills(self) -> int:
            return 0

        def forks_denied(self) -> int:
            return 0

    monkeypatch.setattr(cgroup, "make", lambda *_, **__: Toothless({}))
    (item,) = selftest._bounded()
    assert item["code"] == "control_groups"
    assert "did not stop" in item["why"]


@pytest.mark.skipif(find.bubblewrap() is None, reason="needs bubblewrap")
def test_a_newer_bubblewrap_goes_before_an_older_one(tmp_path: Path) -> None:
    def script(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    old = script("old", "echo bubblewrap 0.6.1")
    new = script("new", "echo bubblewrap 0.11.0")
    ancient = script("ancient", "echo bubblewrap 0.3.0")
    broken = script("broken", "exit 1")
    assert find.bubblewrap([ancient, broken, old, new]) == (new, (0, 11, 0))
    assert find.bubblewrap([ancient, broken, old]) == (old, (0, 6, 1))
    assert find.bubblewrap([ancient, broken, str(tmp_path / "absent")]) is None


def test_an_ordinary_user_with_a_systemd_of_their_own_is_started_in_a_delegated_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd/private").touch()
    monkeypatch.setattr(delegate.shutil, "which", lambda _: "/usr/bin/systemd-run")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    line = delegate.command(["qianka", "up"], {"XDG_RUNTIME_DIR": str(tmp_path)})
    assert line is not None
    assert line[:2] == ["/usr/bin/systemd-run", "--user"]
    assert "Delegate=yes" in line
    assert line[-2:] == ["qianka", "up"]
    assert delegate.command(["qianka"], {}) is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert delegate.command(["qianka"], {"XDG_RUNTIME_DIR": str(tmp_path)}) is None
