"""Where an unsaved buffer comes from when it is made again, and what happens where nothing makes it."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, fake_mode, param, submodule

from .models import PlainRotary, spoiled_memory


class OfMethod(Module):
    """Its own `reset_parameters` fills the buffer."""

    dim: int = 4
    mask: Tensor = buffer("dim", persistent=False)
    weight: nn.Parameter = param("dim")

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)
        with torch.no_grad():
            self.mask.copy_(torch.arange(self.dim).float())


class Written(Module):
    """An `__init__` of its own, and a `reset_parameters` that writes into a child too."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.mask: Tensor
        self.register_buffer("mask", torch.arange(4).float(), persistent=False)

    def reset_parameters(self) -> None:
        self.mask.copy_(torch.arange(4).float())
        self.linear.weight.data.zero_()


class AfterInit(Module):
    """`__post_init__` registers the buffer, and a hook."""

    linear: nn.Linear = submodule(nn.Linear, 4, 4)

    def __post_init__(self) -> None:
        self.register_buffer("mask", torch.arange(4).float(), persistent=False)
        self.linear.register_forward_hook(lambda *given: None)


class Inner(Module):
    steps: Tensor = buffer(4, persistent=False, value=lambda inner: torch.arange(4).float())

    def forward(self) -> Tensor:
        return self.steps


class OfChild(Module):
    """The value of the buffer is computed from a child's, and no cast changes its dtype."""

    inner: Inner = submodule(Inner)
    mask: Tensor = buffer(
        4, persistent=False, dtype=torch.float32, keep_dtype=True, value=lambda outer: outer.inner.steps.clone()
    )


MODELS: list[Callable[..., Module]] = [OfMethod, Written, AfterInit, OfChild]


def on_meta(cls: Callable[..., Module]) -> Module:
    with torch.device("meta"):
        return cls()


def emptied(cls: Callable[..., Module]) -> Module:
    model = on_meta(cls)
    spoiled_memory()
    model.to_empty(device="cpu").load_state_dict(cls().state_dict())
    return model


def assigned(cls: Callable[..., Module]) -> Module:
    model = on_meta(cls)
    model.load_state_dict(cls().state_dict(), assign=True)
    return model


def moved(cls: Callable[..., Module]) -> Module:
    """Loaded tensor by tensor past every method, then moved, as accelerate does."""
    model, full = on_meta(cls), cls()
    for path, module in model.named_modules():
        module._parameters.update(full.get_submodule(path)._parameters)
    return model.to("cpu")


@pytest.mark.parametrize("way", [emptied, assigned, moved])
@pytest.mark.parametrize("cls", MODELS)
def test_it_is_made_again_and_nothing_else_is_touched(
    cls: Callable[..., Module], way: Callable[[Callable[..., Module]], Module]
) -> None:
    made = way(cls)
    assert made.get_buffer("mask").tolist() == [0.0, 1.0, 2.0, 3.0]
    state = torch.get_rng_state()
    made.load_state_dict(cls().state_dict())
    saved = [tensor.clone() for tensor in made.state_dict().values()]
    torch.set_rng_state(state)
    made.to("cpu")
    assert all(map(torch.equal, saved, made.state_dict().values()))
    assert torch.equal(state, torch.get_rng_state())
    assert all(len(module._forward_hooks) <= 1 for module in made.modules())


class Kinds(Module):
    """Values whose bytes are those of a mark."""

    flags: Tensor = buffer(3, persistent=False, value=lambda it: torch.tensor([True, False, True]))
    bytes: Tensor = buffer(2, persistent=False, value=lambda it: torch.full((2,), 0xA5, dtype=torch.uint8))
    counts: Tensor = buffer(3, persistent=False, value=lambda it: torch.tensor([165, 0, 2], dtype=torch.int32))
    phases: Tensor = buffer(2, persistent=False, value=lambda it: torch.tensor([1 + 2j, 3]))
    step: Tensor = buffer(persistent=False, value=lambda it: torch.tensor(7))
    eights: Tensor = buffer(2, persistent=False, dtype=torch.float8_e4m3fn, initializer=nn.init.ones_)

    def forward(self) -> Tensor:
        return self.step


@pytest.mark.parametrize("inference", [False, True])
def test_every_kind_of_value_is_made(inference: bool) -> None:
    with torch.inference_mode(inference):
        model = emptied(Kinds)
    model()
    for one, other in zip(model.buffers(), Kinds().buffers(), strict=True):
        assert torch.equal(one.to(torch.complex64), other.to(torch.complex64))


def test_a_cast_module_gets_the_values_that_it_had() -> None:
    model = OfChild().half()
    spoiled_memory()
    assert all(map(torch.equal, model.to_empty(device="cpu").buffers(), OfChild().half().buffers()))


class Noise(Module):
    noise: Tensor = buffer(4, persistent=False, initializer=nn.init.normal_)
    drawn: Tensor = buffer(4, persistent=False, value=lambda it: torch.tensor([random.random() for _ in range(4)]))
    steps: Tensor = buffer(4, persistent=False, value=lambda it: torch.arange(4).float())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.steps


