"""The batch template, and one of a site's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from qianka.engines.slurm import template
from qianka.engines.slurm.script import Places, render
from qianka.engines.slurm.site import Site
from qianka.errors import ConfigError


def filled(text: str, **values: template.Value) -> str:
    return template.fill(text, "job.sh.txt", values)


def test_a_line_without_a_value_is_left_out_and_one_with_many_is_repeated() -> None:
    text = "a @x@\nb @y@\nc @z@\nd\n"
    assert filled(text, x="1", y="", z=["2", "3"]) == "a 1\nc 2\nc 3\nd\n"
    assert filled(text, x=0, y=None, z=[]) == "a 0\nd\n"


def test_conditions_nest() -> None:
    text = "##if x\nx\n##if y\nxy\n##else\nx only\n##end\n##else\nno x\n##end\nend\n"
    assert filled(text, x="1", y="") == "x\nx only\nend\n"
    assert filled(text, x="1", y="1") == "x\nxy\nend\n"
    assert filled(text, x="", y="1") == "no x\nend\n"


def test_a_value_is_not_read_again_as_a_template() -> None:
    assert filled("@x@\n", x="@y@\n##if z", y="no") == "@y@\n##if z\n"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("fine\n@nothing@\n", "job.sh.txt:2"),
        ("##if x\n##if nothing\n##end\n##end\n", "job.sh.txt:2"),
        ("##if x\nopen\n", "job.sh.txt:1"),
        ("fine\n##end\n", "job.sh.txt:2"),
        ("##else\n", "job.sh.txt:1"),
        ("##if x\n##else\n@nothing@\n##end\n", "job.sh.txt:3"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, where: str) -> None:
    with pytest.raises(ConfigError) as told:
        filled(text, x="1")
    assert told.value.message.zh.startswith(where)
    assert told.value.message.en.startswith(where)


def test_a_site_may_bring_its_own(job: Callable[..., dict[str, Any]], places: Places, tmp_path: Path) -> None:
    own = tmp_path / "job.sh.txt"
    own.write_text("#!/bin/bash\n#SBATCH --nodes=@nodes@ --extra-of-the-site\nexec srun @srun@ @command@\n")
    text = render(job(resources={"nodes": 3}), 1, Site(template=own), places)
    assert text.splitlines()[1] == "#SBATCH --nodes=3 --extra-of-the-site"


def test_one_that_is_not_there_is_told_of(job: Callable[..., dict[str, Any]], places: Places, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the batch template"):
        render(job(), 1, Site(template=tmp_path / "none"), places)
