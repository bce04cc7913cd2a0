"""Inside: torch takes SIZE bytes, says what it holds of the card, and keeps it for SECONDS."""

import json
import sys
import time

import torch

size, seconds = int(sys.argv[1]), float(sys.argv[2])
held = torch.ones(size // 4, dtype=torch.float32, device="cuda")
torch.cuda.synchronize()
print(
    json.dumps(
        {
            "sum": float(held[:1000].sum()),
            "allocated": torch.cuda.max_memory_allocated(),
            "reserved": torch.cuda.max_memory_reserved(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "device": torch.cuda.get_device_name(0),
            "cards": torch.cuda.device_count(),
        }
    ),
    flush=True,
)
time.sleep(seconds)
