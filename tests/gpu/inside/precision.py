"""Inside: train the same deep network in full or mixed precision; most of its memory is activations.

Arguments: full or mixed, and the number of rows a batch.
"""

import json
import sys
import time

import torch
from torch import nn

kind, rows = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
width, depth = 2048, 16
layers = [part for _ in range(depth) for part in (nn.Linear(width, width), nn.GELU())]
model = nn.Sequential(*layers, nn.Linear(width, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
half = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
scaler = torch.amp.GradScaler("cuda", enabled=kind == "mixed" and half is torch.float16)
inputs = torch.randn(rows, width, device="cuda")
labels = torch.randint(0, 10, (rows,), device="cuda")
began, steps = time.monotonic(), 0
while steps < 5 or time.monotonic() - began < 4.0:
    with torch.autocast("cuda", dtype=half, enabled=kind == "mixed"):
        loss = nn.functional.cross_entropy(model(inputs), labels)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.cuda.synchronize()
    steps += 1
print(
    json.dumps(
        {
            "loss": float(loss.detach()),
            "steps": steps,
            "step_seconds": (time.monotonic() - began) / steps,
            "reserved": torch.cuda.max_memory_reserved(),
            "allocated": torch.cuda.max_memory_allocated(),
            "half": str(half),
        }
    ),
    flush=True,
)
time.sleep(2.5)  # outside, memory is looked at once a second
