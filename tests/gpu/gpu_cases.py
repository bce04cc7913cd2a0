"""The checks themselves: each returns its figures, or raises Failed."""

from __future__ import annotations

import os
import random
import signal
import struct
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gpu_bench import GIB, Bench, Failed, mib, need, told
from gpu_machine import fence_of
from qianka import jobdir, settings
from qianka.domain.jobs import Waiting
from qianka.domain.resources import Label, Resources
from qianka.engines.local.nodes import inventory
from qianka.policy.plan import plan
from qianka.testing.supervised import Direct, wait_for, wait_gone

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "course/labs/lab1-mnist/solution/code"
OVERHEAD = 2 * GIB
"""most that a CUDA context may take beside what torch holds"""
CLOSE = 64 << 20
"""bytes that a card may differ by before and after"""


def cuda_in_the_sandbox(bench: Bench) -> dict[str, Any]:
    """CUDA starts inside, by the driver alone; the run sees the card it was given and no other."""
    ended = bench.run(["/work/driver.py", str(GIB), "4"])
    need(ended.result["state"] == "COMPLETED", f"{ended.result['reason']}: {ended.stderr.strip()[-500:]}")
    words = ended.stdout.split()
    need(words[:2] == ["cards", "1"], f"the run sees other cards: {ended.stdout!r}")
    identity = bench.card.uuid.removeprefix("GPU-").replace("-", "")
    need(words[2] == identity or bench.card.uuid.startswith("MIG-"), f"not card {bench.card.uuid} but {words[2]}")
    peak = ended.result["peak_card_memory"]
    need(peak is not None, "the supervisor could not read the card's memory")
    need(GIB <= peak < GIB + OVERHEAD, f"1 GiB was taken, {mib(peak)} MiB were seen from outside")
    need(
        abs(ended.result["gpu_seconds"] - ended.result["wall"]) < 0.01, "GPU-seconds are not the wall time of one card"
    )
    return {"peak_card_mib": mib(peak), "level": ended.result["isolation"], "missing": ended.result["missing"]}


def no_card_without_asking(bench: Bench) -> dict[str, Any]:
    """A run that asked for none cannot use one."""
    ended = bench.run(["/work/driver.py", str(GIB), "0"], cards=())
    need(ended.result["state"] == "FAILED", f"a run without a card ended {ended.result['state']}: {ended.stdout!r}")
    need("cuInit" in ended.stderr or "libcuda" in ended.stderr, f"it failed for another reason: {ended.stderr[-500:]}")
    return {}


