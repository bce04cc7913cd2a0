"""Root's steps in a data directory that an ordinary user owns: taken with that user's rights.

They may have filled it with links; as that user root can do no more harm there than they.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def as_owner(folder: Path) -> Iterator[None]:
    """With the effective user and group of `folder`'s owner, when root asks and the folder is not root's."""
    stat = os.lstat(folder)
    if os.geteuid() != 0 or stat.st_uid == 0:
        yield
        return
    group = os.getegid()
    os.setegid(stat.st_gid)
    os.seteuid(stat.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
