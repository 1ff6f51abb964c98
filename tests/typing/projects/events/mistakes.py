"""Mistakes with handlers for classes that `forward` would take too."""

import torch

from events.handlers_qten import Deep, Encoder, encode_key
from events.model_qten import Click, DoubleClick, Event

click = Click(torch.ones(2), torch.ones(2), torch.ones(2))
Click(torch.ones(2), torch.ones(2), torch.ones(2), button="middle")  # E
Event(torch.ones(2))  # E
DoubleClick.of(click)  # E
encode_key(Encoder(3), click)  # E
click.gap  # E
Deep(3)(DoubleClick.of(click, click)).shape  # E
Encoder(3, depth=2)  # E