def test_random_values_are_the_same_whatever_was_drawn_before() -> None:
    first = emptied(Noise)
    torch.rand(3)
    random.random()
    model, state = on_meta(Noise), random.getstate()
    assert all(map(torch.equal, first.buffers(), model.to_empty(device="cpu").buffers()))
    assert random.getstate() == state


def test_fake_tensors_have_no_values_to_make() -> None:
    with fake_mode():
        assert Inner().to_empty(device="cpu").steps.shape == (4,)


class Shares(Module):
    """Shares plain attributes with its stand-in: a list of children, a config, a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(2, 2)]
        self.add_module("layer", self.layers[0])
        self.config = {"sizes": [1]}
        self.seen = torch.ones(2)
        self.register_buffer("mask", torch.ones(2), persistent=False)

    def reset_parameters(self) -> None:
        self.config["sizes"].append(1)
        self.layers[0].weight.data.zero_()
        self.get_buffer("mask").fill_(len(self.config["sizes"]))


class SharesTensor(Shares):
    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.seen.data.zero_()

    def forward(self) -> Tensor:
        return self.get_buffer("mask")


class Halved(Module):
    """Half of the value is computed from a saved tensor."""

    saved: Tensor = buffer(initializer=nn.init.ones_)
    mask: Tensor = buffer(2, persistent=False, initializer=nn.init.ones_)

    def __post_init__(self) -> None:
        self.mask.div_(self.saved)

    def forward(self) -> Tensor:
        return self.mask


def test_what_a_module_shares_with_its_stand_in_is_not_changed() -> None:
    for cls in (Shares, SharesTensor):
        with torch.device("meta"):
            model = cls()
        model.layers = [nn.Linear(2, 2)]
        model.add_module("layer", model.layers[0])
        model.seen = torch.ones(2)
        model._apply(lambda tensor: torch.empty_like(tensor, device="cpu") if tensor.is_meta else tensor)
        assert model.layers[0].weight.all() and model.config["sizes"] == [1] and model.seen.all()
        assert cls is SharesTensor or model.get_buffer("mask").tolist() == [2, 2]
    unmade: list[nn.Module] = [model, emptied(Halved)]
    for each in unmade:
        with pytest.raises(RuntimeError, match="mask was never written"):
            each().tolist()


@pytest.mark.parametrize(
    "made",
    [
        lambda it: torch.arange(4.0, device=it.weight.device),
        lambda it: torch.tensor([0.0, 1, 2, 3], device=it.weight.device),
        lambda it: it.weight.new_tensor([0.0, 1, 2, 3]),
        lambda it: torch.arange(4).to(it.weight),
        lambda it: torch.ones_like(it.weight).cumsum(0) - 1,
    ],
)
def test_a_value_may_take_its_place_from_a_saved_tensor(made: Callable[..., Tensor]) -> None:
    class Placed(Module):
        weight: nn.Parameter = param(4, initializer=nn.init.ones_)
        mask: Tensor = buffer(4, persistent=False, value=made)

    assert emptied(Placed).get_buffer("mask").tolist() == [0.0, 1.0, 2.0, 3.0]


class Unknown(Module):
    """Nothing makes its buffer but the constructor."""

    def __init__(self) -> None:
        super().__init__()
        self.mask: Tensor
        self.register_buffer("mask", torch.ones(4), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.mask


class OfSaved(Module):
    """The value is computed from a saved tensor, which has none yet."""

    saved: Tensor = buffer(4, initializer=nn.init.ones_)
    mask: Tensor = buffer(4, persistent=False, value=lambda it: it.saved / 2)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.mask


class OfUnknown(Module):
    """The value is computed from a child's buffer, which nothing makes."""

    child: Unknown = submodule(Unknown)
    mask: Tensor = buffer(4, persistent=False, value=lambda it: it.child.mask * 2)
    forward = OfSaved.forward


class OfPlain(Module):
    child: PlainRotary = submodule(PlainRotary, 8)
    mask: Tensor = buffer(4, persistent=False, value=lambda it: it.child.inv_freq * 2)
    forward = OfSaved.forward


def allocated(model: nn.Module) -> None:
    """What transformers' `from_pretrained` does to a model on meta: memory for what the checkpoint lacks, by assignment."""
    spoiled_memory()
    for path, module in model.named_modules():
        for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
            if tensor is not None:
                empty = torch.empty_like(tensor, device="cpu")
                setattr(module, name, nn.Parameter(empty) if isinstance(tensor, nn.Parameter) else empty)
        assert not any(tensor.is_meta for tensor in module.buffers(recurse=False)), path


class Reader(Module):
    """Reads the buffer of a child, which is never called."""

    inner: Inner = submodule(Inner)
    mask: Tensor = buffer(4, persistent=False, value=lambda reader: reader.inner.steps.clone())

    def forward(self, x: Tensor) -> Tensor:
        return x * self.inner.steps * self.mask


class Caller(Reader):
    """Calls the child."""

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x * self.inner() * self.mask
        return out


