"""Two models are compared in everything that users can tell apart, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, buffer, derived, param, submodule
from qten_gen.tools.inspect.inputs import Inputs
from qten_gen.tools.verify.comparing import compare, unequal
from qten_gen.tools.verify.model_run import record
from qten_gen.tools.verify.verifying import Verdict, lines


class Plain(nn.Module):
    def __init__(self, dim: int, rate: float = 0.5) -> None:
        super().__init__()
        self.middle = dim // 2
        self.scale = nn.Parameter(torch.randn(dim))
        self.inner = nn.Linear(dim, dim)
        self.norm = nn.BatchNorm1d(dim)
        self.drop = nn.Dropout(rate)
        self.register_buffer("mask", torch.ones(dim), persistent=False)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.drop(self.norm(self.inner(x))) * self.scale}


class Declared(Module):
    dim: int
    rate: float = 0.5
    middle: int = derived("dim // 2")
    scale: nn.Parameter = param(value=lambda module: torch.randn(module.dim))
    inner: nn.Linear = submodule(nn.Linear, "dim", "dim")
    norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim")
    drop: nn.Dropout = submodule(nn.Dropout, "rate")
    mask: Tensor = buffer("dim", initializer=nn.init.ones_, persistent=False)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.drop(self.norm(self.inner(x))) * self.scale}


def inputs(model: nn.Module) -> Inputs:
    return Inputs((torch.linspace(-1, 1, 12).reshape(3, 4),), {})


def kinds(old: Callable[..., object], new: Callable[..., object], *args: object) -> list[str]:
    """The kinds of differences between what two factories make."""
    given = list(args or (4,))
    return [each.kind for each in compare(record(old, given, {}, inputs), record(new, list(given), {}, inputs))]


def test_a_declared_class_is_equal_to_the_plain_one() -> None:
    (found,) = compare(record(Plain, [4], {}, inputs), record(Declared, [4], {}, inputs))
    assert (found.kind, found.old, found.new) == ("tree", "the model: Plain()", "the model: Declared()")


def other(change: Callable[[Plain], object]) -> Callable[..., nn.Module]:
    """A factory of models that are changed after they were made."""

    def make(dim: int, rate: float = 0.5) -> nn.Module:
        model = Plain(dim, rate)
        change(model)
        return model

    return make


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda model: setattr(model, "extra", nn.Linear(1, 1)), "keys"),
        (lambda model: model.scale.data.neg_(), "values"),
        (lambda model: model.scale.requires_grad_(False), "gradients and ties of parameters"),
        (lambda model: model.mask.zero_(), "values of buffers outside the state dict"),
        (lambda model: setattr(model.drop, "p", 0.25), "tree"),
        (lambda model: setattr(model, "middle", 3), "attributes"),
        (lambda model: delattr(model, "middle"), "attributes"),
        (lambda model: torch.rand(1), "random numbers drawn"),
        (lambda model: model.eval(), "tree"),
        (lambda model: setattr(model.norm, "momentum", 0.2), "state after a call in training mode"),
        (lambda model: setattr(model.norm, "eps", 0.2), "outputs in eval mode"),
    ],
)
def test_a_change_is_found(change: Callable[[Plain], object], kind: str) -> None:
    assert kind in kinds(Plain, other(change))


def test_a_function_that_the_constructor_made_may_come_from_post_init() -> None:
    def made_in(method: str) -> Callable[..., nn.Module]:
        def double(x: Tensor) -> Tensor:
            return 2 * x

        double.__qualname__ = f"Block.{method}.<locals>.<lambda>"
        return other(lambda model: setattr(model, "double", double))

    assert kinds(made_in("__init__"), made_in("__post_init__")) == []


def test_the_order_of_the_state_dict_counts() -> None:
    def reordered(dim: int, rate: float = 0.5) -> nn.Module:
        model = Plain(dim, rate)
        model._modules["norm"] = model._modules.pop("norm")
        model._modules["inner"] = model._modules.pop("inner")
        return model

    assert "keys, in another order" in kinds(Plain, reordered)


@pytest.mark.parametrize(
    "make",
    [
        lambda dim, rate=0.25: Plain(dim),
        lambda dim, *, rate=0.5: Plain(dim),
        lambda rate, dim=4: Plain(rate),
        lambda dim, rate=0.5, device=None: Plain(dim),
        lambda dim: Plain(dim),
    ],
)
def test_a_constructor_that_takes_other_arguments_is_found(make: Callable[..., object]) -> None:
    assert "constructor" in kinds(Plain, make)


def test_a_constructor_may_take_device_and_dtype_by_keyword() -> None:
    assert kinds(Plain, lambda dim, rate=0.5, *, device=None, dtype=None: Plain(dim)) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda dim, rates=(0.5, 0.1), **options: Plain(dim),
        lambda dim, rates=[0.5, 0.1]: Plain(dim),
        lambda dim, rates=(0.5, 0.1), *, device=None: Plain(dim),
    ],
)
def test_keywords_of_any_name_and_a_tuple_for_a_list_are_worth_a_note(make: Callable[..., object]) -> None:
    def before(dim: int, rates: list[float] = [0.5, 0.1], **options: object) -> Plain:  # noqa: B006
        return Plain(dim)

    differences = compare(record(before, [4], {}, inputs), record(make, [4], {}, inputs))
    verdict = Verdict("shop:Net", differences, tensors=9, ran=True, failure=None, unwritten=())
    assert all(each.is_note for each in differences)
    assert verdict.is_equal
    assert list(lines(verdict))[-1] == "shop:Net: equal (9 tensors, outputs and gradients)"


def test_a_signature_is_written_with_keywords_of_any_name() -> None:
    found = compare(
        record(lambda dim, **options: Plain(dim), [4], {}, inputs), record(lambda dim: Plain(dim), [4], {}, inputs)
    )
    assert [(each.old, each.new) for each in found] == [("(dim, **kwargs)", "(dim)")]


def test_the_verdict_says_which_kinds_differ_and_that_the_tensors_do_not() -> None:
    found = compare(record(Plain, [4], {}, inputs), record(lambda dim, rate=0.25: Plain(dim), [4], {}, inputs))
    verdict = Verdict("shop:Net", found, tensors=9, ran=True, failure=None, unwritten=())
    assert not verdict.is_equal
    assert list(lines(verdict)) == [
        "different constructor:",
        "  old  (dim, rate=0.5)",
        "  new  (dim, rate=0.25)",
        "different config: rate",
        "  old  0.5",
        "  new  0.25",
        "shop:Net: not equal: different constructor, config; 9 tensors, outputs and gradients are equal",
    ]
    changed = compare(
        record(Plain, [4], {}, inputs), record(other(lambda model: model.scale.data.neg_()), [4], {}, inputs)
    )
    verdict = Verdict("shop:Net", changed[:1], tensors=9, ran=True, failure=None, unwritten=())
    assert list(lines(verdict))[-1] == "shop:Net: not equal: different values"


def test_a_class_without_a_constructor_takes_nothing_before_and_after() -> None:
    class Before(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x

    class After(Module):
        def forward(self, x: Tensor) -> Tensor:
            return x

    found = compare(record(Before, [], {}, inputs), record(After, [], {}, inputs))
    assert [each.kind for each in found] == ["tree"]


def test_a_layer_of_torch_keeps_its_arguments_when_module_stands_behind_it() -> None:
    class Before(nn.Linear):
        pass

    class After(nn.Linear, Module, init=False):
        pass

    found = compare(record(Before, [4, 2], {}, inputs), record(After, [4, 2], {}, inputs))
    assert [each.kind for each in found] == ["tree"]


def test_memory_that_nobody_writes_is_the_same_in_both() -> None:
    class Unwritten(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.empty(4))

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weight

    found = record(Unwritten, [], {}, inputs)
    output = found.calls["eval"].outputs["result"]
    assert found.unwritten == ("weight",)
    assert isinstance(output, Tensor) and not output.isnan().any()
    assert compare(found, record(Unwritten, [], {}, inputs)) == ()


def test_an_error_of_forward_has_to_be_the_same() -> None:
    def failing(message: str) -> Callable[..., nn.Module]:
        class Failing(nn.Module):
            def forward(self, x: Tensor) -> Tensor:
                raise ValueError(message)

        return Failing

    one, other_one = (record(failing(message), [], {}, inputs) for message in ("one", "other"))
    assert [each.kind for each in compare(one, other_one)] == ["outputs in training mode", "outputs in eval mode"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")]), None),
        (torch.tensor([0.0]), torch.tensor([-0.0]), ("0.0 at [0]", "-0.0 (1 of 1 elements differ)")),
        (torch.zeros(2, dtype=torch.int32), torch.zeros(2), ("torch.int32 [2] on cpu", "torch.float32 [2] on cpu")),
        (torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 2], [0, 5]]), ("3 at [1, 0]", "0 (2 of 4 elements differ)")),
        (torch.tensor(True), torch.tensor(False), ("True at []", "False (1 of 1 elements differ)")),
        (torch.zeros(0), torch.zeros(0), None),
    ],
)
def test_tensors_are_compared_bit_for_bit(old: Tensor, new: Tensor, found: tuple[str, str] | None) -> None:
    assert unequal(old, new) == found


def test_recording_leaves_the_state_of_torch_as_it_was() -> None:
    before = torch.get_rng_state(), torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    record(Plain, [4], {}, inputs)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before[1:]


def test_what_forward_raised_in_both_is_no_difference() -> None:
    verdict = Verdict("shop:Net", (), tensors=2, ran=True, failure="ValueError: no input", unwritten=())

    assert list(lines(verdict)) == [
        "error: forward raised in both: ValueError: no input",
        "shop:Net: equal (2 tensors; forward could not be compared)",
    ]
    assert not verdict.is_equal
