"""Children of other libraries get the values that their constructors give them, and what cannot be recorded is named."""

from __future__ import annotations

import re

import numpy
import pytest
import torch
from torch import nn

from qten_gen import Module, ModuleList, submodule

from .declared import Foreign, assert_same


class Net(Module):
    dim: int
    repeated: ModuleList[Foreign] = submodule(Foreign, "dim", repeat=2)
    single: Foreign = submodule(Foreign, "dim", 0.25)
    plain: nn.Linear = submodule(nn.Linear, "dim", "dim")


def test_a_child_has_the_values_of_its_constructor_and_not_those_of_the_layers_in_it() -> None:
    reports: list[str] = []
    net = Net.on_meta(64).materialize("cpu", seed=0, report=lambda report: reports.append(str(report)))
    eager = Net(64)
    assert re.search(r"single\.layers\.0\.weight +float32 \[64, 64\] +initialiser +Foreign\.__init__\n", reports[0])
    assert re.search(r"plain\.weight +float32 \[64, 64\] +initialiser +Linear\.reset_parameters\n", reports[0])
    assert net.single.get_parameter("layers.0.bias").tolist() == [0.25] * 64
    assert [each.get_parameter("layers.1.bias").tolist() for each in net.repeated] == [[0.5] * 64] * 2
    weights = torch.stack([each.get_parameter("layers.1.weight").detach() for each in (*net.repeated, net.single)])
    torch.testing.assert_close(weights.std((1, 2)), torch.full((3,), 0.02), rtol=0.1, atol=0)
    assert float(torch.corrcoef(weights.flatten(1)).fill_diagonal_(0).abs().max()) < 0.1
    torch.testing.assert_close(net.single.get_buffer("table"), eager.single.get_buffer("table"), rtol=0, atol=0)
    assert net.single.offsets.tolist() == list(range(64))


def test_the_values_depend_on_seed_and_name_alone() -> None:
    whole = Net.on_meta(8).materialize("cpu", seed=0)
    part = Net.on_meta(8)
    torch.randn(3)
    assert_same(part.materialize("cpu", seed=0), whole)

    class Outer(Module):
        net: Net = submodule(Net, 8)

    outer = Outer.on_meta()
    outer.net.materialize("cpu", seed=0, prefix="net")
    assert_same(outer, Outer.on_meta().materialize("cpu", seed=0))


def test_a_module_above_changes_once_what_the_constructor_gave() -> None:
    class Doubling(Net):
        def reset_parameters(self) -> None:
            with torch.no_grad():
                self.single.get_parameter("layers.0.bias").mul_(2)

    assert Doubling.on_meta(3).materialize("cpu", seed=0).single.get_parameter("layers.0.bias").tolist() == [0.5] * 3


class Reading(Foreign):
    def __init__(self, fails: bool) -> None:
        super().__init__(2)
        if self.get_buffer("table").is_meta:
            return
        if fails or float(self.get_parameter("layers.0.weight").detach().sum()) > 9:
            raise ValueError("no")


class FromNumPy(Foreign):
    def __init__(self) -> None:
        super().__init__(2)
        with torch.no_grad():
            self.get_parameter("layers.0.bias").copy_(torch.from_numpy(numpy.random.rand(2)))


def test_numbers_of_numpy_depend_on_the_seed_and_leave_its_generator_alone() -> None:
    class OfNumPy(Module):
        child: FromNumPy = submodule(FromNumPy)

    one, same, other = (OfNumPy.on_meta() for _ in range(3))
    state = str(numpy.random.get_state())
    for module, seed in ((one, 0), (same, 0), (other, 1)):
        module.materialize("cpu", seed=seed)
    assert_same(one, same)
    assert not torch.equal(one.child.get_parameter("layers.0.bias"), other.child.get_parameter("layers.0.bias"))
    assert str(numpy.random.get_state()) == state


def test_a_constructor_may_read_random_values_and_one_that_fails_is_named() -> None:
    class Net(Module):
        fails: bool
        child: Reading = submodule(Reading, "fails")

    assert Net.on_meta(False).materialize("cpu", seed=0).child.get_buffer("table").tolist()[0] == 1
    with pytest.raises(RuntimeError, match=r"Reading initialises it, and Net\(\) cannot be recorded: no"):
        Net.on_meta(True).materialize("cpu", seed=0)


def test_a_child_that_was_exchanged_is_not_taken_for_the_one_that_the_constructor_makes() -> None:
    net = Net.on_meta(3)
    with torch.device("meta"):
        net.single = Foreign(4)
    with pytest.raises(RuntimeError, match=r"Net\(\) does not make single\.table as it is now"):
        net.materialize("cpu", seed=0)
    assert net.single.get_parameter("layers.0.weight").is_meta
