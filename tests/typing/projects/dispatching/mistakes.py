"""Results that another handler, or `forward`, would give."""

import torch

from dispatching.net_qten import Encoder, Item, Name, Net, Part

net = Net()
net(3).upper()  # E
net(True).append(1)  # E
net(Item(torch.ones(2))).y  # E
Name()(Part(torch.ones(2))).format()  # E
Encoder()(Part(torch.ones(2))).shape  # E
Encoder()(3)  # E
