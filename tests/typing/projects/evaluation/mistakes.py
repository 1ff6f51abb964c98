"""Mistakes with metrics, and with functions that the generated module passes on."""

import torch

from evaluation.metrics import Accuracy
from evaluation.metrics_qten import Counts, Result, run

result = Result(torch.ones(2), torch.ones(2), batch_size=2)
run([result], [result])  # E
run([Accuracy()], [torch.ones(2)])  # E
Counts.of(torch.ones(2))  # E
Counts.of(result).merged(result)  # E
result.correct = torch.ones(2)  # E
result + "x"  # E
