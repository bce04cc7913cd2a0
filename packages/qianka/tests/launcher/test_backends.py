"""Which ways of containing runs a launcher offers."""

from __future__ import annotations

import pytest
from qianka.launcher.main import UsageError, main, parse


def test_a_launcher_contains_by_bubblewrap_or_podman() -> None:
    assert parse(["/srv", "--service-uid", "999"])["backend"] == "bubblewrap"
    found = parse(["/srv", "--service-uid", "999", "--slurm", "", "--slurm-group", "course"])
    assert (found["slurm"], found["slurm_group"]) == ("", "course")
    for name in ("auto", "bubblewrap", "podman"):
        found = parse(["/srv", "--service-uid", "999", "--backend", name, "--image", "lab/torch:2"])
        assert (found["backend"], found["image"]) == (name, "lab/torch:2")


@pytest.mark.parametrize("name", ["docker", "none", "chroot"])
def test_what_would_let_the_service_choose_roots_mounts_is_refused(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="Podman"):
        parse(["/srv", "--service-uid", "999", "--backend", name])
    assert main(["/srv", "--service-uid", "999", "--backend", name]) == 2
    assert name in capfd.readouterr().err
