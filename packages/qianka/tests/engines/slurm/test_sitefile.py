"""site.toml: every mistake with its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from qianka.engines.slurm import sitefile
from qianka.engines.slurm.site import Site
from qianka.engines.slurm.sitefile import SiteError

EXAMPLE = Path(__file__).parents[5] / "deploy/slurm/site.toml"


def parse(text: str, folder: Path = Path("/etc/qianka")) -> Site:
    return sitefile.parse(text, folder / "site.toml")


def test_the_example_shows_every_key_and_is_right() -> None:
    site = sitefile.load(EXAMPLE)
    assert site.account_of("ai-2026") == "course_ai"
    assert site.account_of("other") == "ai"
    assert site.partition_of("urgent", 0) == "gpu_short"
    assert site.partition_of("normal", 8) == "gpu"
    assert site.partition_of("normal", 0) == "cpu"
    assert site.qos_of("normal") == ""
    assert site.containers.command_of("apptainer") == ("singularity",)
    assert site.containers.command_of("docker") == ("docker",)
    defaults = Site()
    same = [name for name in vars(defaults) if getattr(site, name) == getattr(defaults, name)]
    # Those that are shown with the value they have anyway, and the one that needs a file.
    assert sorted(same) == ["folder", "gres", "ports", "qos", "template"]


def test_none_is_the_defaults() -> None:
    assert sitefile.load("") == sitefile.load(None) == parse("") == Site()


def test_labels_become_qos_of_the_same_name_but_normal_is_everybodys_own() -> None:
    site = parse('[qos]\nurgent = "exam"\n')
    assert [site.qos_of(label) for label in ("urgent", "normal", "idle")] == ["exam", "", "idle"]


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('\n[qos]\nurgnet = "x"', 3, "qos.urgnet"),
        ('[partition]\ngpu = "a b"', 2, "partition.gpu"),
        ("[partition]\n\ndefault = 3", 3, "partition.default"),
        ('[account.cohorts]\na = "-x"', 2, "account.cohorts.a"),
        ('gres = "gpu --uid=0"', 1, "gres"),
        ('[sbatch]\ndirectives = ["constraint=ib"]', 2, "sbatch.directives"),
        ('[sbatch]\ndirectives = ["--uid=0"]', 2, "sbatch.directives"),
        ('[sbatch]\ndirectives = ["--constraint=a\\nb"]', 2, "sbatch.directives"),
        ('[sbatch]\nallow = ["uid"]', 2, "sbatch.allow"),
        ('[modules]\nload = "cuda"', 2, "modules.load"),
        ('[modules]\nlaod = ["cuda"]', 2, "modules.laod"),
        ('setup = ["a\\nb"]', 1, "setup"),
        ("[environment]\n1A = 'x'", 2, "environment.1A"),
        ("[environment]\nA = 1", 2, "environment.A"),
        ("[network]\nports = [80, 90]", 2, "network.ports"),
        ("[network]\nports = [20000, 20010]", 2, "network.ports"),
        ("[network]\nports = 20000", 2, "network.ports"),
        ('runtime = "venv"', 1, "runtime"),
        ('folder = "{home}/{job}"', 1, "folder"),
        ('folder = "/scratch"', 1, "folder"),
        ('[containers]\nkinds = ["lxc"]', 2, "containers.kinds"),
        ('[containers]\nkinds = ["docker"]', 1, "containers.images"),
        ('[containers]\nkinds = ["docker"]\nimages = ["*"]\ndefault = "apptainer:x"', 4, "containers.default"),
        ('[containers]\nmounts = ["/a:/b"]', 2, "containers.mounts"),
        ('[containers.commands]\nlxc = ["x"]', 2, "containers.commands.lxc"),
        ('[containers.options]\ndocker = ["--a\\nb"]', 2, "containers.options.docker"),
        ('template = "none.sh.txt"', 1, "template"),
        ("a = 1", 1, "a"),
        ("a = ", 1, ""),
    ],
)
def test_a_mistake_is_told_with_line_and_key(text: str, line: int, key: str) -> None:
    with pytest.raises(SiteError) as told:
        parse(text)
    assert (line, key) in [(problem.line, problem.key) for problem in told.value.problems]
    assert f"site.toml:{line}" in told.value.message.zh
    assert f"site.toml:{line}" in told.value.message.en


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(SiteError) as told:
        parse('gres = "a b"\n[qos]\nx = "y"\n[network]\nports = 1\n')
    assert [problem.line for problem in told.value.problems] == [1, 3, 5]


def test_a_file_that_is_not_there_or_not_utf8_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="cannot be read"):
        sitefile.load(tmp_path / "site.toml")
    (tmp_path / "site.toml").write_bytes(b'gres = "gpu"\n# \xb1\n')
    with pytest.raises(SiteError, match=r"site\.toml:2: is not UTF-8"):
        sitefile.load(tmp_path / "site.toml")


def test_a_change_counts_at_once_and_a_template_is_found_beside(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text('[account]\ndefault = "a"\n')
    assert sitefile.load(file).account == "a"
    (tmp_path / "mine.txt").write_text("#!/bin/bash\nexec srun @command@\n")
    file.write_text('template = "mine.txt"\n[account]\ndefault = "b"\n')
    os.utime(file, ns=(1, 1))
    site = sitefile.load(file)
    assert (site.account, site.template) == ("b", tmp_path / "mine.txt")


def test_a_wrong_template_is_told_of_when_the_site_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("#!/bin/bash\nexec srun @comand@\n")
    with pytest.raises(SiteError, match=r"mine\.txt:2: there is no @comand@"):
        parse('template = "mine.txt"', tmp_path)
