"""What `--sbatch` may pass through."""

from __future__ import annotations

import pytest
from qianka.engines.slurm import flags
from qianka.engines.slurm.site import Site
from qianka.errors import BadInput, QiankaError, Refused


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["--constraint=a100"], ("--constraint=a100",)),
        (["--constraint a100 --reservation=exam"], ("--constraint=a100", "--reservation=exam")),
        (["-C a100", "-p fast -w node1"], ("--constraint=a100", "--partition=fast", "--nodelist=node1")),
        (["-Ca100", "-C=b"], ("--constraint=a100", "--constraint=b")),
        (["--constraint 'a100|v100&ib'"], ("--constraint=a100|v100&ib",)),
        (["--no-kill", "--contiguous"], ("--no-kill", "--contiguous")),
        (["--mail-type=END,FAIL --mail-user=a@b.edu"], ("--mail-type=END,FAIL", "--mail-user=a@b.edu")),
        ([], ()),
    ],
)
def test_options_get_their_long_names(given: list[str], options: tuple[str, ...]) -> None:
    assert flags.parsed(given, Site()) == options
    assert flags.checked(options, Site()) == options


@pytest.mark.parametrize(
    "option",
    [
        "--uid=0",
        "--gid 0",
        "--export=ALL",
        "--export-file=/etc/shadow",
        "-o /tmp/x",
        "--output=/root/.ssh/authorized_keys",
        "-e/tmp/x",
        "-J other",
        "--comment=x",
        "--wrap=id",
        "--array=1-1000",
        "-a 1-9",
        "--nice=-1000",
        "--priority=TOP",
        "--qos=urgent",
        "-q urgent",
        "--account=other",
        "--get-user-env",
        "--bbf=/etc/shadow",
        "-F /etc/shadow",
        "--chdir=/",
        "--hold",
        "--mem=0",
        "--gres=gpu:8",
        "-N 100",
        "-n 100",
        "--time=7-0",
        "--exclusive",
        "--requeue",
        "--clusters=other",
        "--parsable",
        "-h",
        "-V",
    ],
)
def test_who_where_and_how_large_is_not_passed(option: str) -> None:
    with pytest.raises(Refused) as refused:
        flags.parsed([option], Site())
    assert refused.value.hint is not None
    assert refused.value.hint.zh
    assert refused.value.hint.en


@pytest.mark.parametrize("option", ["--ui=0", "--outp=/x", "--wra=id", "--arr=1-9", "--expor=ALL", "--no-such", "-Z"])
def test_a_beginning_of_a_name_is_no_name(option: str) -> None:
    """sbatch takes `--ui=0` for `--uid=0`."""
    with pytest.raises(Refused, match="may not pass"):
        flags.parsed([option], Site())


@pytest.mark.parametrize(
    "option",
    [
        "--constraint=a\n#SBATCH --uid=0",
        "--constraint=a\r",
        "--constraint=\x00",
        "--constraint=" + "a" * 2000,
        "--constraint 'a",
        "--constraint",
        "--contiguous=yes",
        "a100",
        "-",
        "--",
        "--=x",
        "--nodelist=/dev/zero",
        "--nodelist ./hosts",
        "-w/root/.ssh/id_rsa",
        "--exclude=/etc/shadow",
        "-x /etc/shadow",
    ],
)
def test_what_is_no_option_is_told_of(option: str) -> None:
    with pytest.raises(QiankaError):
        flags.parsed([option], Site())


def test_a_value_that_looks_like_an_option_stays_a_value() -> None:
    assert flags.parsed(["--constraint --uid=0"], Site()) == ("--constraint=--uid=0",)


def test_a_site_forbids_and_allows_more() -> None:
    site = Site(forbid=("partition",), allow=("x11",))
    with pytest.raises(Refused, match="--partition") as refused:
        flags.parsed(["-p fast"], site)
    assert "site.toml" in (refused.value.hint.en if refused.value.hint else "")
    assert flags.parsed(["--x11=all"], site) == ("--x11=all",)
    with pytest.raises(Refused):
        flags.parsed(["--uid=0"], Site(allow=("uid",)))


@pytest.mark.parametrize(
    "option",
    ["--nodelist=/dev/zero", "constraint=a", "-C=a", "--constraint=a\nb", "--constraint a", "--uid=0", "--ui=0"],
)
def test_options_of_a_job_are_looked_at_again(option: str) -> None:
    with pytest.raises(QiankaError):
        flags.checked([option], Site())


def test_many_options_are_too_many() -> None:
    with pytest.raises(BadInput, match="50"):
        flags.parsed(["--contiguous"] * 51, Site())


@pytest.mark.parametrize("option", ["--partition=fast", "-p fast", "--partition=gpu,fast"])
def test_the_partition_of_the_urgent_is_asked_for_by_its_label(option: str) -> None:
    """Labels say who may be urgent; the partition behind one is no way around that."""
    site = Site(partitions={"urgent": "fast", "idle": "scrap"})
    with pytest.raises(Refused) as refused:
        flags.parsed([option], site)
    assert "--label" in (refused.value.hint.en if refused.value.hint else "")
    assert flags.parsed(["-p scrap"], site) == ("--partition=scrap",)
    everybodys = Site(partition="fast", partitions={"urgent": "fast"})
    assert flags.parsed(["-p fast"], everybodys) == ("--partition=fast",)
