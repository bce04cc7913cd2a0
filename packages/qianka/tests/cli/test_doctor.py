"""`qianka doctor` on how runs are contained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from qianka.cli import doctor, output
from qianka.sandbox import advice, selftest
from qianka.settings import Settings


def report(**changes: Any) -> dict[str, Any]:
    whole = {"level": "full", "backend": "bubblewrap", "missing": [], "notes": [], "engine": None}
    return {**whole, **changes}


def said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: dict[str, Any], **settings: Any
) -> list[doctor.Finding]:
    asked: list[tuple[str, dict[str, Any]]] = []

    def probe(backend: str, _: object, **names: Any) -> dict[str, Any]:
        asked.append((backend, names))
        return found

    monkeypatch.setattr(selftest, "probe", probe)
    monkeypatch.setattr(output.mode, "language", "en")
    values = Settings(data_dir=str(tmp_path), **settings)
    findings = doctor._sandbox(values, values.sandbox_backend)
    assert asked[0][0] == values.sandbox_backend
    return findings


def test_the_way_of_containing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (only,) = said(monkeypatch, tmp_path, report())
    assert only.text.en == "isolation: full (bubblewrap)"


def test_an_engine_is_named_with_why_it_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = {"name": "podman", "path": "/usr/bin/podman", "runtime": "/usr/sbin/runc", "socket": ""}
    notes = [advice.noted(advice.item("namespaces", "uid map: Permission denied"))]
    first, second = said(monkeypatch, tmp_path, report(backend="podman", engine=engine, notes=notes))
    assert first.text.en == "isolation: full (podman)"
    assert "/usr/bin/podman" in second.text.en
    assert "runc" in second.text.en
    assert "bubblewrap cannot make its namespaces" in second.text.en
    assert second.level == "ok"
    assert second.fix is not None
    assert "apparmor" in second.fix.en.lower()


def test_what_is_missing_comes_with_its_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = report(level="refuse", backend="container", missing=[advice.item("engine", "podman is not installed")])
    first, second = said(monkeypatch, tmp_path, found, sandbox_backend="podman")
    assert first.level == "bad"
    assert second.fix is not None
    assert "apt-get install podman" in second.fix.en
