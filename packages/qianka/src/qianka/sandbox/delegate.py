"""A control group for an ordinary user: starting again inside a scope that systemd delegates."""

from __future__ import annotations

import os
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def command(argv: list[str], environment: Mapping[str, str]) -> list[str] | None:
    """`argv` inside a delegated scope of the user's own systemd; None where there is none (or we are root)."""
    program = shutil.which("systemd-run")
    folder = environment.get("XDG_RUNTIME_DIR")
    if (
        os.geteuid() == 0
        or program is None
        or not folder
        or not os.path.exists(os.path.join(folder, "systemd/private"))
    ):
        return None
    return [program, "--user", "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--", *argv]
