"""Mistakes of someone who explores."""

import torch

from notebook.model import Flowers, Guess, Net, score

net = Net()
data = Flowers.sample(4)
net(data).best.shpae  # E
data.shufled()  # E
Net(hiden=3)  # E
score(data, net)  # E
found: Flowers = net(data)  # E
data["petal"]  # E
Guess(torch.rand(4, 3), data.kind, batch_size=4)  # E
