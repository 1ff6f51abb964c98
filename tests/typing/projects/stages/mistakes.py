"""Mistakes with stages that do not fit each other."""

import torch

from stages.main import certain, run, twice
from stages.model import Colder, Kept, KeptLogits, Logits, Probabilities, Sharpen, Softmax, Stage

given = Logits(torch.ones(1, 2), batch_size=1)
certain(Sharpen(), given)  # E
stage: Stage[Logits, Probabilities] = Colder()  # E
twice(Softmax(), given)  # E
run(Softmax(), given).entropi()  # E
run(Softmax(), Softmax()(given))  # E
Softmax()(given.scores)  # E
kept: Kept[Logits] = given  # E
KeptLogits(given.scores, torch.ones(1), batch_size=1)  # E
