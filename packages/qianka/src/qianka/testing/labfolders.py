"""Small lab folders on disk, and what the stages of our own leave when all goes well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qianka.testing.engine import FakeEngine, Program

LAB_TOML = """\
title = "小实验"
title_en = "A small lab"

[handin]
required = ["code/train.py", "code/predict.py", "README.md"]

[train]
wall = 60
memory_mb = 512

[predict]
wall = 30
memory_mb = 512

[predictions]
labels = ["0", "1"]

[reference]
runs = 3

[[check]]
kind = "metric"
metric = "accuracy"
weight = 60
line = 0.8
full = 0.9

[[check]]
kind = "time"
weight = 15
bands = [[1.5, 1.0], [3.0, 0.6]]

[[check]]
kind = "memory"
weight = 10
bands = [[1.5, 1.0], [2.5, 0.5]]

[[check]]
kind = "style"
weight = 15
"""
SOLUTION = {
    "code/train.py": "import sys\n\nprint(sys.argv)\n",
    "code/predict.py": "import sys\n\nprint(sys.argv)\n",
    "README.md": "# 我的解法\n",
}


def make_lab_folder(folder: Path, lab_toml: str = LAB_TOML, *, reference: bool = True) -> Path:
    """A lab whose data is ready-made; `reference`: with the teacher's solution."""
    files = {
        "lab.toml": lab_toml,
        "README.md": "# 讲义\n",
        "starter/code/train.py": "raise NotImplementedError\n",
        "data/train/train.csv": "x,label\n0,0\n1,1\n",
        "data/test/test.csv": "id,x\n0,0\n1,1\n",
        "data/answers/answers.csv": "id,label\n0,0\n1,1\n",
        "data/public/test/test.csv": "id,x\n0,1\n",
        "data/public/answers.csv": "id,label\n0,1\n",
        **({f"solution/{name}": text for name, text in SOLUTION.items()} if reference else {}),
    }
    write_files(folder, files)
    return folder


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files below `folder`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def figures(score: float = 0.95, **changes: Any) -> bytes:
    """figures.json of a judge stage."""
    return json.dumps({"format": 1, "ok": True, "rows": 2, "scores": {"accuracy": score}, **changes}).encode()


def style_figures(**changes: Any) -> bytes:
    """style.json of a style stage on two clean files."""
    counts = ("unformatted", "problems", "noqa", "fmt_off", "numbers", "longest")
    lists = ("unformatted_first", "problems_first", "configs", "failed", "skipped")
    clean = {"format": 1, "files": 2, "lines": 20, **dict.fromkeys(counts, 0), **{name: [] for name in lists}}
    return json.dumps({**clean, **changes}).encode()


def script_good_stages(engine: FakeEngine, score: float = 0.95) -> None:
    """Let every stage of an attempt on `engine` end well: train 10 s, like the reference."""
    engine.programs.update(
        {
            "train": Program(seconds=10, memory=100 << 20),
            "reference-train": Program(seconds=10, memory=100 << 20),
            "predict": Program(seconds=2, memory=100 << 20),
            "style": Program(seconds=1, files={"style.json": style_figures()}),
            "judge": Program(seconds=1, files={"figures.json": figures(score)}),
        }
    )
