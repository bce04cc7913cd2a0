"""CAS 3: where a browser is sent, and what a service ticket is worth.

Protocol: CAS Protocol 3.0 Specification, sections 2.1 and 2.5 (/p3/serviceValidate).
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, ParseError

import httpx

from qianka.domain.people import Identified
from qianka.errors import NotSignedIn, Text, Unavailable

NAMESPACE = "{http://www.yale.edu/tp/cas}"
LARGEST = 1 << 20
SECONDS = 10.0


@dataclass(frozen=True)
class Cas:
    """One CAS server; `attribute` names what our rosters know people by, empty: the user name."""

    url: str
    attribute: str = ""

    def login_url(self, service: str) -> str:
        """Where the browser signs in; it comes back to `service` with a ticket."""
        return f"{self.url.rstrip('/')}/login?{urlencode({'service': service})}"

    def validate(self, ticket: str, service: str) -> Identified:
        """Whom the ticket is for. Raises NotSignedIn where CAS denies it, Unavailable where CAS does not answer."""
        query = urlencode({"service": service, "ticket": ticket})
        try:
            answer = httpx.get(f"{self.url.rstrip('/')}/p3/serviceValidate?{query}", timeout=SECONDS, trust_env=False)
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise _away() from error
        return self._read(answer.content)

    def _read(self, content: bytes) -> Identified:
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import fromstring

        if len(content) > LARGEST:
            raise _away()
        try:
            root: Element = fromstring(content)
        except (ParseError, DefusedXmlException, ValueError) as error:
            raise _away() from error
        success = root.find(f"{NAMESPACE}authenticationSuccess")
        user = "" if success is None else (success.findtext(f"{NAMESPACE}user") or "").strip()
        if success is None or not user:
            raise NotSignedIn(
                Text("统一认证没有确认这次登录", "CAS did not confirm this sign-in"),
                Text("重新登录一次", "sign in once more"),
                reason="denied",
            )
        told = _attributes(success)
        return Identified(
            subject=user,
            campus_id=told.get(self.attribute, "") if self.attribute else user,
            name=next((told[key] for key in ("cn", "displayName", "name") if told.get(key)), ""),
            email=told.get("mail") or told.get("email") or "",
        )


def _attributes(success: Element) -> dict[str, str]:
    """The first value of each attribute."""
    told: dict[str, str] = {}
    found = success.find(f"{NAMESPACE}attributes")
    for child in () if found is None else found:
        told.setdefault(child.tag.removeprefix(NAMESPACE), (child.text or "").strip())
    return told


def _away() -> Unavailable:
    return Unavailable(
        Text("统一认证（CAS）没有正常回答", "CAS does not answer as it should"),
        Text("稍后再试，或用平台账户登录", "try again later, or sign in with the platform account"),
        reason="signin_away",
    )
