"""Lab 1 as a folder: its rules, data, samples and handout agree with each other."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from qianka.adapters import idx
from qianka.cli import samples
from qianka.domain.verdicts import Verdict
from qianka.grading import labfile
from qianka.grading.model import MetricCheck

LAB = Path(__file__).resolve().parents[2] / "course" / "labs" / "lab1-mnist"
SAMPLES = LAB / "samples"
PREPARE = LAB / "data" / "prepare.py"
NAMES = {
    "solution", "not-implemented", "low-accuracy", "crash", "timeout", "memory-hog", "bad-style", "gbk-source",
    "macos-zip", "cheat-results", "cheat-hunt", "cheat-style", "cheat-weights", "cheat-table",
}  # fmt: skip


def digit_image(row: int, digit: int) -> bytes:
    """An image that tells its digit by the height of a bar in its middle, whatever is done to it, and its row."""
    lines = [bytearray(idx.SIDE) for _ in range(idx.SIDE)]
    for line in lines[5 : 6 + digit]:
        line[10:18] = b"\xff" * 8
    lines[0][:4] = row.to_bytes(4, "big")
    return b"".join(lines)


def digit_told(image: bytes) -> int:
    """The digit of an image of `digit_image`, from its longest bright column."""
    rows = [image[start : start + idx.SIDE] for start in range(0, idx.PIXELS, idx.SIDE)]
    return sum(row[13] > 200 for row in rows) - 1


def images(path: Path) -> list[bytes]:
    return idx.read_images(path.read_bytes())


def answers(path: Path) -> list[int]:
    head, *lines = path.read_text("utf-8").splitlines()
    assert head == "id,label"
    assert [line.partition(",")[0] for line in lines] == [str(row) for row in range(len(lines))]
    return [int(line.partition(",")[2]) for line in lines]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stand-in for the 10,000 digits, in the order of the digits as the real ones are."""
    folder = tmp_path_factory.mktemp("cache") / "mnist-10k"
    folder.mkdir()
    digits = bytes(row // 1000 for row in range(10_000))
    idx.write_images(folder / "images-idx3-ubyte", [digit_image(row, digit) for row, digit in enumerate(digits)])
    idx.write_labels(folder / "labels-idx1-ubyte", digits)
    return folder.parent


def prepare(cache: Path, out: Path, seed: str) -> Path:
    """Run the lab's script as the platform does."""
    out.mkdir()
    seed_file = out.with_suffix(".seed")
    seed_file.write_text(seed + "\n", "ascii")
    options = ["--cache", str(cache), "--out", str(out), "--seed-file", str(seed_file)]
    subprocess.run([sys.executable, "-I", str(PREPARE), *options], check=True)
    return out


@pytest.fixture(scope="module")
def data(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(cache, tmp_path_factory.mktemp("data") / "one", "00ff")


def test_the_data_have_the_shape_that_the_handout_promises(data: Path) -> None:
    assert len(images(data / "train" / "train-images-idx3-ubyte")) == 7500
    assert len(images(data / "public" / "test" / "test-images-idx3-ubyte")) == 500
    assert len(images(data / "test" / "test-images-idx3-ubyte")) == 2000
    assert sorted(path.name for path in (data / "test").iterdir()) == ["test-images-idx3-ubyte"]


def test_answers_belong_to_their_images(data: Path) -> None:
    for inputs, file in (("test", "answers/answers.csv"), ("public/test", "public/answers.csv")):
        shown = images(data / inputs / "test-images-idx3-ubyte")
        assert [digit_told(image) for image in shown] == answers(data / file)
    labels = idx.read_labels((data / "train" / "train-labels-idx1-ubyte").read_bytes())
    assert [digit_told(image) for image in images(data / "train" / "train-images-idx3-ubyte")] == list(labels)


def test_no_hidden_image_can_be_looked_up(cache: Path, data: Path) -> None:
    known = {hashlib.sha256(image).digest() for image in images(cache / "mnist-10k" / "images-idx3-ubyte")}
    shown = [*images(data / "test" / "test-images-idx3-ubyte"), *images(data / "public/test/test-images-idx3-ubyte")]
    assert [image for image in shown if hashlib.sha256(image).digest() in known] == []


def test_every_digit_is_in_every_part(data: Path) -> None:
    assert set(answers(data / "answers" / "answers.csv")) == set(range(10))
    assert set(answers(data / "public" / "answers.csv")) == set(range(10))


def test_a_cohort_gets_the_same_data_again_and_another_cohort_other_tests(
    cache: Path, data: Path, tmp_path: Path
) -> None:
    again, other = prepare(cache, tmp_path / "again", "00ff"), prepare(cache, tmp_path / "other", "00fe")
    files = [path.relative_to(data) for path in data.rglob("*") if path.is_file()]
    changed = {str(file) for file in files if (data / file).read_bytes() != (other / file).read_bytes()}
    assert all((data / file).read_bytes() == (again / file).read_bytes() for file in files)
    assert changed == {"test/test-images-idx3-ubyte", "answers/answers.csv"}


def test_without_its_data_set_the_script_says_which_it_needs(tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("00", "ascii")
    options = ["--cache", str(tmp_path), "--out", str(tmp_path), "--seed-file", str(tmp_path / "seed")]
    ended = subprocess.run([sys.executable, "-I", str(PREPARE), *options], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "mnist-10k" in ended.stderr


def test_the_rules_are_valid_in_both_variants() -> None:
    lab = labfile.load(LAB)
    full = labfile.parse((LAB / "variants" / "mnist-full.toml").read_text("utf-8"), LAB)
    assert lab.data.cache == ("mnist-10k",)
    assert full.data.cache == ("mnist-full",)
    assert lines(full) > lines(lab)


def lines(lab: labfile.Lab) -> list[float]:
    return [check.line for check in lab.checks if isinstance(check, MetricCheck)]


def test_every_sample_states_what_it_must_get() -> None:
    found = samples.load(LAB)
    assert {sample.name for sample in found} == NAMES
    assert all(sample.verdict in {verdict.value for verdict in Verdict} for sample in found)
    assert all(0 <= sample.points[0] <= sample.points[1] <= 100 for sample in found)
    assert all(sample.path.exists() for sample in found)


def test_the_starter_handed_in_as_it_is_is_a_sample() -> None:
    for name in ("train.py", "predict.py", "model.py"):
        starter = (LAB / "starter" / "code" / name).read_bytes()
        assert (SAMPLES / "not-implemented" / "code" / name).read_bytes() == starter
        assert b"TODO" in starter


def test_the_archive_from_macos_holds_the_solution_and_the_usual_litter() -> None:
    solution = SAMPLES / "solution"
    with zipfile.ZipFile(SAMPLES / "macos-zip" / "handin.zip") as archive:
        # Names without the UTF-8 flag are read as CP437 by zipfile.
        names = {info.filename.encode("cp437").decode("utf-8"): info for info in archive.infolist()}
        top = {name.partition("/")[0] for name in names}
        assert top == {"实验1 张伟", "__MACOSX"}
        assert "实验1 张伟/.DS_Store" in names
        for path in (p for p in solution.rglob("*") if p.is_file() and p.name != "expect.toml"):
            stored = archive.read(names[f"实验1 张伟/{path.relative_to(solution).as_posix()}"])
            assert stored == path.read_bytes(), f"{path.name}: run tools/make_macos_zip.py"


def test_the_table_of_the_cheat_would_find_unchanged_images() -> None:
    text = (SAMPLES / "cheat-table" / "code" / "table.py").read_text("utf-8")
    assert len(text) < 64 * 1024
    assert len(re.findall(r'^    "', text, re.MULTILINE)) == 10


def test_the_handout_states_the_lines_of_the_rubric() -> None:
    handout = (LAB / "README.md").read_text("utf-8")
    for check in labfile.load(LAB).checks:
        if isinstance(check, MetricCheck):
            assert f"{check.line:.2f} 及格" in handout
            assert f"{check.full:.2f} 满分" in handout
    assert "20 秒 CPU 时间" in handout


@pytest.mark.runtime
def test_the_handout_counts_parameters_right(student_runtime: Path) -> None:
    ask = "import sys; sys.path[:0] = sys.argv[1:]; import model; print([p.numel() for p in model.Net().parameters()])"
    python = str(student_runtime / "bin" / "python")
    asked = subprocess.run([python, "-c", ask, str(LAB / "solution/code")], capture_output=True, text=True, check=True)
    numbers = [int(number) for number in re.findall(r"\d+", asked.stdout)]
    handout = (LAB / "README.md").read_text("utf-8")
    layers = [weights + biases for weights, biases in zip(numbers[::2], numbers[1::2], strict=True)]
    for count in [*layers, sum(layers)]:
        assert re.search(rf"\b{count:,}\b", handout), count


@pytest.mark.runtime
def test_solution_and_good_samples_keep_our_own_style(student_runtime: Path) -> None:
    python = str(student_runtime / "bin" / "python")
    folders = [str(LAB / "solution"), str(SAMPLES / "solution")]
    subprocess.run([python, "-m", "black", "--check", "--quiet", *folders], check=True)
    flake8 = [python, "-m", "flake8", "--isolated", "--max-line-length", "88", *folders]
    subprocess.run(flake8, check=True)
