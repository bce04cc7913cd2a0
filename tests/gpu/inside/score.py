"""Inside: how many of the held-out pictures in DATA the model at MODEL gets right, on the card."""

import json
import sys
from pathlib import Path

import torch
from model import Net, read_images, read_labels

data, model_file = Path(sys.argv[1]), sys.argv[2]
model = Net().cuda()
model.load_state_dict(torch.load(model_file, map_location="cuda", weights_only=True))
model.eval()
images = read_images(data / "test-images-idx3-ubyte").cuda()
labels = read_labels(data / "test-labels-idx1-ubyte").cuda()
with torch.no_grad():
    right = (model(images).argmax(1) == labels).float().mean()
print(json.dumps({"accuracy": float(right)}))
