"""The ways to sign in that this platform offers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from qianka.adapters.cas import Cas
from qianka.adapters.ldap import Ldap
from qianka.adapters.oidc import Oidc
from qianka.errors import ConfigError, NotFound, Text
from qianka.services.platform import Platform


@dataclass(frozen=True)
class Method:
    """A way to sign in; `start_url`: where its own page begins, None where we ask for the password."""

    name: str
    kind: str
    title: Text
    start_url: str | None = None

    @property
    def title_zh(self) -> str:
        return self.title.zh

    @property
    def title_en(self) -> str:
        return self.title.en


LOCAL = Method("local", "local", Text("平台账户", "Platform account"))


def methods(platform: Platform) -> list[Method]:
    """All ways that are set up, those of the campus first."""
    found = platform.settings
    offered: list[Method] = []
    if found.oidc_issuer:
        title = _title(found.oidc_title, "统一身份认证（OIDC）", "Campus sign-in (OIDC)")
        offered.append(Method("oidc", "oidc", title, "/api/auth/oidc/start"))
    if found.cas_url:
        title = _title(found.cas_title, "统一身份认证（CAS）", "Campus sign-in (CAS)")
        offered.append(Method("cas", "cas", title, "/api/auth/cas/start"))
    if found.ldap_url:
        offered.append(Method("ldap", "ldap", _title(found.ldap_title, "校园账户", "Campus account")))
    return [*offered, LOCAL]


def provider_of(platform: Platform) -> Oidc:
    """The OIDC provider that is set up; raises NotFound, ConfigError for a secret that cannot be read."""
    found = platform.settings
    if not found.oidc_issuer:
        raise unknown_method("oidc")
    secret = _secret("oidc.secret_file", found.oidc_secret_file)
    return Oidc(found.oidc_issuer, found.oidc_client, secret, found.oidc_scope, found.oidc_claim)


def cas_of(platform: Platform) -> Cas:
    """The CAS server that is set up; raises NotFound."""
    if not platform.settings.cas_url:
        raise unknown_method("cas")
    return Cas(platform.settings.cas_url, platform.settings.cas_attribute)


def directory_of(platform: Platform) -> Ldap:
    """The directory that is set up; raises NotFound, ConfigError for a password that cannot be read."""
    found = platform.settings
    if not found.ldap_url:
        raise unknown_method("ldap")
    password = _secret("ldap.password_file", found.ldap_password_file)
    return Ldap(found.ldap_url, found.ldap_base, found.ldap_attribute, found.ldap_bind, password, found.ldap_ca_file)


def unknown_method(name: str) -> NotFound:
    """There is no way to sign in of that name."""
    return NotFound(
        Text(f"没有登录方式 {name!r}", f"there is no way to sign in named {name!r}"),
        Text("刷新登录页", "reload the sign-in page"),
        reason="no_method",
    )


def _title(given: str, zh: str, en: str) -> Text:
    return Text(given, given) if given else Text(zh, en)


def _secret(key: str, file: str) -> str:
    if not file:
        return ""
    try:
        return Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            Text(f"{key} 指的文件读不了：{file}", f"the file of {key} cannot be read: {file}"),
            Text("让服务用户能读它", "let the user that serves read it"),
        ) from error
