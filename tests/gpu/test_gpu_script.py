"""What `make test-gpu` does that needs no card: nothing is passed over, every end has its reason and its figures."""

from __future__ import annotations

import importlib
import json
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from qianka.domain.resources import Card
from qianka.errors import Text, Unavailable
from qianka.testing.supervised import Ended

HERE = Path(__file__).parent
GIB = 1 << 30
CARD = Card(index=3, uuid="GPU-00112233-4455-6677-8899-aabbccddeeff", model="NVIDIA H200", memory=140 * GIB)
IDENTITY = CARD.uuid.removeprefix("GPU-").replace("-", "")


class Script(NamedTuple):
    """The modules of the script, which is started by path and so imports its neighbours by name."""

    check: ModuleType
    cases: ModuleType
    bench: ModuleType
    machine: ModuleType


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    sys.path.insert(0, str(HERE))
    try:
        yield Script(*(importlib.import_module(name) for name in ("check", "gpu_cases", "gpu_bench", "gpu_machine")))
    finally:
        sys.path.remove(str(HERE))


class Driver:
    """A driver whose card holds what the test says."""

    cards = (CARD,)
    driver = "999.1"

    def __init__(self) -> None:
        self.memory = [500 << 20]
        self.pids: list[set[int]] = [set()]

    def used(self, _: Card) -> int:
        return self.memory.pop(0) if len(self.memory) > 1 else self.memory[0]

    def holders(self, _: Card) -> set[int]:
        return self.pids.pop(0) if len(self.pids) > 1 else self.pids[0]


class Runner:
    """Answers each run by the program's name."""

    def __init__(self, base: Path) -> None:
        self.base = self.data = base
        self.answers: dict[str, dict[str, Any]] = {}
        self.said: dict[str, str] = {}
        self.started: list[tuple[dict[str, Any], list[Any]]] = []

    def run(self, spec: dict[str, Any], *, cards: list[Any]) -> Ended:
        self.started.append((spec, cards))
        name = Path(spec["argv"][1]).name if cards else "none"
        result = {"state": "COMPLETED", "reason": None, "isolation": "full", "missing": [], "wall": 4.0}
        result |= {"gpu_seconds": 4.0 * len(cards), "peak_card_memory": None, **self.answers.get(name, {})}
        told = self.said.get(name, "")
        return Ended(self.base, result, told, told)


@pytest.fixture
def bench(script: Script, tmp_path: Path) -> Any:
    return script.bench.Bench(
        machine=Driver(), runner=Runner(tmp_path), runtime=None, no_runtime="no network", ends=time.monotonic() + 600
    )


