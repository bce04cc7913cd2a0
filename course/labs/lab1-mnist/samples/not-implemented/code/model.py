"""网络和读数据：训练与预测共用的部分。"""

import struct
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    """输入 (N, 1, 28, 28)，输出十个类别的得分（不做 softmax）。"""

    def __init__(self):
        super().__init__()
        # TODO 1：卷积 1→16（3x3，padding=1）、ReLU、2x2 最大池化，
        #         卷积 16→32（同上）、ReLU、2x2 最大池化，
        #         展平，全连接到 128、ReLU，全连接到 10。
        raise NotImplementedError("TODO 1：网络还没有写")

    def forward(self, x):
        raise NotImplementedError("TODO 1：网络还没有写")


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
