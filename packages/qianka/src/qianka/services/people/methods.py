"""The ways to sign in that this platform offers."""

from __future__ import annotations

from dataclasses import dataclass

from qianka.errors import NotFound, Text
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
    return [LOCAL]


def unknown_method(name: str) -> NotFound:
    """There is no way to sign in of that name."""
    return NotFound(
        Text(f"没有登录方式 {name!r}", f"there is no way to sign in named {name!r}"),
        Text("刷新登录页", "reload the sign-in page"),
        reason="no_method",
    )