def test_without_a_card_it_fails_and_the_last_line_says_why(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a card: make test-gpu")
    assert script.check.main([]) == 3
    last = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert last["ok"] is False
    assert "NVIDIA driver" in last["why"]


def test_every_check_is_told_of_whatever_happens_to_it(script: Script, bench: Any) -> None:
    def good(_: Any) -> dict[str, Any]:
        return {"figure": 7}

    def bad(_: Any) -> dict[str, Any]:
        raise script.bench.Failed("it is not so")

    def odd(_: Any) -> dict[str, Any]:
        raise TimeoutError("nothing came")

    report: dict[str, Any] = {"checks": {}}
    script.check.run_all(bench, report, [bad, odd, good])
    assert list(report["checks"]) == ["bad", "odd", "good"]
    assert report["checks"]["good"] | {"seconds": 0} == {"ok": True, "figure": 7, "seconds": 0}
    assert "it is not so" in report["checks"]["bad"]["why"]
    assert "nothing came" in report["checks"]["odd"]["why"]


def test_a_missing_runtime_fails_what_needs_it_with_the_reason(script: Script, bench: Any) -> None:
    report: dict[str, Any] = {"checks": {}}
    script.check.run_all(bench, report, script.cases.CASES)
    assert set(report["checks"]) == {case.__name__ for case in script.cases.CASES}  # none is left out
    for name in ("memory_from_outside", "mixed_precision_saves_memory", "a_whole_training"):
        assert "no network" in report["checks"][name]["why"], name


def test_time_that_is_over_is_a_reason(script: Script, bench: Any) -> None:
    bench.ends = time.monotonic() + 1
    with pytest.raises(script.bench.Failed, match="ten minutes"):
        bench.spec(["/work/driver.py"])


def test_a_run_gets_no_more_time_than_is_left(bench: Any) -> None:
    bench.ends = time.monotonic() + 30
    assert bench.spec(["/work/driver.py"], wall=60)["limits"]["wall"] < 31


@pytest.mark.parametrize(
    ("peak", "said", "holds"),
    [
        (GIB + (400 << 20), f"cards 1 {IDENTITY}", True),
        (None, f"cards 1 {IDENTITY}", False),
        (GIB // 2, f"cards 1 {IDENTITY}", False),
        (4 * GIB, f"cards 1 {IDENTITY}", False),
        (GIB + 1, f"cards 2 {IDENTITY}", False),
        (GIB + 1, "cards 1 " + "0" * 32, False),
    ],
)
def test_cuda_inside_is_the_allotted_card_and_its_memory_is_seen(
    script: Script, bench: Any, peak: int | None, said: str, holds: bool
) -> None:
    bench.runner.answers["driver.py"] = {"peak_card_memory": peak}
    bench.runner.said["driver.py"] = said
    if holds:
        assert script.cases.cuda_in_the_sandbox(bench)["peak_card_mib"] == 1424
        assert bench.runner.started[0][1][0]["uuid"] == CARD.uuid
    else:
        with pytest.raises(script.bench.Failed):
            script.cases.cuda_in_the_sandbox(bench)


def test_a_run_without_a_card_that_can_use_one_is_a_hole(script: Script, bench: Any) -> None:
    bench.runner.answers["none"] = {"state": "FAILED"}
    bench.runner.said["none"] = "cuInit: CUDA error 100"
    assert script.cases.no_card_without_asking(bench) == {}
    bench.runner.answers["none"] = {"state": "COMPLETED"}
    with pytest.raises(script.bench.Failed, match="without a card"):
        script.cases.no_card_without_asking(bench)


def test_a_card_is_clean_when_its_processes_and_its_memory_are_back(script: Script, bench: Any) -> None:
    bench.machine.memory = [500 << 20, 9 * GIB, 500 << 20]
    bench.machine.pids = [{77}, set()]
    bench.runner.answers["driver.py"] = {"state": "TIMEOUT", "reason": {"code": "timeout_wall"}}
    assert script.cases.clean_after_time_is_up(bench)["seconds_until_clean"] < 5


def test_mixed_precision_must_save_memory_as_seen_from_outside(script: Script, bench: Any) -> None:
    bench.runtime = Path("/usr")
    facts = {"loss": 2.3, "step_seconds": 0.1, "reserved": 5 * GIB, "half": "torch.bfloat16"}
    bench.runner.said["precision.py"] = json.dumps(facts)
    peaks = iter([8 * GIB, 5 * GIB, 8 * GIB, 8 * GIB])
    real = bench.runner.run

    def run(spec: dict[str, Any], *, cards: list[Any]) -> Ended:
        bench.runner.answers["precision.py"] = {"peak_card_memory": next(peaks)}
        return real(spec, cards=cards)  # type: ignore[no-any-return]

    bench.runner.run = run
    figures = script.cases.mixed_precision_saves_memory(bench)
    assert figures["ratio"] == 0.625
    assert [spec["argv"][2] for spec, _ in bench.runner.started] == ["full", "mixed"]
    with pytest.raises(script.bench.Failed, match="too little"):
        script.cases.mixed_precision_saves_memory(bench)


def test_as_many_runs_as_cards_and_one_waits(script: Script, bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from qianka.domain.resources import Node

    node = Node(name="here", cores=(0, 1), memory=8 * GIB, cards=(CARD,))
    monkeypatch.setattr(script.cases, "inventory", lambda _: node)
    assert script.cases.two_runs_never_share_a_card(bench)["cards"] == 1


def test_the_pictures_are_in_mnists_own_format(script: Script, tmp_path: Path) -> None:
    script.cases.write_pictures(tmp_path / "p", train=30, test=10)
    images = (tmp_path / "p/train-images-idx3-ubyte").read_bytes()
    assert struct.unpack(">IIII", images[:16]) == (2051, 30, 28, 28)
    assert len(images) == 16 + 30 * 784
    assert (tmp_path / "p/test-labels-idx1-ubyte").read_bytes()[8:] == bytes(range(10))


def test_the_lab_says_its_device_in_one_word(script: Script) -> None:
    texts = [path.read_text("utf-8") for path in script.cases.LAB.glob("*.py")]
    assert any('torch.device("cpu")' in text for text in texts)


def test_a_runtime_that_cannot_be_made_is_told_with_its_reason(
    script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def build(*_: Any, **__: Any) -> Any:
        raise Unavailable(Text("没有网络", "no route to the index"), Text("检查网络", "check the network"))

    monkeypatch.setattr(script.check.runtime, "load", lambda _: None)
    monkeypatch.setattr(script.check.runtime, "build", build)
    place, why = script.check.student_runtime(None, until=time.monotonic() + 60)
    assert place is None
    assert "no route to the index" in why
    assert script.check.student_runtime(tmp_path, until=0.0)[1].endswith("bin/python is not there")
    assert script.check.student_runtime(None, until=0.0) == (None, "no time was left to install it")
