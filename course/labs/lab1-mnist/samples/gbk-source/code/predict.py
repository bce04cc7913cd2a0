"""预测：用 --model 里的参数给 --data 里的图片分类，写出 --out/predictions.csv。"""

import argparse
from pathlib import Path

import torch
from model import Net, read_images

device = torch.device("cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    model = Net().to(device)
    model.load_state_dict(torch.load(args.model / "model.pt", weights_only=True))
    model.eval()

    images = read_images(args.data / "test-images-idx3-ubyte").to(device)
    digits = []
    with torch.inference_mode():
        for batch in images.split(500):
            digits += model(batch).argmax(dim=1).tolist()

    lines = ["id,label"] + [f"{row},{digit}" for row, digit in enumerate(digits)]
    (args.out / "predictions.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
