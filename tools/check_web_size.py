"""Fail when the built pages have grown beyond what a phone on a shared network loads quickly; sizes are gzip's."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

BUILT = Path(__file__).parents[1] / "packages/qianka/src/qianka/server/static/app"
LOGIN = "src/pages/signin/Login.tsx"
MOST_AT_LOGIN = 350_000
MOST_IN_ALL = 1_200_000


def main() -> int:
    """Print the two sizes; 1 when one is too large."""
    chunks = json.loads((BUILT / ".vite/manifest.json").read_text("utf-8"))
    entry = next(name for name, chunk in chunks.items() if chunk.get("isEntry"))
    at_login = _compressed(_needed(chunks, entry) | _needed(chunks, LOGIN))
    in_all = _compressed({path.relative_to(BUILT).as_posix() for path in BUILT.glob("assets/*.js")})
    print(f"网页脚本（压缩后）/ compressed script: login {at_login / 1000:.0f} KB, all {in_all / 1000:.0f} KB")
    if at_login > MOST_AT_LOGIN or in_all > MOST_IN_ALL:
        print(f"上限 / limits: {MOST_AT_LOGIN / 1000:.0f} KB, {MOST_IN_ALL / 1000:.0f} KB", file=sys.stderr)
        return 1
    return 0


def _needed(chunks: dict[str, dict[str, Any]], name: str) -> set[str]:
    """The files that are loaded for chunk `name`, without what it loads later."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        found.add(str(chunks[one]["file"]))
        waiting += chunks[one].get("imports", [])
    return found


def _compressed(files: set[str]) -> int:
    return sum(len(gzip.compress((BUILT / name).read_bytes(), 9)) for name in files if name.endswith(".js"))


if __name__ == "__main__":
    sys.exit(main())
