"""The built application and the addresses at which it is served."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from qianka.server.website import BuiltFiles, Website
from starlette.testclient import TestClient

INDEX = '<html><meta property="csp-nonce" nonce="__NONCE__"><script nonce="__NONCE__" src="/static/app/a.js"></script>'


@pytest.fixture
def built(app: FastAPI, tmp_path: Path) -> Path:
    """A small application instead of the real one."""
    folder = tmp_path / "built"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets/a-1f.js").write_text("plain()")
    (folder / "assets/a-1f.js.gz").write_bytes(gzip.compress(b"packed()"))
    (folder / "icon.svg").write_text("<svg/>")
    app.state.website = Website(folder)
    mounted = next(route for route in app.routes if getattr(route, "name", "") == "static")
    mounted.app = BuiltFiles(directory=folder)  # type: ignore[attr-defined]
    return folder


@pytest.mark.parametrize("path", ["/", "/login", "/c/ai/labs/lab1", "/submissions/s-1", "/c/..%2f..%2fetc/passwd"])
def test_every_address_of_a_page_is_the_application(built: Path, anonymous: TestClient, path: str) -> None:
    answer = anonymous.get(path)
    assert answer.status_code == 200
    assert "/static/app/a.js" in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_the_nonce_is_new_each_time_and_the_policy_names_it(built: Path, anonymous: TestClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = anonymous.get("/")
        found = re.findall(r'nonce="([^"]+)"', answer.text)
        assert len(found) == 2
        assert len(set(found)) == 1
        policy = answer.headers["content-security-policy"]
        assert f"style-src 'self' 'nonce-{found[0]}'" in policy
        assert "unsafe" not in policy
        nonces.add(found[0])
    assert len(nonces) == 2


@pytest.mark.parametrize("path", ["/api/nothing", "/api", "/static/nothing"])
def test_what_is_no_page_is_not_found(built: Path, anonymous: TestClient, path: str) -> None:
    assert anonymous.get(path).status_code == 404


def test_files_named_by_their_content_are_kept_by_browsers(built: Path, anonymous: TestClient) -> None:
    answer = anonymous.get("/static/app/assets/a-1f.js", headers={"accept-encoding": "gzip"})
    assert answer.text == "packed()"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    plain = anonymous.get("/static/app/assets/a-1f.js", headers={"accept-encoding": "identity"})
    assert plain.text == "plain()"
    assert "immutable" not in anonymous.get("/static/app/icon.svg").headers["cache-control"]


@pytest.mark.parametrize("path", ["/static/app/../website.py", "/static/app/%2e%2e/website.py", "/static/app/assets"])
def test_nothing_beside_the_application_is_served(built: Path, anonymous: TestClient, path: str) -> None:
    assert "Website" not in anonymous.get(path).text


def test_without_a_build_the_page_says_what_to_do(app: FastAPI, anonymous: TestClient, tmp_path: Path) -> None:
    app.state.website = Website(tmp_path / "none")
    answer = anonymous.get("/")
    assert answer.status_code == 503
    assert "make web" in answer.text
