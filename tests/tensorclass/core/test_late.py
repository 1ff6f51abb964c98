"""A late method is imported by its first use, in whatever way that happens, and is a function like any other from then on."""

import pytest

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

batch = Batch(torch.arange(6.0).reshape(3, 2), batch_size=[3])
batch[0], repr(batch), batch.to("cpu"), batch.x
assert not any(map(loaded, ("methods.keys", "methods.naming", "methods.joining", "methods.inplace", "methods.conversion")))
"""
"""Ends before a late method is used."""


@pytest.mark.parametrize(
    ("use", "module"),
    [
        ("assert batch.get_at('x', 0).tolist() == [0, 1]", "methods.keys"),
        ("assert Batch.keys(batch) == ('x',)", "methods.keys"),
        ("assert [item.x.tolist() for item in batch][1] == [2, 3]", "methods.joining"),
        ("assert copy.copy(batch).x is batch.x", "methods.conversion"),
        ("assert Batch(batch.x, batch_size=[3], names=['time'])[:2].names == ('time',)", "methods.unusual_indices"),
        ("assert batch[[0, 2]].x.tolist() == [[0, 1], [4, 5]]", "methods.unusual_indices"),
        ("batch[0] = 7; assert batch.x[0].tolist() == [7, 7]", "methods.assignment"),
        ("with batch.lock_(): assert batch.is_locked", "core.locking"),
        ("assert (Batch.rename.__doc__ or '').startswith('The object')", "methods.naming"),
        ("assert pickle.loads(pickle.dumps(batch.keys))() == ('x',)", "methods.keys"),
        ("assert 'include_nested' in inspect.signature(Batch.keys).parameters", "methods.keys"),
        (
            "dir(batch); assert not any(isinstance(value, Late) for value in vars(TensorClass).values())",
            "methods.applying",
        ),
        (
            "results = []; threads = [threading.Thread(target=lambda: results.append(batch.keys())) for _ in range(8)]\n"
            "for thread in threads: thread.start()\n"
            "for thread in threads: thread.join()\n"
            "assert results == [('x',)] * 8",
            "methods.keys",
        ),
    ],
)
def test_a_late_method_is_loaded_by_its_first_use(use: str, module: str) -> None:
    done = fresh_process.run("-c", f"{PROGRAM}assert not loaded({module!r})\n{use}\nassert loaded({module!r})")
    assert done.returncode == 0, done.stderr


def test_the_first_use_can_be_in_compiled_code_and_costs_no_second_compilation() -> None:
    program = """
def compiled(function):
    counter = torch._dynamo.testing.CompileCounter()
    in_graph = torch.compile(function, fullgraph=True, backend=counter)
    first = in_graph(batch)
    assert torch.equal(first, function(batch))
    in_graph(batch)
    assert counter.frame_count == 1, counter.frame_count

import torch._dynamo.testing
compiled(lambda batch: batch.get_at("x", 0) + 1)
compiled(lambda batch: batch.rename("time").x + 1)
compiled(lambda batch: batch.apply(torch.sin).x)
compiled(lambda batch: copy.copy(batch).x + 1)
compiled(lambda batch: [item.x + 1 for item in batch][0])
compiled(lambda batch: batch.replace(x=batch.x + 1).x)
compiled(lambda batch: Batch.stack([batch, batch]).x)
compiled(lambda batch: (batch + 1).x)
compiled(lambda batch: batch.sum(0).x)
compiled(lambda batch: batch[..., None].x + 1)
"""
    done = fresh_process.run("-c", PROGRAM + program)
    assert done.returncode == 0, done.stderr


def test_a_class_of_the_user_overrides_one_before_it_is_loaded() -> None:
    program = """
class Named(TensorClass):
    x: Tensor

    def keys(self):
        return ("my", *super().keys())

assert Named(torch.zeros(3), batch_size=[3]).keys() == ("my", "x")
"""
    done = fresh_process.run("-c", PROGRAM + program)
    assert done.returncode == 0, done.stderr


def test_what_a_program_has_put_in_place_of_a_late_method_stays() -> None:
    program = """
with mock.patch.object(TensorClass, "keys", lambda self: ("other",)):
    batch.items()
    assert batch.keys() == ("other",)
assert batch.keys() == ("x",)
"""
    done = fresh_process.run("-c", PROGRAM + program)
    assert done.returncode == 0, done.stderr
