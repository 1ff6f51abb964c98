"""Mistakes over a batch, a model and what a trainer makes of them."""

from trainer.model import Config
from trainer.model_qten import Batch, Classifier, Output

batch = Batch.random(4, 6, 16)
model = Classifier(Config())
batch.truncated("3")  # E
model(batch, with_los=False)  # E
Output(batch.tokens, los=None, batch_size=4)  # E
model.blocks[0].gat  # E
Batch(batch.tokens, batch.labels, mode="seq", batch_size=4)  # E
model(batch).loss.mean()  # E
Classifier(Config(dim="8"))  # E
batch.mask.sum()  # E
model.blocks["0"]  # E
batch.part = "test"  # E
model.config.dept  # E
model.blocks[0].up(batch.tokens, batch.labels)  # E none
