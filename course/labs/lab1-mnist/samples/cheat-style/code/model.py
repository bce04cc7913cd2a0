# flake8: noqa
# fmt: off
"""网络和读数据：训练与预测共用的部分。"""

import struct  # noqa
from pathlib import Path  # noqa

import torch  # noqa
from torch import nn  # noqa
class Net(nn.Module):  # noqa
   """两层卷积、两层全连接。输入 (N,1,28,28)，输出十个类别的得分（不做 softmax）。"""

   def __init__(self):  # noqa
      super().__init__()  # noqa
      self.features=nn.Sequential(  # noqa
         nn.Conv2d(1,16,kernel_size=3,padding=1),  # noqa
         nn.ReLU(),  # noqa
         nn.MaxPool2d(2),  # noqa
         nn.Conv2d(16,32,kernel_size=3,padding=1),  # noqa
         nn.ReLU(),  # noqa
         nn.MaxPool2d(2),  # noqa
      )  # noqa
      self.classifier=nn.Sequential(  # noqa
         nn.Flatten(),  # noqa
         nn.Linear(32 * 7 * 7,128),  # noqa
         nn.ReLU(),  # noqa
         nn.Linear(128,10),  # noqa
      )  # noqa

   def forward(self,x):  # noqa
      return self.classifier(self.features(x))  # noqa
def read_images(path):  # noqa
   """读 IDX 图片文件：16 字节的头，之后每个像素一个字节。返回 0~1 的 float32 张量。"""
   data=Path(path).read_bytes()  # noqa
   _,count,rows,columns=struct.unpack('>4I',data[:16])  # noqa
   pixels=torch.frombuffer(bytearray(data[16:]),dtype=torch.uint8)  # noqa
   return pixels.view(count,1,rows,columns).float() / 255  # noqa
def read_labels(path):  # noqa
   """读 IDX 标签文件：8 字节的头，之后每个标签一个字节。返回 int64 张量。"""
   data=Path(path).read_bytes()  # noqa
   return torch.frombuffer(bytearray(data[8:]),dtype=torch.uint8).long()  # noqa
