"""A late method is imported by its first use, in whatever way that happens, and is a function like any other from then on."""

from tests import fresh_process

PROGRAM = """
import copy, inspect, pickle, sys, threading
from unittest import mock
import torch
from torch import Tensor
from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.core.late import Late

class Batch(TensorClass):
    x: Tensor

def loaded(name):
    return f"qten_gen.runtime.tensorclass.{name}" in sys.modules

def stand_ins():
    return [value for value in vars(TensorClass).values() if isinstance(value, Late)]

batch = Batch(torch.arange(6.0).reshape(3, 2), batch_size=[3])
batch[0], batch.to("cpu"), batch.x
assert not any(map(loaded, ("methods.keys", "methods.reshaping", "methods.joining", "methods.inplace", "methods.conversion")))
"""
"""Ends before a late method is used."""


OVERRIDDEN = """
class Named(TensorClass):
    x: Tensor

    def keys(self):
        return ("my", *super().keys())

assert Named(torch.zeros(3), batch_size=[3]).keys() == ("my", "x")
"""

REPLACED = """
with mock.patch.object(TensorClass, "keys", lambda self: ("other",)):
    batch.items()
    assert batch.keys() == ("other",)
assert batch.keys() == ("x",)
"""

USES = [
    (OVERRIDDEN, "methods.keys"),
    (REPLACED, "methods.keys"),
    ("assert Batch.keys(batch) == ('x',)", "methods.keys"),
    ("assert [item.x.tolist() for item in batch][1] == [2, 3]", "methods.joining"),
    ("assert copy.copy(batch).x is batch.x", "methods.conversion"),
    ("batch[0] = 7; assert batch.x[0].tolist() == [7, 7]", "methods.assignment"),
    ("assert (Batch.keys.__doc__ or '').startswith('The names')", "methods.keys"),
    ("assert pickle.loads(pickle.dumps(batch.keys))() == ('x',)", "methods.keys"),
    ("assert 'include_nested' in inspect.signature(Batch.keys).parameters", "methods.keys"),
    ("dir(batch); assert not stand_ins()", "methods.applying"),
    ("import torch._dynamo; assert not stand_ins()", "methods.applying"),
    ("torch.optim.SGD([batch.x]); assert not stand_ins()", "methods.applying"),
    (
        "results = []; threads = [threading.Thread(target=lambda: results.append(batch.keys())) for _ in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "assert results == [('x',)] * 8",
        "methods.keys",
    ),
]


def test_a_late_method_is_loaded_by_its_first_use() -> None:
    uses = [f"assert not loaded({module!r})\n{use}\nassert loaded({module!r})" for use, module in USES]
    assert fresh_process.run_in_forks(PROGRAM, uses) == ""


def test_nothing_is_late_where_torch_compile_is_there_first() -> None:
    program = "import torch._dynamo\n" + PROGRAM.partition("batch[0]")[0] + "assert not stand_ins()"
    done = fresh_process.run("-c", program)
    assert done.returncode == 0, done.stderr
