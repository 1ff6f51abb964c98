"""Random declared modules, each beside the plain module that an expert would write for it, as texts: they do the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from random import Random
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module

from .declared import default_dtype

HEAD = """\
import torch
from functools import partial
from torch import Tensor, nn
from qten_gen import Module, ModuleDict, ModuleList, buffer, const, field, param, submodule
"""

CONFIG = {"dim": "int", "depth": "int", "rate": "float", "mode": "str", "kernel": "tuple[int, int]", "wide": "bool"}
TASKS = ("tasks", "tuple[str, ...]")

_SIZES = {'"dim"': "dim", '"2*dim"': "2 * dim", '"dim + depth"': "dim + depth", "3": "3"}
_INITIALIZERS = {
    "nn.init.ones_": "nn.init.ones_({})",
    "nn.init.normal_": "nn.init.normal_({})",
    "partial(nn.init.uniform_, b=0.5)": "nn.init.uniform_({}, b=0.5)",
    "lambda tensor: tensor.normal_().mul_(0.1)": "{}.normal_().mul_(0.1)",
    '"fill"': "self.fill({})",
}
_PLACED = "device=device, dtype=dtype"
_CHILDREN = {
    'nn.Linear, "dim", 3': f"nn.Linear(dim, 3, {_PLACED})",
    'nn.Dropout, "rate"': "nn.Dropout(rate)",
    'nn.Dropout, p="rate"': "nn.Dropout(p=rate)",
    'nn.Conv2d, "dim", 1, "kernel", padding_mode="mode"': (f"nn.Conv2d(dim, 1, kernel, padding_mode=mode, {_PLACED})"),
    'nn.Conv1d, 1, 1, 1, padding_mode=const("circular")': f"nn.Conv1d(1, 1, 1, padding_mode='circular', {_PLACED})",
    'partial(nn.LayerNorm, eps=1e-3), "dim"': f"nn.LayerNorm(dim, eps=1e-3, {_PLACED})",
    'nn.Sequential, submodule(nn.Linear, "dim", "2*dim"), submodule(nn.ReLU), submodule(nn.Linear, "2*dim", 1)': (
        f"nn.Sequential(nn.Linear(dim, 2 * dim, {_PLACED}), nn.ReLU(), nn.Linear(2 * dim, 1, {_PLACED}))"
    ),
}


@dataclass
class Pair:
    """The lines of both classes as they grow."""

    declared: list[str] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)
    """The constructor arguments whose fields of the declared module have another name."""

    def declaration(self) -> str:
        """The text of the declared module."""
        config = [
            f'given_{name}: {type} = field(alias="{name}")' if name in self.renamed else f"{name}: {type}"
            for name, type in (*CONFIG.items(), TASKS)
        ]
        fill = ["def fill(self, tensor: Tensor) -> None:", "    tensor.uniform_(-self.rate, self.dim)"]
        names = re.compile(rf"\b({'|'.join(self.renamed)})\b(?!=)")
        body = [names.sub(r"given_\1", line) if self.renamed else line for line in (*self.declared, *fill)]
        return _text("class Net(Module):", [*config, *body])

    def plain(self) -> str:
        """The text of the plain module."""
        arguments = ", ".join((*CONFIG, TASKS[0]))
        body = [
            f"def __init__(self, {arguments}, *, device=None, dtype=None):",
            "    super().__init__()",
            *(f"    self.{name} = {name}" for name in (*CONFIG, TASKS[0])),
            *(f"    {line}" for line in self.registered),
            "    self.reset_parameters()",
            "def fill(self, tensor):",
            "    tensor.uniform_(-self.rate, self.dim)",
            "@torch.no_grad()",
            "def reset_parameters(self):",
            *(f"    {line}" for line in self.filled),
            "    pass",
        ]
        return _text("class Net(nn.Module):", body)


def pair(seed: int) -> Pair:
    """The pair with some fields of every kind, the same for the same seed."""
    random, made = Random(seed), Pair()
    for index in range(random.randint(2, 7)):
        random.choice((_tensor, _tensor, _child))(f"field{index}", made, random)
    made.renamed = [name for name in (*CONFIG, TASKS[0]) if random.random() < 0.3]
    return made


def _tensor(name: str, made: Pair, random: Random) -> None:
    """A parameter or a buffer, perhaps under a condition, perhaps with a dtype of its own."""
    sizes = random.choices(list(_SIZES), k=random.randint(0, 2))
    initializer = random.choice(list(_INITIALIZERS))
    is_parameter, conditional = random.random() < 0.6, random.random() < 0.3
    dtype = random.choice(("dtype", "dtype", "torch.float64"))
    options = [f"initializer={initializer}"]
    options += [f"dtype={dtype}"] if dtype != "dtype" else []
    options += ['when="wide"'] if conditional else []
    switched = random.random() < 0.3
    options += [("requires_grad" if is_parameter else "persistent") + "=False"] if switched else []
    type, specifier = ("nn.Parameter", "param") if is_parameter else ("Tensor", "buffer")
    optional = " | None" if conditional else ""
    made.declared.append(f"{name}: {type}{optional} = {specifier}({', '.join([*sizes, *options])})")
    empty = f"torch.empty(({''.join(_SIZES[size] + ', ' for size in sizes)}), device=device, dtype={dtype})"
    value = f"nn.Parameter({empty}, requires_grad={not switched})" if is_parameter else empty
    value = f"{value} if wide else None" if conditional else value
    persistent = "" if is_parameter else f", persistent={not switched}"
    register = "register_parameter" if is_parameter else "register_buffer"
    made.registered.append(f'self.{register}("{name}", {value}{persistent})')
    fill = _INITIALIZERS[initializer].format(f"self.{name}")
    made.filled.append(f"if self.{name} is not None: {fill}")


def _child(name: str, made: Pair, random: Random) -> None:
    """A child, perhaps several, perhaps under a condition."""
    arguments = random.choice(list(_CHILDREN))
    call = _CHILDREN[arguments]
    # What takes no device and dtype is moved there.
    call = call if "device=device" in call else f"{call}.to(device=device, dtype=dtype)"
    kind = random.choice(("one", "one", "when", "repeat", "keys", "names"))
    type, option, value = {
        "one": ("nn.Module", "", call),
        "when": ("nn.Module | None", ', when="wide"', f"{call} if wide else None"),
        "repeat": ("ModuleList[nn.Module]", ', repeat="depth"', f"nn.ModuleList([{call} for _ in range(depth)])"),
        "keys": ("ModuleDict[nn.Module]", ', keys="tasks"', f"nn.ModuleDict({{name: {call} for name in tasks}})"),
        "names": (
            "ModuleDict[nn.Module]",
            ', keys=("a", "b")',
            f"nn.ModuleDict({{name: {call} for name in ('a', 'b')}})",
        ),
    }[kind]
    made.declared.append(f"{name}: {type} = submodule({arguments}{option})")
    made.registered.append(f"self.{name} = {value}")


def _text(head: str, lines: list[str]) -> str:
    return HEAD + head + "\n" + "".join(f"    {line}\n" for line in lines)


SEEDS = range(24)


def class_of(text: str, name: str) -> Callable[..., nn.Module]:
    """The class that a text defines, in a module of that name."""
    namespace: dict[str, object] = {"__name__": name}
    exec(compile(text, f"<{name}>", "exec"), namespace)
    return cast("Callable[..., nn.Module]", namespace["Net"])


@cache
def declared(seed: int) -> Callable[..., nn.Module]:
    return class_of(pair(seed).declaration(), f"declared{seed}")


@cache
def plain(seed: int) -> Callable[..., nn.Module]:
    return class_of(pair(seed).plain(), f"plain{seed}")


def arguments(seed: int) -> dict[str, object]:
    """Constructor arguments of a pair."""
    random = Random(-seed)
    return {
        "dim": random.randint(1, 3),
        "depth": random.randint(0, 3),
        "rate": random.choice((0.25, 0.5)),
        "mode": random.choice(("zeros", "circular")),
        "kernel": random.choice(((1, 2), (2, 2))),
        "wide": random.random() < 0.5,
        "tasks": random.choice(((), ("topic",), ("topic", "tone"))),
    }


def constructed(cls: Callable[..., nn.Module], given: dict[str, object]) -> tuple[nn.Module, list[int]]:
    """A module made with a seed, and the numbers that the generator gives afterwards."""
    torch.manual_seed(3)
    module = cls(**given)
    with torch.device("cpu"):
        return module, torch.randint(1 << 30, (4,)).tolist()


def described(module: nn.Module) -> dict[str, tuple[Any, ...]]:
    """Each parameter and buffer by name, in the order of registration: what torch says about it, and its values."""
    named = chain(module.named_parameters(remove_duplicate=False), module.named_buffers(remove_duplicate=False))
    return {
        name: (type(tensor), tensor.dtype, tensor.device, tensor.shape, tensor.requires_grad, values(tensor))
        for name, tensor in named
    }


def values(tensor: Tensor) -> object:
    return None if tensor.is_meta else tensor.tolist()


def same(ours: Callable[..., nn.Module], plain: Callable[..., nn.Module], given: dict[str, object]) -> bool:
    """Whether two classes make equal modules and use the generator equally."""
    (one, after_one), (two, after_two) = constructed(ours, given), constructed(plain, given)
    assert list(one.state_dict()) == list(two.state_dict())
    assert list(described(one)) == list(described(two))
    assert described(one) == described(two)
    return after_one == after_two


@pytest.mark.parametrize("seed", SEEDS)
def test_a_declared_module_is_what_an_expert_writes(seed: int) -> None:
    ours, expected, given = declared(seed), plain(seed), arguments(seed)

    assert same(ours, expected, given)
    assert same(ours, expected, {**given, "dtype": torch.float64})
    assert same(ours, expected, {**given, "device": "meta"})
    with default_dtype(torch.float64):
        assert same(ours, expected, given)
    with torch.device("meta"):
        assert same(ours, expected, given)


@pytest.mark.parametrize("seed", SEEDS)
def test_initialising_again_gives_what_construction_gave(seed: int) -> None:
    ours, expected = declared(seed)(**arguments(seed)), plain(seed)(**arguments(seed))
    ours.load_state_dict(expected.state_dict())
    for module in (ours, expected):
        torch.manual_seed(5)
        cast(Module, module).reset_parameters()

    own = chain(expected.named_parameters(recurse=False), expected.named_buffers(recurse=False))
    again, wanted = described(ours), described(expected)
    assert all(again[name] == wanted[name] for name, _ in own)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_dict_of_other_arguments_has_the_same_missing_and_unexpected_keys(seed: int) -> None:
    given = arguments(seed)
    other = {**given, "wide": not given["wide"], "tasks": ("tone",)}
    ours, expected = declared(seed), plain(seed)
    for one, two in ((given, other), (other, given)):
        found = ours(**one).load_state_dict(expected(**two).state_dict(), strict=False)
        wanted = expected(**one).load_state_dict(expected(**two).state_dict(), strict=False)

        assert (sorted(found.missing_keys), sorted(found.unexpected_keys)) == (
            sorted(wanted.missing_keys),
            sorted(wanted.unexpected_keys),
        )
