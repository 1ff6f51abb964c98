"""Mistakes with a decoder, its caches and its checkpoints."""

import torch

from language.checkpoints import Average, load, save
from language.model import Config
from language.model_qten import Cache, Decoder, Text

model = Decoder(Config())
text = Text(torch.ones(1, 3, dtype=torch.long), batch_size=1)
model.generate(text.tokens, 3)  # E
model(text).loss.mean()  # E
model(text.tokens, [text])  # E
model.blocks[0].attention.casual  # E
model.head.sum()  # E
Average(model).shadow.generat(text, 1)  # E
save(model, 3)  # E
load(save(model, torch.optim.SGD(model.parameters()), 1))[1]["steps"]  # E
Cache.empty(1, 2, 3).extended(text.tokens)  # E
model.config.dims  # E
Decoder(config=3)  # E
model.blocks[0].scale.shpae  # E
text.tokens = None  # E
Cache.empty(1, 2, 3).time = 3  # E
