"""Which nodes a run with cards gets, on a made-up /dev."""

from __future__ import annotations

from typing import Any

import pytest
from qianka.sandbox.devices import NoSuchCard, arguments, nodes
from qianka.sandbox.environment import variables

DEV = ["null", "nvidia0", "nvidia1", "nvidia2", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"]
DEV += ["nvidia-caps/nvidia-cap21", "nvidia-caps/nvidia-cap22"]


def card(index: int, **more: Any) -> dict[str, Any]:
    return {"index": index, "uuid": f"GPU-{index}", "model": "A100", "memory": 80 << 30, "simulated": False, **more}


def test_only_the_allotted_card_and_what_all_share() -> None:
    assert nodes([card(1)], DEV) == ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia1"]


def test_a_part_of_a_card_brings_its_capabilities() -> None:
    found = nodes([card(0, capabilities=["nvidia-cap21"])], DEV)
    assert "/dev/nvidia-caps/nvidia-cap21" in found
    assert "/dev/nvidia-caps/nvidia-cap22" not in found


def test_a_simulated_card_brings_nothing() -> None:
    assert nodes([card(0, simulated=True)], DEV) == []
    assert arguments([card(0, simulated=True)], DEV, ["pci0000:00"]) == []


@pytest.mark.parametrize("missing", [card(7), card(0, capabilities=["../../sda"])])
def test_a_node_that_is_not_there_is_told(missing: dict[str, Any]) -> None:
    with pytest.raises(NoSuchCard, match="is not there"):
        nodes([missing], DEV)


def test_nodes_are_bound_as_devices_and_the_bus_is_readable() -> None:
    found = arguments([card(2)], DEV, ["pci0000:00", "pci0000:80", "virtual"])
    triples = [tuple(found[at : at + 3]) for at in range(0, len(found), 3)]
    assert ("--dev-bind", "/dev/nvidia2", "/dev/nvidia2") in triples
    assert ("--ro-bind-try", "/sys/devices/pci0000:80", "/sys/devices/pci0000:80") in triples
    assert not any("virtual" in word for word in found)
    assert {option for option, _, _ in triples} == {"--dev-bind", "--ro-bind-try"}


def job(**more: Any) -> dict[str, Any]:
    return {"job": "j-1", "resources": {"cpus": 2.5, "memory": 1, "gpus": 1}, **more}


def test_threads_follow_the_quota_not_the_machine() -> None:
    found = variables(job(), 1, [], temporary="/tmp", out="/out")
    assert found["OMP_NUM_THREADS"] == found["MKL_NUM_THREADS"] == "2"
    small = variables({**job(), "resources": {"cpus": 0.5}}, 1, [], temporary="/tmp", out="/out")
    assert small["OMP_NUM_THREADS"] == "1"


def test_cards_are_named_to_the_run_and_hidden_where_there_are_none() -> None:
    assert variables(job(), 1, [], temporary="/tmp", out="/out")["CUDA_VISIBLE_DEVICES"] == ""
    assert variables(job(), 1, [card(1)], temporary="/tmp", out="/out")["CUDA_VISIBLE_DEVICES"] == "GPU-1"
    simulated = variables(job(), 1, [card(1, simulated=True)], temporary="/tmp", out="/out")
    assert simulated["CUDA_VISIBLE_DEVICES"] == ""
    assert simulated["QIANKA_SIMULATED_CARDS"] == f"A100:{80 << 30}"


def test_a_job_may_set_its_own_variables() -> None:
    found = variables(job(environment={"SEED": "1", "OMP_NUM_THREADS": "1"}), 3, [], temporary="/tmp", out="/out")
    assert (found["SEED"], found["OMP_NUM_THREADS"], found["QIANKA_RUN"]) == ("1", "1", "3")
