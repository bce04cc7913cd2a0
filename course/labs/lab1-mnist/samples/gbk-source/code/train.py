"""训练：读 --data 里的图片和标签，把模型参数写进 --out。"""

import argparse
import json
from pathlib import Path

import torch
from model import Net, read_images, read_labels
from torch import nn

device = torch.device("cpu")  # 第一行就定下设备：到实验 2，只改引号里的词


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--samples", type=int, default=2000, help="只用前多少张图片")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def shift(images):
    """整批图片随机平移至多一个像素：讲义第 5 节的办法。"""
    return torch.roll(images, torch.randint(-1, 2, (2,)).tolist(), dims=(2, 3))


def main():
    args = parse()
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    images = read_images(args.data / "train-images-idx3-ubyte")[: args.samples]
    labels = read_labels(args.data / "train-labels-idx1-ubyte")[: args.samples]
    images, labels = images.to(device), labels.to(device)

    model = Net().to(device)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    steps = args.epochs * -(-len(images) // args.batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, steps)

    step = 0
    with open(args.out / "metrics.jsonl", "a") as metrics:
        for epoch in range(args.epochs):
            for rows in torch.randperm(len(images)).split(args.batch_size):
                loss = loss_fn(model(shift(images[rows])), labels[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                step += 1
                if step % 25 == 0:
                    line = {"step": step, "epoch": epoch, "loss": loss.item()}
                    print(json.dumps(line), file=metrics, flush=True)
            print(f"epoch {epoch}: loss {loss.item():.4f}")

    torch.save(model.state_dict(), args.out / "model.pt")


if __name__ == "__main__":
    main()
