"""The code of a person's own job: unpacked and checked like a hand-in; its id is good for its owner alone."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from qianka import intake
from qianka.errors import Forbidden, NotFound, Text
from qianka.services.platform import Caller, Platform

MAX_BYTES = 500 << 20
"""of one job's code, unpacked"""


@dataclass(frozen=True)
class Code:
    """Checked code; `id` is what a job is submitted with."""

    id: str
    tree: intake.Tree


def keep(platform: Platform, caller: Caller, archive: Path, filename: str) -> Code:
    """Unpack the archive and give it an id. Raises Refused naming the rule it breaks."""
    if caller.person_id is None:
        raise Forbidden(Text("平台自身没有代码", "the platform itself has no code"))
    rules = intake.Rules(max_archive=platform.settings.server_upload_mb * 1_000_000, max_bytes=MAX_BYTES)
    tree = intake.take(archive, platform.folders.trees, rules, filename)
    return Code(f"{tree.digest}.{_seal(platform, caller.person_id, tree.digest)}", tree)


def tree_of(platform: Platform, caller: Caller, code: str) -> str:
    """The digest of the tree that an id names; raises NotFound for an id that is not the caller's."""
    digest, _, seal = code.partition(".")
    right = _seal(platform, caller.person_id or 0, digest)
    if not hmac.compare_digest(seal.encode(), right.encode()):
        raise NotFound(
            Text("找不到任务的代码", "the code of the job is not here"),
            Text("重新提交一次", "submit it once more"),
            reason="no_tree",
        )
    return digest


def _seal(platform: Platform, person_id: int, digest: str) -> str:
    # A digest alone would let whoever learns it read somebody else's code.
    return hmac.new(
        _key(platform.folders.secrets / "code.key"), f"{person_id}:{digest}".encode(), hashlib.sha256
    ).hexdigest()


def _key(path: Path) -> bytes:
    """The secret of this platform for ids of code; made on first use, by whoever is first."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        aside.write_bytes(secrets.token_bytes(32))
        aside.chmod(0o600)
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
        return path.read_bytes()
