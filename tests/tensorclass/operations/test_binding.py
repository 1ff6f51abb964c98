"""Operations are loaded when one of them is first used, in whatever way that happens."""

from pathlib import Path

import qten_gen
from templates import operation_names
from tests import fresh_process

PROGRAM = """
import inspect, pickle, sys, threading
import torch
from torch import Tensor
from qten_gen import TensorClass

class Batch(TensorClass):
    x: Tensor

def loaded():
    return "qten_gen.runtime.tensorclass.operations.table" in sys.modules

batch = Batch(torch.arange(6.0).reshape(3, 2), batch_size=[3])
batch[0], repr(batch), batch.to("cpu")
assert not loaded()
"""
"""Ends before an operation is used."""


def test_the_names_are_those_of_the_table() -> None:
    path = Path(qten_gen.__file__).parent / "common" / "operation_names.py"
    assert path.read_text(encoding="utf-8") == operation_names.text(), "run: make generate"


OVERRIDDEN = """
class Logits(TensorClass):
    x: Tensor

    def flip(self):
        return super().flip(0) * 2

logits = Logits(torch.arange(3), batch_size=[3])
assert logits.flip().x.tolist() == [4, 2, 0]
"""

USES = [
    OVERRIDDEN,
    "assert torch.equal((batch + 1).x, batch.x + 1)",
    "assert torch.equal((1 - batch).x, 1 - batch.x)",
    "batch += 1; assert batch.x[0, 0] == 1",
    "assert (batch == batch).all()",
    "assert torch.sum(batch, 0).x.shape == (2,)",
    "assert torch.stack([batch, batch]).batch_size == (2, 3)",
    "assert Batch.stack([batch, batch]).batch_size == (2, 3)",
    "assert Batch.double(batch).x.dtype is torch.double",
    "assert 'keepdim' in inspect.signature(Batch.all).parameters",
    "assert pickle.loads(pickle.dumps(batch.flip))(0).x.shape == (3, 2)",
    "results = []; threads = [threading.Thread(target=lambda: results.append(batch.flip(0))) for _ in range(8)]\n"
    "for thread in threads: thread.start()\n"
    "for thread in threads: thread.join()\n"
    "assert len(results) == 8",
]


def test_an_operation_is_loaded_by_its_first_use() -> None:
    assert fresh_process.run_in_forks(PROGRAM, [f"{use}\nassert loaded()" for use in USES]) == ""
