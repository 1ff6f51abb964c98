"""Random declared modules, each with the plain module that an expert would write for it, as the texts of two files."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

HEAD = """\
import torch
from functools import partial
from torch import Tensor, nn
from qten_gen import Module, ModuleDict, ModuleList, buffer, const, field, param, submodule
"""

CONFIG = {"dim": "int", "depth": "int", "rate": "float", "mode": "str", "kernel": "tuple[int, int]", "wide": "bool"}
TASKS = ("tasks", "tuple[str, ...]")
ALIASES = {"rate": "drop", "tasks": "names", "dim": "width"}
"""The arguments that some declarations give another name than the field."""

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

    aliases: dict[str, str] = field(default_factory=dict)
    """The arguments with other names than their fields."""
    declared: list[str] = field(default_factory=list)
    registered: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)

    def declaration(self) -> str:
        """The text of the declared module."""
        config = [f"{name}: {type}{self._alias(name)}" for name, type in (*CONFIG.items(), TASKS)]
        fill = ["def fill(self, tensor: Tensor) -> None:", "    tensor.uniform_(-self.rate, self.dim)"]
        return _text("class Net(Module):", [*config, *self.declared, *fill])

    def _alias(self, name: str) -> str:
        return f' = field(alias="{self.aliases[name]}")' if name in self.aliases else ""

    def plain(self) -> str:
        """The text of the plain module."""
        arguments = ", ".join(self.aliases.get(name, name) for name in (*CONFIG, TASKS[0]))
        renamed = [f"    {name} = {alias}" for name, alias in self.aliases.items()]
        body = [
            f"def __init__(self, {arguments}, *, device=None, dtype=None):",
            "    super().__init__()",
            *renamed,
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
    made.aliases.update((name, alias) for name, alias in ALIASES.items() if Random(f"{seed} {name}").random() < 0.4)
    for index in range(random.randint(2, 7)):
        random.choice((_tensor, _tensor, _child))(f"field{index}", made, random)
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
