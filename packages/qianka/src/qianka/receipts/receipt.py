"""The text of a receipt: a canonical body, its signature, and a file that shows any edited byte."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from qianka.errors import Refused, Text
from qianka.receipts.keys import Key, key_id_of

FORMAT = 1
MAX_FILE = 4 << 20


class Signed(NamedTuple):
    """`body`: the exact text that was signed; `signature` in base64."""

    body: str
    signature: str
    key_id: str


@dataclass(frozen=True)
class Verified:
    """A receipt whose signature is good; `is_trusted`: by a key the reader knew already."""

    body: dict[str, Any]
    key_id: str
    is_trusted: bool


def canonical(body: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no spaces: the same facts are the same bytes."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def make_body(
    *,
    receipt: str,
    submission: str,
    platform: str,
    login: str,
    student_number: str | None,
    cohort: str,
    lab: str,
    submitted_at: datetime,
    is_late: bool,
    filename: str,
    size: int,
    archive_sha256: str,
    tree_sha256: str,
    files: Iterable[Mapping[str, Any]],
    notes: Iterable[Mapping[str, str]],
) -> dict[str, Any]:
    """The facts of one hand-in; the time is the server's, in UTC."""
    return {
        "format": FORMAT,
        "receipt": receipt,
        "submission": submission,
        "platform": platform,
        "person": {"login": login, "student_number": student_number},
        "cohort": cohort,
        "lab": lab,
        "submitted_at": submitted_at.astimezone(timezone.utc).isoformat(timespec="milliseconds"),
        "late": is_late,
        "filename": filename,
        "size": size,
        "archive_sha256": archive_sha256,
        "tree_sha256": tree_sha256,
        "files": [dict(file) for file in files],
        "notes": [dict(note) for note in notes],
    }


def sign(key: Key, body: Mapping[str, Any]) -> Signed:
    """Sign a body; the id of the key becomes part of it."""
    text = canonical({**body, "key_id": key.key_id})
    return Signed(text, base64.b64encode(key.private.sign(text.encode("utf-8"))).decode("ascii"), key.key_id)


def render(body: str, signature: str, public: str) -> str:
    """The receipt as a file that people keep: JSON, one fact a line, always the same text for the same receipt."""
    whole = {"body": json.loads(body), "key_id": key_id_of(public), "public_key": public, "signature": signature}
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def verify_file(text: str, known_keys: Mapping[str, str] | None = None) -> Verified:
    """Check a receipt file without a network; `known_keys`: public keys in base64 by key id.

    Every byte counts (line ends apart: mail programs change them). Raises Refused when the text is no
    receipt, was edited, or carries another key under a known id.
    """
    plain = text.replace("\r\n", "\n").removeprefix("\ufeff")
    if len(plain) > MAX_FILE:
        raise _no_receipt()
    try:
        whole = json.loads(plain)
        body, signature, public = whole["body"], str(whole["signature"]), str(whole["public_key"])
        signed = canonical(body)
        same = render(signed, signature, public)
        verifier = Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
        raw_signature = base64.b64decode(signature, validate=True)
        key_id, is_ours = str(whole["key_id"]), body.get("format") == FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        raise _no_receipt() from error
    if not is_ours:
        raise _no_receipt()
    try:
        verifier.verify(raw_signature, signed.encode("utf-8"))
    except (InvalidSignature, UnicodeEncodeError) as error:
        raise _edited() from error
    if same.rstrip("\n") != plain.rstrip("\n") or body.get("key_id") != key_id:
        raise _edited()
    known = dict(known_keys or {})
    if key_id in known and known[key_id] != public:
        raise _edited()
    return Verified(body, key_id, key_id in known)


def differences(body: Mapping[str, Any], files: Iterable[Mapping[str, Any]]) -> list[Text]:
    """How the files of today differ from those of the receipt: edited, missing, added."""
    then = {str(file["path"]): str(file["sha256"]) for file in body.get("files", [])}
    now = {str(file["path"]): str(file["sha256"]) for file in files}
    found = []
    for path in sorted(then.keys() | now.keys()):
        if path not in now:
            found.append(Text(f"缺少 {path}", f"{path} is missing"))
        elif path not in then:
            found.append(Text(f"多出 {path}", f"{path} was added"))
        elif then[path] != now[path]:
            found.append(Text(f"{path} 被改过", f"{path} was edited"))
    return found


def _no_receipt() -> Refused:
    return Refused(
        Text("这不是千卡的提交回执", "this is no receipt of Qianka"),
        Text("用 qianka receipt show 重新取一份", "fetch it again: qianka receipt show"),
        reason="no_receipt",
    )


def _edited() -> Refused:
    return Refused(
        Text("回执被改动过，签名不符", "the receipt was edited: its signature does not fit"),
        Text(
            "向平台重新取回执；以平台签出的为准", "fetch the receipt again; the one the platform signed is what counts"
        ),
        reason="bad_signature",
    )
