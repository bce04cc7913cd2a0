"""Starts `driver`: python -I /judge/qianka/grading/harness/notebook/ours.py --handin … --master … --out … --rules …"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.abspath(__file__).rsplit("/", 5)[0])

from qianka.grading.harness.notebook.driver import main

if __name__ == "__main__":
    main()
