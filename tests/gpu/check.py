"""`make test-gpu`: at most ten minutes on a machine with an NVIDIA card; the last line is one JSON object.

Installs what it needs: the student runtime with a CUDA build of torch, into a folder beside the usual one (settings
runtime.dir, mirror.torch_cuda). Nothing is passed over in silence: what is missing fails, with the reason.

    python tests/gpu/check.py [--runtime DIR] [--minutes N]     exit status 0: everything held
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gpu_cases
from gpu_bench import Bench, Failed
from gpu_machine import Lacking, Machine, look
from qianka import settings
from qianka.adapters import runtime
from qianka.errors import QiankaError
from qianka.sandbox import selftest
from qianka.testing.supervised import Direct, Launched

MINUTES = 10.0
FOR_CHECKS = 240.0
"""seconds that installing must leave"""
_FAULTS = (
    *(Failed, Lacking, QiankaError, OSError, AssertionError, RuntimeError),
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
)
"""whatever it is, the other checks still run and the report says what it was"""


def main(words: Sequence[str] | None = None) -> int:
    """Exit status: 0 everything held, 1 something did not, 3 no card to try it on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runtime", type=Path, help="a student runtime, or any environment, with a CUDA build of torch"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES)
    given = parser.parse_args(words)
    began = time.monotonic()
    report: dict[str, Any] = {"ok": False, "checks": {}}
    try:
        machine = look()
    except Lacking as error:
        return close(report, began, f"no card: {error}", 3)
    first = machine.cards[0]
    report |= {
        "driver": machine.driver,
        "cards": [card.model for card in machine.cards],
        "card_mib": first.memory >> 20,
    }
    say(f"{len(machine.cards)} × {first.model}, driver {machine.driver}")
    found = selftest.probe("bubblewrap", Path.cwd())
    if found["level"] == "refuse":
        why = ", ".join(item["code"] for item in found["missing"])
        return close(report, began, f"this machine cannot contain code: {why}; see qianka doctor", 1)
    ends = began + 60 * given.minutes
    place, why = student_runtime(given.runtime, until=ends - FOR_CHECKS)
    report["runtime"] = str(place) if place else f"none: {why}"
    with contextlib.ExitStack() as stack:
        runner = stack.enter_context(place_for_runs(place))
        bench = Bench(machine, runner, place, why, ends)
        run_all(bench, report, gpu_cases.CASES)
    failed = [name for name, told in report["checks"].items() if not told["ok"]]
    return close(report, began, f"failed: {', '.join(failed)}" if failed else None, 1 if failed else 0)


def run_all(bench: Bench, report: dict[str, Any], cases: Sequence[Callable[[Bench], dict[str, Any]]]) -> None:
    """Each check in turn; one that fails, for whatever reason, does not keep the others from running."""
    for case in cases:
        began = time.monotonic()
        told: dict[str, Any] = {"ok": False}
        try:
            told |= {"ok": True, **case(bench)}
        except _FAULTS as error:
            told["why"] = f"{type(error).__name__}: {error}"[:1000]
        told["seconds"] = round(time.monotonic() - began, 2)
        report["checks"][case.__name__] = told
        say(f"{'ok  ' if told['ok'] else 'FAIL'} {case.__name__} {json.dumps(told, ensure_ascii=False)}")


def student_runtime(given: Path | None, *, until: float) -> tuple[Path | None, str]:
    """Where torch with CUDA lies, or why there is none; made where it is missing."""
    if given is not None:
        is_there = (given / "bin/python").exists()
        return (given.absolute(), "") if is_there else (None, f"{given}/bin/python is not there")
    values = settings.load().settings
    usual = runtime.load(Path(values.runtime_dir))
    if usual is not None and usual.cuda is not None:
        return Path(usual.path), ""
    if time.monotonic() > until:
        return None, "no time was left to install it"
    # Beside the usual one, which may be serving a class with its CPU build at this moment.
    target = settings.default_data_dir().with_name("qianka-gpu") / "runtime"
    try:
        made = runtime.build(target, torch_index=values.mirror_torch_cuda, say=say, cards=True)
    except QiankaError as error:
        return None, f"{error.message.en} ({error.hint.en if error.hint else ''})"
    return (Path(made.path), "") if made.cuda else (None, f"torch {made.torch} at {made.path} has no CUDA")


def place_for_runs(place: Path | None) -> Launched | Direct:
    """Behind root's launcher, else as this user."""
    if os.geteuid() != 0:
        return Direct()
    return Launched(*(["--runtime", str(place), "--allow", str(place)] if place else []))


def say(text: str) -> None:
    """Progress, for people."""
    print(text, flush=True)


def close(report: dict[str, Any], began: float, why: str | None, status: int) -> int:
    """The last line."""
    report |= {"ok": status == 0, "seconds": round(time.monotonic() - began, 1)}
    if why is not None:
        report["why"] = why
    print(json.dumps(report, ensure_ascii=False), flush=True)
    return status


__all__ = ["Machine", "main"]
if __name__ == "__main__":
    sys.exit(main())
