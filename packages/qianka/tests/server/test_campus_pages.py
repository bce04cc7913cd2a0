"""Signing in on a page of the campus, against a real provider and a real CAS server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from qianka.server.app import create_app
from qianka.server.journey import Journey
from qianka.services.platform import Platform
from qianka.store.tables import Audit, Identity, Person
from qianka.testing import campus, factories
from starlette.testclient import TestClient

ADDRESS = "http://localhost"

Browse = Callable[..., TestClient]


@pytest.fixture
def provider() -> Iterator[campus.Provider]:
    with campus.oidc_provider() as server:
        yield server


@pytest.fixture
def cas() -> Iterator[campus.CasServer]:
    with campus.cas_server() as server:
        yield server


@pytest.fixture
def browse(platform: Platform, provider: campus.Provider, cas: campus.CasServer, tmp_path: Path) -> Iterator[Browse]:
    """Makes a browser on a platform that knows both, with the further settings given."""
    secret = tmp_path / "secret"
    secret.write_text(provider.secret + "\n")
    opened: list[TestClient] = []

    def open_browser(**more: object) -> TestClient:
        values = {"oidc_issuer": provider.issuer, "oidc_client": "qianka", "oidc_secret_file": str(secret)}
        settings = replace(platform.settings, **{**values, "cas_url": cas.url, **more})  # type: ignore[arg-type]
        here = replace(platform, settings=settings)
        client = TestClient(create_app(settings, here), base_url=ADDRESS, follow_redirects=False)
        opened.append(client)
        return client.__enter__()

    yield open_browser
    for client in opened:
        client.__exit__(None, None, None)


def there_and_back(browser: TestClient, method: str, next: str = "/c/ai/labs") -> httpx.Response:
    """Leave by our page, sign in there, come back: our last answer."""
    leave = browser.get(f"/api/auth/{method}/start", params={"next": next})
    assert leave.status_code == 303
    there = httpx.get(leave.headers["location"], trust_env=False)
    return browser.get(there.headers["location"])


def rows(platform: Platform, table: type) -> list[object]:
    with platform.store.reading() as session:
        return list(session.query(table))


@pytest.mark.parametrize("method", ["oidc", "cas"])
def test_who_is_in_a_roster_comes_in_and_lands_where_they_were_going(
    platform: Platform, browse: Browse, method: str
) -> None:
    person = factories.make_person(platform, "alice", student_number="2026001")
    browser = browse()
    back = there_and_back(browser, method)
    assert (back.status_code, back.headers["location"]) == (303, "/c/ai/labs")
    assert browser.get("/api/me").json()["login"] == "alice"
    (identity,) = rows(platform, Identity)
    assert (identity.person_id, identity.method) == (person.id, method)  # type: ignore[attr-defined]
    assert {"identity.link", "sign_in"} <= {row.action for row in rows(platform, Audit)}  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", ["oidc", "cas"])
def test_the_second_time_the_identity_counts_and_not_the_number(
    platform: Platform, provider: campus.Provider, cas: campus.CasServer, browse: Browse, method: str
) -> None:
    alice = factories.make_person(platform, "alice", student_number="2026001")
    there_and_back(browse(), method)
    with platform.store.transaction() as session:
        stored = session.get(Person, alice.id)
        assert stored is not None
        stored.student_number = "2026999"
    factories.make_person(platform, "mallory", student_number="2026001")
    browser = browse()
    there_and_back(browser, method)
    assert browser.get("/api/me").json()["login"] == "alice"
    assert len(rows(platform, Identity)) == 1


@pytest.mark.parametrize("method", ["oidc", "cas"])
def test_who_is_in_no_roster_stays_outside_and_is_told(platform: Platform, browse: Browse, method: str) -> None:
    browser = browse()
    back = there_and_back(browser, method)
    assert back.headers["location"] == "/login?refused=no_account"
    assert browser.get("/api/me").status_code == 401
    assert rows(platform, Person) == []


def test_an_account_is_made_only_where_that_is_set(
    platform: Platform, provider: campus.Provider, browse: Browse
) -> None:
    provider.claims |= {"name": "李雷", "email": "l@example.edu", "email_verified": True}
    browser = browse(signin_create=True)
    assert there_and_back(browser, "oidc").headers["location"] == "/c/ai/labs"
    (made,) = rows(platform, Person)
    assert (made.login, made.student_number, made.name, made.email, made.is_admin) == (  # type: ignore[attr-defined]
        "2026001",
        "2026001",
        "李雷",
        "l@example.edu",
        False,
    )
    assert browser.get("/api/me").json()["cohorts"] == []


def test_a_name_outside_is_no_power_here(platform: Platform, provider: campus.Provider, browse: Browse) -> None:
    factories.make_person(platform, "admin", admin=True, student_number=None)
    provider.claims["preferred_username"] = "Admin"
    for create in (False, True):
        browser = browse(signin_create=create)
        assert there_and_back(browser, "oidc").headers["location"] == "/login?refused=admin_local"
        assert browser.get("/api/me").status_code == 401


def test_a_number_that_fits_two_accounts_opens_neither(platform: Platform, browse: Browse) -> None:
    factories.make_person(platform, "alice", student_number="2026001")
    factories.make_person(platform, "2026001", student_number="2026002")
    assert there_and_back(browse(), "cas").headers["location"] == "/login?refused=two_accounts"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"nonce": "another"},
        {"aud": "another-client"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"aud": ["qianka", "x"], "azp": "x"},
    ],
    ids=["nonce", "audience", "issuer", "expired", "authorized party"],
)
def test_a_token_that_is_not_for_us_and_now_is_refused(
    platform: Platform, provider: campus.Provider, browse: Browse, spoiled: dict[str, object]
) -> None:
    factories.make_person(platform, "alice", student_number="2026001")
    provider.spoil = spoiled
    assert there_and_back(browse(), "oidc").headers["location"] == "/login?refused=denied"
    assert rows(platform, Identity) == []


def test_a_token_signed_by_somebody_else_is_refused(
    platform: Platform, provider: campus.Provider, browse: Browse
) -> None:
    from joserfc.jwk import RSAKey

    factories.make_person(platform, "alice", student_number="2026001")
    provider.signing_key = RSAKey.generate_key(2048, parameters={"kid": "k1"})
    assert there_and_back(browse(), "oidc").headers["location"] == "/login?refused=denied"


@pytest.mark.parametrize(("method", "what"), [("oidc", "code"), ("cas", "ticket")])
def test_what_comes_back_to_another_browser_opens_nothing(
    platform: Platform, browse: Browse, method: str, what: str
) -> None:
    factories.make_person(platform, "alice", student_number="2026001")
    mallory, victim = browse(), browse()
    leave = mallory.get(f"/api/auth/{method}/start")
    link = httpx.get(leave.headers["location"], trust_env=False).headers["location"]
    assert what in parse_qs(urlsplit(link).query)
    assert victim.get(link).headers["location"] == "/login?refused=state"  # no journey
    victim.get(f"/api/auth/{method}/start")
    assert victim.get(link).headers["location"] == "/login?refused=state"  # another journey
    assert victim.get("/api/me").status_code == 401


@pytest.mark.parametrize("method", ["oidc", "cas"])
def test_a_code_or_ticket_is_good_once(platform: Platform, browse: Browse, method: str) -> None:
    factories.make_person(platform, "alice", student_number="2026001")
    browser = browse()
    leave = browser.get(f"/api/auth/{method}/start")
    cookie = browser.cookies["qianka_journey"]
    link = httpx.get(leave.headers["location"], trust_env=False).headers["location"]
    assert browser.get(link).headers["location"] == "/"
    assert "qianka_journey" not in browser.cookies
    browser.cookies.set("qianka_journey", cookie, path="/api/auth")
    assert browser.get(link).headers["location"] == "/login?refused=denied"


def test_a_provider_that_is_away_is_said_to_be_and_nobody_is_blamed(platform: Platform, browse: Browse) -> None:
    browser = browse(oidc_issuer="http://127.0.0.1:9", cas_url="http://127.0.0.1:9")
    assert browser.get("/api/auth/oidc/start").headers["location"] == "/login?refused=signin_away"
    assert there_and_back_to_nowhere(browser) == "/login?refused=signin_away"
    assert [row for row in rows(platform, Audit) if row.action == "sign_in.failed"] == []  # type: ignore[attr-defined]


def there_and_back_to_nowhere(browser: TestClient) -> str:
    leave = browser.get("/api/auth/cas/start")
    service = parse_qs(urlsplit(leave.headers["location"]).query)["service"][0]
    return str(browser.get(f"{service}&ticket=ST-1").headers["location"])


def test_several_at_once_and_only_what_is_set_up(browse: Browse) -> None:
    told = browse(ldap_url="ldap://127.0.0.1", ldap_title="某大学").get("/api/auth/methods").json()
    assert [(one["name"], one["start_url"]) for one in told] == [
        ("oidc", "/api/auth/oidc/start"),
        ("cas", "/api/auth/cas/start"),
        ("ldap", None),
        ("local", None),
    ]
    assert told[2]["title_zh"] == "某大学"
    alone = browse(oidc_issuer="", cas_url="")
    assert [one["name"] for one in alone.get("/api/auth/methods").json()] == ["local"]
    assert alone.get("/api/auth/oidc/start").headers["location"] == "/login?refused=no_method"
    assert alone.get("/api/auth/cas/back").headers["location"] == "/login?refused=state"


@pytest.mark.parametrize(
    "place", ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "/a\nb", "/" + "x" * 2000]
)
def test_nobody_is_sent_to_another_place_than_ours(place: str) -> None:
    assert Journey.begin(place).next == "/"


@pytest.mark.parametrize("place", ["/", "/c/ai/labs/lab1?tab=2#end"])
def test_a_place_of_ours_is_kept(place: str) -> None:
    assert Journey.begin(place).next == place


def test_the_address_that_is_registered_is_the_public_one(cas: campus.CasServer, browse: Browse) -> None:
    browser = browse(server_public_url="https://ai.example.edu/")
    place = browser.get("/api/auth/cas/start").headers["location"]
    assert parse_qs(urlsplit(place).query)["service"][0].startswith("https://ai.example.edu/api/auth/cas/back?state=")


def test_an_attribute_of_cas_may_be_the_number(platform: Platform, cas: campus.CasServer, browse: Browse) -> None:
    factories.make_person(platform, "alice", student_number="2026001")
    cas.user, cas.attributes = "alice.w", {"employeeNumber": "2026001", "cn": "王 & 丽"}
    browser = browse(cas_attribute="employeeNumber")
    assert there_and_back(browser, "cas").headers["location"] == "/c/ai/labs"
