"""Signing in by a directory, against OpenLDAP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from qianka.errors import ConfigError, Forbidden, NotFound, NotSignedIn, OverLimit, Unavailable
from qianka.services import people
from qianka.services.people import Seen, SignIn
from qianka.services.platform import Platform
from qianka.store.tables import Audit, Identity
from qianka.testing import factories
from qianka.testing import slapd as openldap

HERE = Seen(address="10.0.0.1")
PEOPLE = [
    ("alice", "2026001", "王丽", "alice password 1"),
    ("bob", "2026002", "李雷", "bob password 2"),
    ("admin", "9001", "someone", "admin password 3"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openldap.Directory]:
    if not openldap.is_installed():
        if os.environ.get("QIANKA_TESTS_MUST_RUN"):
            pytest.fail("slapd is missing: apt-get install slapd")
        pytest.skip("needs slapd: apt-get install slapd")
    with openldap.slapd(tmp_path_factory.mktemp("slapd"), PEOPLE) as running:
        yield running


@pytest.fixture
def campus(platform: Platform, directory: openldap.Directory, tmp_path: Path) -> Platform:
    """The platform, with the directory set up; people are known by their employee number."""
    password = tmp_path / "ldap-password"
    password.write_text(openldap.READER[1])
    settings = replace(
        platform.settings,
        ldap_url=directory.url,
        ldap_base=openldap.BASE,
        ldap_bind=openldap.READER[0],
        ldap_password_file=str(password),
    )
    return replace(platform, settings=settings)


def sign_in(platform: Platform, login: str, password: str) -> SignIn:
    return people.sign_in_by_directory(platform, login, password, seen=HERE)


def with_settings(platform: Platform, **values: object) -> Platform:
    return replace(platform, settings=replace(platform.settings, **values))  # type: ignore[arg-type]


def test_the_password_of_the_campus_opens_the_account_of_that_login(campus: Platform) -> None:
    alice = factories.make_person(campus, "alice")
    assert sign_in(campus, " Alice ", "alice password 1").person.id == alice.id
    with campus.store.reading() as session:
        (identity,) = session.query(Identity)
        assert (identity.method, identity.person_id) == ("ldap", alice.id)
        assert len(identity.subject) == 36  # entryUUID: a renamed person stays the same


def test_another_attribute_may_be_the_number_of_the_roster(campus: Platform) -> None:
    alice = factories.make_person(campus, "s1", student_number="2026001")
    by_number = with_settings(campus, ldap_attribute="employeeNumber")
    assert sign_in(by_number, "2026001", "alice password 1").person.id == alice.id


@pytest.mark.parametrize(
    ("login", "password"),
    [
        ("alice", "wrong"),
        ("alice", ""),  # a bind without a password succeeds for anybody (RFC 4513 5.1.2)
        ("nobody", "alice password 1"),
        ("*", "alice password 1"),
        ("ali*", "alice password 1"),
        ("alice)(uid=*", "alice password 1"),
        ("alice", "bob password 2"),
        ("alice\x00", "alice password 1"),
    ],
)
def test_nothing_else_opens_it(campus: Platform, login: str, password: str) -> None:
    factories.make_person(campus, "alice")
    with pytest.raises(NotSignedIn) as caught:
        sign_in(campus, login, password)
    assert caught.value.reason == "wrong_password"


def test_guessing_is_braked_as_for_platform_accounts(campus: Platform) -> None:
    factories.make_person(campus, "alice")
    for _ in range(8):
        with pytest.raises(NotSignedIn):
            sign_in(campus, "alice", "wrong")
    with pytest.raises(OverLimit):
        sign_in(campus, "alice", "alice password 1")


def test_an_administrator_does_not_come_in_by_the_directory(campus: Platform) -> None:
    factories.make_person(campus, "admin", admin=True)
    with pytest.raises(Forbidden) as caught:
        sign_in(campus, "admin", "admin password 3")
    assert caught.value.reason == "admin_local"


def test_who_is_in_no_roster_is_told_so(campus: Platform) -> None:
    with pytest.raises(Forbidden) as caught:
        sign_in(campus, "bob", "bob password 2")
    assert caught.value.reason == "no_account"
    made = sign_in(with_settings(campus, signin_create=True), "bob", "bob password 2")
    assert (made.person.login, made.person.name, made.person.email) == ("bob", "李雷", "bob@example.edu")


def test_ldaps_with_the_certificate_that_was_given(campus: Platform, directory: openldap.Directory) -> None:
    alice = factories.make_person(campus, "alice")
    secure = with_settings(campus, ldap_url=directory.tls_url, ldap_ca_file=str(directory.ca_file))
    assert sign_in(secure, "alice", "alice password 1").person.id == alice.id


def test_a_certificate_that_nobody_vouches_for_is_refused(campus: Platform, directory: openldap.Directory) -> None:
    factories.make_person(campus, "alice")
    with pytest.raises(Unavailable):
        sign_in(with_settings(campus, ldap_url=directory.tls_url), "alice", "alice password 1")


def test_a_directory_that_is_away_blames_nobody(campus: Platform) -> None:
    with pytest.raises(Unavailable):
        sign_in(with_settings(campus, ldap_url="ldap://127.0.0.1:9"), "alice", "alice password 1")
    with campus.store.reading() as session:
        assert session.query(Audit).count() == 0


def test_what_is_set_up_wrongly_is_named(campus: Platform, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not it")
    with pytest.raises(Unavailable):
        sign_in(with_settings(campus, ldap_password_file=str(wrong)), "alice", "alice password 1")
    for values in (
        {"ldap_url": "https://x"},
        {"ldap_base": ""},
        {"ldap_password_file": str(tmp_path / "none")},
        {"ldap_ca_file": str(tmp_path / "none")},
    ):
        with pytest.raises(ConfigError):
            sign_in(with_settings(campus, **values), "alice", "alice password 1")


def test_without_a_directory_there_is_no_such_way(platform: Platform) -> None:
    with pytest.raises(NotFound):
        sign_in(platform, "alice", "alice password 1")