def memory_from_outside(bench: Bench) -> dict[str, Any]:
    """What we measure agrees with what torch says, but for the context that torch does not count."""
    size = min(2 * GIB, bench.card.memory // 4)
    ended = bench.run(["/work/memory.py", str(size), "4"], torch=True, wall=120)
    facts, peak = told(ended), ended.result["peak_card_memory"]
    need(facts["cards"] == 1, f"torch sees {facts['cards']} cards")
    need(facts["sum"] == 1000.0, "the card computes wrongly")
    need(peak is not None, "the supervisor could not read the card's memory")
    reserved = facts["reserved"]
    need(reserved <= peak <= reserved + OVERHEAD, f"torch holds {mib(reserved)} MiB, outside sees {mib(peak)} MiB")
    return {
        "torch_reserved_mib": mib(reserved),
        "outside_mib": mib(peak),
        "context_mib": mib(peak - reserved),
        "torch": facts["torch"],
        "cuda": facts["cuda"],
    }


def clean_after_time_is_up(bench: Bench) -> dict[str, Any]:
    """A run that is ended leaves no process on the card, and its memory comes back."""
    before = bench.machine.used(bench.card)
    ended = bench.run(["/work/driver.py", str(2 * GIB), "600"], wall=6)
    need(ended.reason == "timeout_wall", f"it ended by {ended.result['reason']}: {ended.stderr[-500:]}")
    return {"seconds_until_clean": _until_clean(bench, before)}


def clean_after_the_supervisor_was_killed(bench: Bench) -> dict[str, Any]:
    """Even kill -9 of whoever watches leaves nothing on the card."""
    before = bench.machine.used(bench.card)
    spec = bench.spec(["/work/driver.py", str(2 * GIB), "600"])
    directory = bench.runner.prepare(spec, 1, cards=[fence_of(bench.card)])
    child = None
    if isinstance(bench.runner, Direct):
        child = bench.runner.start(directory)
        pid = child.pid
    else:
        answer = bench.runner.ask(do="start", job=spec["job"], run=1)
        need(answer["ok"], f"the launcher refused: {answer}")
        pid = answer["pid"]
    try:
        wait_for(lambda: "cards" in jobdir.read_log(directory, 1, "stdout")[0], 60)
        need(bool(bench.machine.holders(bench.card)), "the driver tells of no process on the card")
    finally:
        os.kill(pid, signal.SIGKILL)
        if child is not None:
            child.wait(20)
        wait_gone(pid, 20)
    return {"seconds_until_clean": _until_clean(bench, before)}


def mixed_precision_saves_memory(bench: Bench) -> dict[str, Any]:
    """The same training takes less of the card with autocast, seen from outside."""
    rows = min(32_768, max(1024, int(0.35 * bench.card.memory / (16 * 2 * 2048 * 4)) // 256 * 256))
    peaks: dict[str, int] = {}
    figures: dict[str, Any] = {"rows": rows}
    for kind in ("full", "mixed"):
        ended = bench.run(["/work/precision.py", kind, str(rows)], torch=True, wall=120)
        facts = told(ended)
        need(facts["loss"] == facts["loss"], f"the loss of {kind} precision is not a number")
        peaks[kind] = int(ended.result["peak_card_memory"] or 0)
        figures[kind] = {
            "outside_mib": mib(peaks[kind]),
            "torch_reserved_mib": mib(facts["reserved"]),
            "step_ms": round(1000 * facts["step_seconds"], 2),
        }
        figures["half"] = facts["half"]
    figures["ratio"] = round(peaks["mixed"] / max(1, peaks["full"]), 3)
    need(0 < peaks["mixed"] < 0.85 * peaks["full"], f"mixed precision saves too little: {figures}")
    return figures


def a_whole_training(bench: Bench) -> dict[str, Any]:
    """Lab 1's solution, its one word for the device changed, trains on the card and gets it right."""
    code = bench.runner.base / "lab-code"
    code.mkdir(exist_ok=True)
    for path in LAB.glob("*.py"):
        text = path.read_text("utf-8").replace('torch.device("cpu")', 'torch.device("cuda")')
        (code / path.name).write_text(text, "utf-8")
    (code / "score.py").write_text((Path(__file__).parent / "inside/score.py").read_text("utf-8"), "utf-8")
    work = str(bench.tree("lab", code))
    pictures = bench.runner.base / "pictures"
    write_pictures(pictures)
    data = [{"source": str(bench.tree("lab-data", pictures)), "target": "/data"}]
    words = ["/work/train.py", "--data", "/data", "--out", "/out", "--epochs", "4", "--batch-size", "32"]
    ended = bench.run(words, torch=True, wall=180, work=work, mounts=data)
    need(ended.result["state"] == "COMPLETED", f"{ended.result['reason']}: {ended.stderr.strip()[-800:]}")
    curve = ended.directory / "runs/1/metrics.jsonl"
    need(curve.exists() and curve.stat().st_size > 0, "no curve was copied out while it ran")
    model = bench.tree("lab-model", ended.out)
    mounts = [*data, {"source": str(model), "target": "/model"}]
    scored = bench.run(["/work/score.py", "/data", "/model/model.pt"], torch=True, wall=90, work=work, mounts=mounts)
    accuracy = told(scored)["accuracy"]
    need(accuracy >= 0.9, f"accuracy {accuracy:.3f} after a training on the card")
    return {
        "accuracy": round(accuracy, 4),
        "wall": ended.result["wall"],
        "gpu_seconds": ended.result["gpu_seconds"],
        "peak_card_mib": mib(ended.result["peak_card_memory"]),
        "peak_memory_mib": mib(ended.result["peak_memory"]),
    }


def two_runs_never_share_a_card(bench: Bench) -> dict[str, Any]:
    """As many runs as cards get one each; one more waits and says why; more cards than there are: never."""
    node = inventory(settings.load().settings)
    need([card.uuid for card in node.cards] == [card.uuid for card in bench.machine.cards], "the inventory differs")
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    count = len(node.cards)

    def waiting(name: str, cards: int) -> Waiting:
        wanted = Resources(cpus=0.01, memory=1 << 20, gpus=cards)
        return Waiting(job=name, person=1, resources=wanted, label=Label.NORMAL, queued_at=now, wall_limit=60.0)

    made = plan(now, [node], [], [waiting(f"j{number}", 1) for number in range(count + 1)])
    given = [card.uuid for placement in made.placements.values() for card in placement.cards]
    need(sorted(given) == sorted(card.uuid for card in node.cards), f"cards were given as {given}")
    need(list(made.reasons.values()) == ["waiting_cards"], f"the one too many was told {made.reasons}")
    need(
        plan(now, [node], [], [waiting("all", count + 1)]).reasons == {"all": "impossible"}, "more cards than there are"
    )
    figures: dict[str, Any] = {"cards": count}
    if count > 1:
        second = bench.machine.cards[1]
        ended = bench.run(["/work/driver.py", str(GIB), "0"], cards=(second,))
        identity = second.uuid.removeprefix("GPU-").replace("-", "")
        need(ended.stdout.split() == ["cards", "1", identity], f"the second card was not given: {ended.stdout!r}")
    else:
        figures["second_card"] = "this machine has one card"
    return figures


def write_pictures(folder: Path, *, train: int = 2000, test: int = 500) -> None:
    """Ten kinds of noisy pictures in MNIST's own format: each kind is bright at its own place."""
    folder.mkdir(exist_ok=True)
    chance = random.Random(7)
    for name, count in (("train", train), ("test", test)):
        labels = bytes(number % 10 for number in range(count))
        rows = bytearray()
        for label in labels:
            picture = bytearray(chance.randbytes(784)).translate(bytes(value // 4 for value in range(256)))
            top, left = 3 + 12 * (label // 5), 2 + 5 * (label % 5)
            for row in range(top, top + 8):
                picture[28 * row + left : 28 * row + left + 4] = b"\xf0" * 4
            rows += picture
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + labels)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + bytes(rows))


def _until_clean(bench: Bench, before: int) -> float:
    began = time.monotonic()
    while time.monotonic() - began < 20:
        if not bench.machine.holders(bench.card) and bench.machine.used(bench.card) <= before + CLOSE:
            return round(time.monotonic() - began, 3)
        time.sleep(0.05)  # the driver has nothing to wait on
    raise Failed(
        f"20 s later: processes {sorted(bench.machine.holders(bench.card))}, "
        f"{mib(bench.machine.used(bench.card))} MiB taken, {mib(before)} before"
    )


CASES = (
    cuda_in_the_sandbox,
    no_card_without_asking,
    two_runs_never_share_a_card,
    clean_after_time_is_up,
    clean_after_the_supervisor_was_killed,
    memory_from_outside,
    mixed_precision_saves_memory,
    a_whole_training,
)
