"""网络和读数据：训练与预测共用的部分。"""

import struct
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    """两层卷积、两层全连接。输入 (N, 1, 28, 28)，输出十个类别的得分（不做 softmax）。"""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(32 * 7 * 7, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )

    def forward(self, x):
        return self.classifier(self.features(x))


def read_images(path):
    """读 IDX 图片文件：16 字节的头，之后每个像素一个字节。返回 0~1 的 float32 张量。"""
    data = Path(path).read_bytes()
    _, count, rows, columns = struct.unpack(">4I", data[:16])
    pixels = torch.frombuffer(bytearray(data[16:]), dtype=torch.uint8)
    return pixels.view(count, 1, rows, columns).float() / 255


def read_labels(path):
    """读 IDX 标签文件：8 字节的头，之后每个标签一个字节。返回 int64 张量。"""
    data = Path(path).read_bytes()
    return torch.frombuffer(bytearray(data[8:]), dtype=torch.uint8).long()
