"""A value of any kind for a constructor argument reaches a child as it is, or is refused with the class and the argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from inspect import signature
from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn

from qten_gen import (
    DeclarationError,
    Module,
    ModuleDict,
    ModuleList,
    buffer,
    check,
    choice,
    const,
    derived,
    field,
    param,
    sequential,
    submodule,
    virtual,
)

from .declared import Kept


class Checked(Module):
    dim: int
    check("dim % 2 == 0")


class Divided(Module):
    dim: int
    parts: int = 4
    size: int = derived("dim // parts")
    bias: nn.Parameter = param("size", initializer=nn.init.zeros_)


class Table(Module):
    rows: int
    table: Tensor = buffer("rows", "2 * rows", initializer=nn.init.zeros_)


class Layer(Module):
    dim: int
    linear: nn.Linear = submodule(nn.Linear, "dim", "2 * dim")


class Dropped(Module):
    rate: float
    drop: nn.Dropout = submodule(nn.Dropout, "rate")


class Layers(Module):
    depth: int
    layers: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat="depth")


class Some(Module):
    depth: int
    layer: nn.Linear | None = submodule(nn.Linear, 2, 2, when="depth > 3")


class Weights(Module):
    depth: int
    weights: nn.ParameterList = param(2, initializer=nn.init.ones_, repeat="depth")


class Chain(Module):
    dim: int
    chain: nn.Sequential = sequential(submodule(nn.Linear, "dim", 2), submodule(nn.ReLU))


class Chosen(Module):
    kind: str
    act: nn.Module = submodule(choice("kind", {"relu": nn.ReLU, "gelu": nn.GELU}))


class Shaped(Module):
    shape: tuple[int, ...]
    weight: nn.Parameter = param("shape[1]", initializer=nn.init.ones_)


class Pair(Module):
    shape: tuple[int, int]
    linear: nn.Linear = submodule(nn.Linear, "shape[0]", "shape[1]")


class Named(Module):
    size: int = field(alias="width")
    table: Tensor = buffer("size", initializer=nn.init.zeros_)


class Fan(Module):
    weight: nn.Parameter = param(3, initializer=nn.init.xavier_uniform_)


class Taken(Module):
    kind: type[nn.Module]
    act: nn.Module = submodule(choice("kind"))


class Steps(Module):
    sizes: list[int]
    layers: ModuleList[nn.Linear] = submodule(nn.Linear, "sizes[index]", "sizes[index + 1]", repeat="len(sizes)")


class Heads(Module):
    tasks: tuple[str, ...]
    heads: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, 2, keys="tasks")


class Valued(Module):
    scale: Tensor = buffer(3, value="make")


class Typo(Module):
    inner: nn.Linear = submodule(nn.Linear, 2, 2)
    outer: nn.Parameter = param(tie="inner.wieght")


_MODULES: tuple[Any, ...] = (
    Checked, Divided, Table, Layer, Dropped, Layers, Some, Weights, Chain, Chosen, Shaped, Pair, Named,
)  # fmt: skip
_WRONG: tuple[Any, ...] = ("64", 64.5, None, [], (3,), ("3", 4), -4, object(), {}, b"4", torch.ones(2), int)


@pytest.mark.parametrize("cls", _MODULES)
def test_a_wrong_value_works_or_raises_an_error_that_names_class_and_argument(cls: Any) -> None:
    argument = "width" if cls is Named else next(iter(cls._config))
    for wrong in _WRONG:
        try:
            cls(wrong)
        except Exception as error:
            named = rf"^{cls.__name__}(\.\w+)?: (.|\n)*({argument}|{cls._config[0]}|sizes|expected)"
            assert re.match(named, str(error)), (wrong, error)


@pytest.mark.parametrize(
    ("cls", "arguments", "expected"),
    [
        (Checked, ("64",), "Checked.dim: expected int, got '64'"),
        (Divided, (64.0,), "Divided.dim: expected int, got 64.0"),
        (Divided, (64, 0), "Divided: cannot compute dim // parts of dim = 64, parts = 0: "),
        (Layer, ("64",), "Layer.dim: expected int, got '64'"),
        (Layer, (-4,), "Layer: cannot compute nn.Linear(dim, 2 * dim) of dim = -4: "),
        (Shaped, ((3,),), "Shaped: cannot compute shape[1] of shape = (3,): tuple index out of range"),
        (Pair, (3,), "Pair.shape: expected tuple[int, int], got 3"),
        (Pair, ((3, "4"),), "Pair.shape: expected tuple[int, int], got (3, '4')"),
        (Layers, ("3",), "Layers.depth: expected int, got '3'"),
        (Fan, (), "Fan: cannot compute nn.init.xavier_uniform_(self.weight): Fan in and fan out"),
        (Taken, ("relu",), "Taken.kind: expected type[torch.nn.modules.module.Module], got 'relu'"),
        (
            Steps,
            ([1, 2],),
            "Steps: cannot compute sizes[index + 1] of sizes = [1, 2], index = 1: list index out of range",
        ),
        (Heads, (("a.b",),), "Heads: cannot compute ModuleDict({key: nn.Linear("),
        (Valued, (), "Valued: cannot compute buffer(value='make'): 'Valued' object has no attribute 'make'"),
        (Typo, (), "Typo: cannot compute param(tie='inner.wieght'): Linear has no attribute"),
    ],
)
def test_the_error_says_what_was_expected_and_given(cls: Any, arguments: Any, expected: str) -> None:
    with pytest.raises(Exception, match=f"^{re.escape(expected)}"):
        cls(*arguments)


_SPECIFIERS: dict[Any, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    param: (nn.Parameter, ("dim",), {"initializer": nn.init.ones_}),
    buffer: (Tensor, ("dim",), {"initializer": nn.init.ones_}),
    submodule: (nn.Linear, (nn.Linear, "dim", 2), {"bias": True}),
    sequential: (nn.Sequential, (submodule(nn.Linear, "dim", 2),), {}),
    derived: (int, ("dim + 1",), {}),
    field: (int, (), {}),
    const: (str, ("a",), {}),
    choice: (Any, ("dim", {4: 4}), {}),
    virtual: (Tensor, (), {}),
}
_WRITTEN = (
    *_WRONG,
    *"64 + dim nope dim.real dim[0] a\tb \0".split(" "),
    -1.5,
    True,
    len,
    torch.float16,
    ...,
    {1},
    range(3),
)


def _calls(specifier: Any) -> Iterator[tuple[Any, object, Callable[[], Any]]]:
    """The annotation of a field, a wrong value, and a call of its specifier with that value in place of an argument."""
    annotation, given, keywords = _SPECIFIERS[specifier]
    for wrong in _WRITTEN:
        for at in range(len(given) + 1):
            yield annotation, wrong, partial(specifier, *given[:at], wrong, *given[at + 1 :], **keywords)
        for name in {**signature(specifier).parameters, **keywords}:
            kept = {key: value for key, value in keywords.items() if (key, name) != ("initializer", "value")}
            several = nn.ParameterList if specifier is param else ModuleList[nn.Linear]
            yield several if name == "repeat" else annotation, wrong, partial(specifier, *given, **kept | {name: wrong})


@pytest.mark.parametrize("specifier", _SPECIFIERS)
def test_a_wrong_argument_of_a_specifier_works_or_raises_an_error_that_names_class_or_field(specifier: Any) -> None:
    for annotation, wrong, call in _calls(specifier):
        try:
            made = call()
            body: Any = {"__annotations__": {"dim": int, "item": annotation}, "__module__": __name__}
            body["item"] = submodule(Kept, made) if specifier in (const, choice) else made
            type.__call__(type(Module), "Net", (Module,), body)(4)
        except DeclarationError as error:
            assert "  item: error QG" in str(error), (wrong, error)
        except Exception as error:
            assert re.search(rf"Net\b|\b{specifier.__name__}\b", str(error)), (wrong, error)


def test_errors_of_other_constructors_stay_as_they_are() -> None:
    class Failing(nn.Module):
        def __init__(self, dim: int) -> None:
            raise IndexError(f"no {dim}")

    class Parent(Module):
        dim: int
        child: Failing = submodule(Failing, "dim")

    with pytest.raises(IndexError, match="^no 3$"):
        Parent(3)


class Mode(Enum):
    FAST = "fast"


class Everything(Module):
    """Passes each of its config fields on."""

    size: int
    rate: float
    either: float | int
    name: str
    kernel: tuple[int, int]
    flag: bool
    maybe: float | None
    table: dict[str, int]
    items: list[int]
    mode: Mode
    word: Literal["a", "b"]
    anything: Any
    child: Kept = submodule(
        Kept,
        "size",
        "rate",
        "either",
        "name",
        "kernel",
        "flag",
        "maybe",
        "table",
        "items",
        "mode",
        "word",
        x="anything",
    )
    computed: Kept = submodule(Kept, "2*size", "2*rate", "either - size", y="size // 2")
    text: Kept = submodule(Kept, const("rate"), const("2*size"))


def test_a_config_field_of_any_type_reaches_a_child() -> None:
    given: Any = (4, 0.5, 3, "n", (1, 2), True, None, {"k": 1}, [2], Mode.FAST, "b", object())
    everything = Everything(*given)

    assert all(kept is value for kept, value in zip(everything.child.kept, given, strict=True))


def test_an_expression_computes_with_numbers() -> None:
    everything = Everything(4, 0.5, 3, "n", (1, 2), True, None, {}, [], Mode.FAST, "b", 1)

    assert everything.computed.kept == (8, 1.0, -1, 2)
    assert everything.text.kept == ("rate", "2*size")
