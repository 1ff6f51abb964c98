"""A buffer that nothing makes raises when it is read, and not where somebody has written it first."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, param, submodule

from .models import PlainRotary, frequencies
from .test_remade import Inner, OfPlain, OfSaved, OfUnknown, Unknown, assigned, emptied, on_meta


@pytest.mark.parametrize("cls", [Unknown, OfSaved, OfUnknown, OfPlain])
@pytest.mark.parametrize("way", [emptied, assigned])
def test_a_call_raises_where_nothing_makes_it(
    cls: type[Module], way: Callable[[Callable[..., Module]], Module]
) -> None:
    model: nn.Module = way(cls)
    for each in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), nn.Sequential(model)):
        for _ in range(2):
            with pytest.raises(RuntimeError, match=rf"{cls.__name__}\.mask was never written: it is in no state dict"):
                each(torch.ones(4))
    mask = model.get_buffer("mask")
    if not mask.is_meta:
        mask.data.fill_(3)
        assert model(torch.ones(4)).tolist() == [3.0] * 4
        assert type(mask) is Tensor and not model._forward_pre_hooks


class Scratch(Module):
    """Memory that `forward` writes before it reads it."""

    memory: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("memory", torch.empty(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.memory[:] = x
        return self.memory[1:] * 2


@pytest.mark.parametrize("compiled", [False, True])
def test_memory_that_a_call_writes_first_raises_not(compiled: bool) -> None:
    model: nn.Module = emptied(Scratch)
    assert repr(model.get_buffer("memory")) == "tensor(..., size=(4,), never written)"
    call = torch.compile(model, backend="eager") if compiled else model
    assert call(torch.ones(4)).tolist() == [2.0] * 3
    assert compiled or type(model.get_buffer("memory")) is Tensor


READS = (lambda it: it + 1, torch.ones(4).copy_, lambda it: it[1:].double().tolist(), lambda it: bool(it[0]))
MORE_READS = (
    lambda it: torch.ops.aten._softmax(it, 0, False),
    lambda it: it.type_as(torch.zeros(4, dtype=torch.bool)),
    lambda it: torch.cat([it, it]),
    lambda it: it.mul_(2).sum(),
    Tensor.numpy,
)


@pytest.mark.parametrize("read", [*READS, *MORE_READS])
def test_nothing_reads_what_was_never_written(read: Callable[[Tensor], object]) -> None:
    memory = emptied(Scratch).get_buffer("memory")
    assert (memory.shape, memory.device, memory.new_zeros(1).item()) == ((4,), torch.device("cpu"), 0)
    with pytest.raises(RuntimeError, match=r"Scratch\.memory was never written"):
        read(memory)


class Doubled(Inner):
    """A constructor that writes into the buffer once the methods of the class have made it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps.mul_(2)


def test_it_is_left_without_values_by_what_gives_it_memory_later() -> None:
    model = on_meta(Doubled)
    model.load_state_dict({}, assign=True)
    model._apply(lambda tensor: torch.empty_like(tensor, device="cpu"))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"Doubled\.steps has lost its values"):
            model().tolist()
        model.to_empty(device="cpu")


class RealPart(Module):
    phases: Tensor = buffer(2, persistent=False, dtype=torch.complex64, initializer=lambda it: it.real.fill_(1))


def test_half_of_a_complex_number_is_none() -> None:
    with pytest.raises(RuntimeError, match=r"RealPart\.phases is not initialised"):
        RealPart()


class AroundPlain(Module):
    rotary: PlainRotary = submodule(PlainRotary, 8)

    def forward(self) -> Tensor:
        return self.rotary.inv_freq


def test_what_a_constructor_or_a_plain_child_alone_can_make_raises_too() -> None:
    with pytest.raises(RuntimeError, match=r"Doubled\.steps has lost its values: .*what a constructor"):
        emptied(Doubled)().tolist()
    with pytest.raises(RuntimeError, match=r"PlainRotary\.inv_freq was never written"):
        emptied(AroundPlain)().tolist()
    assert torch.equal(AroundPlain().to_empty(device="cpu")(), frequencies(8))


class Parts(Module):
    """Tensors of its own, of a layer of torch, and of a list."""

    scale: nn.Parameter = param(2, initializer=nn.init.ones_)
    steps: Tensor = buffer(dtype=torch.int64, initializer=nn.init.zeros_)
    layer: nn.Linear = submodule(nn.Linear, 2, 2, bias=False)
    heads: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, bias=False, repeat=2)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layer(x) * self.scale
        return out


NAMES = ("scale", "steps", "layer.weight", "heads.1.weight")


@pytest.mark.parametrize("missing", [(), NAMES, *((name,) for name in NAMES)])
@pytest.mark.parametrize("made", [Parts, lambda: on_meta(Parts)])
def test_the_first_call_says_what_nobody_has_loaded(made: Callable[[], Module], missing: tuple[str, ...]) -> None:
    model: nn.Module = made().to_empty(device="cpu").to_empty(device="cpu")
    assert len(model._forward_pre_hooks) == 1
    state = {name: value for name, value in Parts().state_dict().items() if name not in missing}
    model.load_state_dict(state, strict=False)
    copied: nn.Module = pickle.loads(pickle.dumps(copy.deepcopy(model)))
    for each in (model, copied):
        if missing:
            with pytest.raises(RuntimeError, match=rf"nothing has written {'.*'.join(missing)} since to_empty\(\)"):
                each(torch.ones(2))
        each(torch.ones(2))
        assert not each._forward_pre_hooks


def test_what_is_written_past_the_counters_of_torch_is_written() -> None:
    """As loaders write through `.data`, and collectives into the memory."""
    model: nn.Module = on_meta(Parts).to_empty(device="cpu")
    for tensor in model.state_dict().values():
        tensor.data.copy_(torch.ones(()))
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == model(torch.ones(2)).tolist() == [2.0, 2.0]