@pytest.mark.parametrize("cls", [Reader, Caller])
def test_memory_that_a_trainer_gives_past_every_method_is_filled_when_it_is_first_read(cls: type[Module]) -> None:
    ways: list[Callable[[Module], Module]] = [
        Module.eval,
        copy.deepcopy,
        lambda model: pickle.loads(pickle.dumps(model)),
    ]
    for through in ways:
        model: Module = on_meta(cls)
        allocated(model)
        lent = model._buffers["mask"]
        with pytest.warns(UserWarning, match="had other values than its declaration gives when the module was first"):
            copied: nn.Module = through(model)
            assert copied(torch.ones(4)).tolist() == [0.0, 1.0, 4.0, 9.0]
        assert not copied._forward_pre_hooks
        assert lent is not model.get_buffer("mask") and lent._version == 0
    again: nn.Module = on_meta(Reader)
    again.load_state_dict({}, assign=True)
    assert again(torch.ones(4)).tolist() == [0.0, 1.0, 4.0, 9.0]


def test_what_a_trainer_writes_into_that_memory_is_kept_and_a_run_on_meta_is_none() -> None:
    model: nn.Module = on_meta(Reader)
    assert model(torch.ones(4, device="meta")).is_meta
    allocated(model)
    for tensor in model.buffers():
        tensor.fill_(3.0)
    with pytest.warns(UserWarning, match="was written in place since it got memory.*They are kept"):
        assert model(torch.ones(4)).tolist() == [9.0] * 4
    model.get_submodule("inner").steps = torch.ones(4)
    assert model(torch.ones(4)).tolist() == [3.0] * 4


class Parent(Module):
    """Writes into the unsaved buffer of a child, which cannot know of it."""

    inner: Inner = submodule(Inner)

    def __post_init__(self) -> None:
        self.inner.steps.mul_(2)

    def forward(self) -> Tensor:
        out: Tensor = self.inner()
        return out


class ByInit(Module):
    """The same by an `__init__` of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.inner.steps = self.inner.steps * 2

    forward = Parent.forward


class ByReset(Parent):
    """The same by a `reset_parameters`, which lets the child begin."""

    def reset_parameters(self) -> None:
        self.inner.reset_parameters()
        self.inner.steps.mul_(2)

    def __post_init__(self) -> None:
        pass


class OwnInner(Inner):
    """A child whose own `__init__` registers the buffer, and fills it in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.empty(4), persistent=False)
        self.steps.copy_(torch.arange(4))


class LateInner(Module):
    """A child whose `__post_init__` registers it."""

    def __post_init__(self) -> None:
        self.register_buffer("steps", torch.arange(4).float(), persistent=False)

    def forward(self) -> Tensor:
        return self.get_buffer("steps")


class OfOwn(Parent):
    inner: OwnInner = submodule(OwnInner)  # pyright: ignore[reportIncompatibleVariableOverride] # assigned by the constructor alone


class OfLate(Module):
    inner: LateInner = submodule(LateInner)
    forward = Parent.forward

    def __post_init__(self) -> None:
        self.inner.get_buffer("steps").mul_(2)


@pytest.mark.parametrize("cls", [Parent, ByInit, ByReset, OfOwn, OfLate])
def test_what_a_parent_writes_into_it_is_not_lost_in_silence(cls: type[Module]) -> None:
    assert cls().to_empty(device="cpu")().tolist() == [0, 2, 4, 6]
    made: list[Module] = [
        emptied(cls),
        on_meta(cls).double().to_empty(device="cpu"),
        copy.deepcopy(on_meta(cls)).to_empty(device="cpu"),
    ]
    away = cls().to("meta")
    for model in (*made, away.to_empty(device="cpu")):
        with pytest.raises(
            RuntimeError, match=r"Inner\.steps has lost its values: .* around \w*Inner wrote there was gone"
        ):
            model().tolist()
        model.get_buffer("inner.steps").fill_(3)
        assert model().tolist() == [3] * 4


def test_what_resets_a_child_on_meta_is_not_taken_for_that() -> None:
    model = on_meta(OfChild).apply(lambda each: each.reset_parameters())  # type: ignore[operator] # each has one
    assert model.to_empty(device="cpu").get_buffer("mask").tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(("cls", "name"), [(Unknown, "mask"), (Noise, "noise")])
def test_memory_that_nothing_can_fill_warns_where_the_module_is_used(cls: type[Module], name: str) -> None:
    model: nn.Module = on_meta(cls)
    allocated(model)
    with pytest.warns(UserWarning) as warned:
        model(torch.ones(4))
    assert f"{cls.__name__}.{name} was on meta, and has memory now" in str(warned[0].message)
    assert all(each.filename == __file__ for each in warned)
    assert cls is Unknown or model.get_buffer("steps").tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("compiled", [Inner, Reader])
def test_a_compiled_call_is_a_first_call_too(compiled: type[Module]) -> None:
    model: nn.Module = on_meta(compiled)
    allocated(model)
    given = (torch.ones(4),) if compiled is Reader else ()
    with pytest.warns(UserWarning, match="had other values than its declaration gives"):
        found = torch.compile(model, backend="eager")(*given)
    assert torch.equal(found, compiled()(*given))
