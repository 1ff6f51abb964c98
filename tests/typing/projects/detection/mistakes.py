"""Mistakes with boxes, images and what a model gives."""

import torch
from torch import Tensor

from detection.main import Pack, collate
from detection.model import Boxes, Detector, Image, Scored

detector = Detector()
image = Image(torch.rand(3, 8, 8), [])
boxes = Boxes(torch.rand(2, 4), torch.ones(2), batch_size=2)
found: list[Image] = detector(image)  # E
detector(image=image)  # E
detector(image, 0.5)  # E
collate([image])  # E
names: list[str] = Boxes.stack([boxes]).scores  # E
tensor: Tensor = Scored(boxes, torch.ones(()))  # E
Scored(image, torch.ones(()))  # E
Pack(image, boxes)  # E
detector.extra = torch.ones(1)  # E
boxes.to(3.5)  # E
boxes["scores"]  # E
boxes.replace(scoers=boxes.scores)  # E none
detector.stem.out_channels = "three"  # E
detector.heads["corners"].wieght  # E none
