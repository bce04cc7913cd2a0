"""Whether the files of a backup are all that its database names, and its receipts are what the platform signed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from qianka import receipts
from qianka.errors import ConfigError, Refused, Text
from qianka.services.backups.manifest import Entry
from qianka.services.backups.objects import Objects
from qianka.store.repos import backups as repo
from qianka.store.session import Store
from qianka.store.upgrade import upgrade

KEY = "secrets/receipt.pem"


class Problems(NamedTuple):
    """`missing`: without it the backup is none. `notes`: what can be made again."""

    missing: list[Text]
    notes: list[Text]


@contextmanager
def current(file: Path) -> Iterator[Store]:
    """A snapshot as a database of this version: a copy, upgraded; the snapshot itself is not touched."""
    with tempfile.TemporaryDirectory(prefix="qianka-backup-") as folder:
        copy = Path(folder) / "database.sqlite"
        shutil.copyfile(file, copy)
        store = Store(f"sqlite:///{copy}")
        try:
            upgrade(store)
            yield store
        finally:
            store.close()


def references(store: Store, entries: Mapping[str, Entry]) -> Problems:
    """Compare what the database names with the files (by path)."""
    missing: list[Text] = []
    notes: list[Text] = []
    with store.reading() as session:
        for submission, archive, tree in repo.accepted(session):
            blob = entries.get(f"blobs/{archive}")
            if blob is None or blob.sha256 != archive:
                missing.append(Text(f"提交 {submission} 的压缩包", f"the archive of the hand-in {submission}"))
            elif tree is not None and f"trees/{tree}" not in entries:
                notes.append(
                    Text(f"提交 {submission} 的文件树会重新解开", f"the tree of {submission} will be unpacked again")
                )
        for what, sha256 in repo.board_blobs(session):
            blob = entries.get(f"blobs/{sha256}")
            if blob is None or blob.sha256 != sha256:
                missing.append(Text(f"榜单文件 {what}", f"the file of the board {what}"))
        for cohort, lab, version in sorted(repo.lab_versions(session)):
            if f"labs/{cohort}/{lab}/{version}/lab.toml" not in entries:
                missing.append(Text(f"实验 {cohort}/{lab} 的版本 {version}", f"version {version} of {cohort}/{lab}"))
        signed = any(True for _ in repo.signed(session))
    if signed and KEY not in entries:
        missing.append(Text("回执的签名密钥", "the key that signs receipts"))
    return Problems(missing, notes)


def receipts_verified(store: Store, public: str) -> tuple[int, list[str]]:
    """How many receipts carry a good signature by the key, and the ids of those that do not."""
    good, bad = 0, []
    key_id = receipts.key_id_of(public)
    with store.reading() as session:
        for receipt, body, signature, signer in repo.signed(session):
            try:
                verified = receipts.verify_file(receipts.render(body, signature, public), {key_id: public})
            except (Refused, json.JSONDecodeError):
                bad.append(receipt)
                continue
            if signer == key_id and verified.is_trusted and verified.body.get("receipt") == receipt:
                good += 1
            else:
                bad.append(receipt)
    return good, bad


def public_key(folder: Path, entries: Mapping[str, Entry]) -> str | None:
    """The public half of the signing key in a backup; None: there is none, or it is no key."""
    entry = entries.get(KEY)
    if entry is None or entry.sha256 is None:
        return None
    try:
        return receipts.load_or_make_key(Objects(folder).path(entry.sha256)).public
    except (ConfigError, OSError):
        return None
