"""用带来的权重（一个线性分类器）预测。"""

import argparse
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, required=True)
parser.add_argument("--model", type=Path, required=True)
parser.add_argument("--out", type=Path, required=True)
args = parser.parse_args()

weights = np.load(args.model / "weights.npz")
data = (args.data / "test-images-idx3-ubyte").read_bytes()[16:]
images = np.frombuffer(data, dtype=np.uint8).reshape(-1, 784) / 255
digits = (images @ weights["w"].astype(np.float32) + weights["b"]).argmax(axis=1)
lines = ["id,label"] + [f"{row},{digit}" for row, digit in enumerate(digits)]
(args.out / "predictions.csv").write_text("\n".join(lines) + "\n")
