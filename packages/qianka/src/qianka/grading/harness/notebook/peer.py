"""Starts `watcher`: python -I /judge/qianka/grading/harness/notebook/peer.py --work … --place …"""

from __future__ import annotations

import argparse
import os
import sys

sys.path.insert(0, os.path.abspath(__file__).rsplit("/", 5)[0])

from qianka.grading.harness.notebook import watcher
from qianka.grading.harness.notebook.lines import VARIABLE, connect


def main() -> None:
    """`--work`: the notebook's folder in the hand-in; `--files`: the lab's own; `--place`: where cells run;
    `--home`: for IPython's own files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--files", default="")
    parser.add_argument("--place", required=True)
    parser.add_argument("--home", required=True)
    options = parser.parse_args()
    stream = connect(os.environ.pop(VARIABLE))
    watcher.main(stream, work=options.work, files=options.files, place=options.place, home=options.home)


if __name__ == "__main__":
    main()
