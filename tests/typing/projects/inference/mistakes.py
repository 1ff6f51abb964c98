"""Mistakes in what handlers take and give."""

import torch

from inference.messages_qten import Failure, Image, Reply, Text
from inference.server_qten import Render, Server

server = Server(10, 4)
text = Text("ada")
server(text, temp=1.0)  # E
server(Reply(torch.ones(2)))  # E
server(text).bests()  # E
Render()(text)  # E
Failure()  # E
server(Image(torch.ones(2))).reason  # E
Render()(server(text), digits="2")  # E
