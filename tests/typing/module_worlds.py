"""Random programs over three files, whose Modules hold, give, call and dispatch on each other, and a fourth that uses them all.

The program says by `assert_type` what each attribute, method and call gives, with values of both types, declared and generated.
Its mistakes stand in functions that never run, marked `# E`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

MODULES = ("first", "second", "third")

HEAD = """\
from __future__ import annotations

from typing import Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from qten_gen import (
    Functional, Module, ModuleDict, ModuleList, Sequential, TensorClass, buffer, choice, param, sequential, submodule, virtual
)

T = TypeVar("T")
"""

USE = """\
# pyright: strict, reportUnusedImport=false
from typing import assert_type

import torch
from torch import Tensor, nn

from qten_gen import ModuleDict, ModuleList, Sequential

from . import first, second, third

x = torch.ones(2, 2)
"""

CHILDREN = ("one", "optional", "list", "fixed list", "dict", "keyed dict", "nested list")
METHODS = ("given", "self", "property", "classmethod", "list", "function", "takes")
FORWARDS = ("tensor", "pair", "keyword", "inherited", "generic")


@dataclass(frozen=True)
class Child:
    """A child of an earlier class."""

    kind: str
    cls: str


@dataclass(frozen=True)
class Net:
    """A Module of the program."""

    name: str
    home: str
    base: str
    forward: str
    children: tuple[Child, ...]
    methods: tuple[tuple[str, str], ...]
    """The kind of each, and the class that it gives or takes."""
    extras: frozenset[str]
    """Which of `virtual`, `sequential`, `choice`, `buffer` it declares."""
    handler: str
    """Where it registers a handler for a TensorClass: `own`, `later`, or not at all."""

    def attribute(self, number: int) -> str:
        """The name of a child."""
        return f"{self.name.lower()}_c{number}"

    def method(self, number: int) -> str:
        """The name of a method or function."""
        return f"{self.name.lower()}_m{number}"


@dataclass(frozen=True)
class ModuleWorld:
    """The Modules of a program, in the order of their statements."""

    nets: tuple[Net, ...]

    def files(self) -> dict[str, str]:
        """The texts of the program by file name."""
        texts = {f"{module}.py": self._source(module) for module in MODULES}
        return {"__init__.py": "", **texts, "use.py": "\n".join(self._use())}

    def _home(self, name: str) -> str:
        return next(net.home for net in self.nets if net.name == name)

    def _forward(self, net: Net) -> str:
        """The kind of `forward` that a class has, its own or inherited."""
        while net.forward == "inherited" and net.base:
            net = next(each for each in self.nets if each.name == net.base)
        return "tensor" if net.forward == "inherited" else net.forward

    def _source(self, module: str) -> str:
        lines = [HEAD]
        index = MODULES.index(module)
        for earlier in MODULES[:index]:
            names = [name for net in self.nets if net.home == earlier for name in (net.name, f"make_{net.name}")]
            lines += [f"from .{earlier} import {', '.join(names)}"] if names else []
        if module == MODULES[0]:
            lines += ["class Batch(TensorClass):", "    rows: Tensor", "", "class Wide(Batch):", "    more: Tensor", ""]
            lines += ["class Count(Functional):", "    pass", ""]
            lines += ["@Count.register(Batch)", "def count(self: Count, batch: Batch, *, extra: int = 0) -> int:"]
            lines += ["    return len(batch.rows) + extra", ""]
        else:
            lines.append(f"from .{MODULES[0]} import Batch, Wide")
        for net in self.nets:
            lines += self._class(net) if net.home == module else []
        for net in self.nets:
            if net.handler == "own" and net.home == module:
                lines += self._handler(net, "Batch", "Tensor", "batch.rows")
            if net.handler == "later" and module == MODULES[-1]:
                lines += self._handler(net, "Wide", "Wide", "batch")
        return "\n".join(lines)

    def _handler(self, net: Net, taken: str, given: str, value: str) -> list[str]:
        head = f"def {net.name.lower()}_on(module: {net.name}, batch: {taken}, *, scale: float = 1.0) -> {given}:"
        return ["", f"@{net.name}.register({taken})", head, f"    return {value}", ""]

    def _class(self, net: Net) -> list[str]:
        bases = [net.base or "Module", *(["Generic[T]"] if net.forward == "generic" else [])]
        lines = ["", f"class {net.name}({', '.join(bases)}):"]
        if not net.base:
            lines += ["    width: int", "    depth: int = 2"]
        lower = net.name.lower()
        lines.append(f'    {lower}_w: nn.Parameter = param("width", initializer=nn.init.ones_)')
        lines += [f"    {line}" for number, child in enumerate(net.children) for line in _child(net, number, child)]
        if "buffer" in net.extras:
            lines.append(f'    {lower}_b: Tensor = buffer("width", initializer=nn.init.zeros_)')
        if "sequential" in net.extras:
            members = 'submodule(nn.Linear, "width", "width"), nn.ReLU'
            lines.append(f"    {lower}_s: Sequential[nn.Linear | nn.ReLU] = sequential({members})")
        if "choice" in net.extras:
            lines.append(f'    {lower}_a: str = "relu"')
            chosen = f'choice("{lower}_a", {{"relu": nn.ReLU, "gelu": nn.GELU}})'
            lines.append(f"    {lower}_act: nn.ReLU | nn.GELU = submodule({chosen})")
        if "virtual" in net.extras:
            lines += ["    @virtual", f"    def {lower}_v(self, dtype: torch.dtype, device: torch.device) -> Tensor:"]
            lines.append("        return torch.ones(self.width, dtype=dtype, device=device)")
        lines += [f"    {line}" for line in _forward(net)]
        after = ["", f"def make_{net.name}() -> {net.name}{'[int]' if net.forward == 'generic' else ''}:"]
        after.append(f"    return {net.name}(2)")
        for number, (kind, cls) in enumerate(net.methods):
            text = _method(net, number, kind, cls, self._generic(cls))
            if kind == "function":
                after += ["", *text]
            else:
                lines += [f"    {line}" for line in text]
        return [*lines, *after]

    def _generic(self, name: str) -> str:
        """What follows the name of a class in an annotation."""
        return "[int]" if next(net for net in self.nets if net.name == name).forward == "generic" else ""

    def _use(self) -> Iterator[str]:
        yield USE
        yield "from .first_qten import Batch, Wide, Count"
        for module in MODULES:
            found = [net for net in self.nets if net.home == module]
            names = [name for net in found for name in (net.name, f"make_{net.name}")]
            names += [net.method(n) for net in found for n, (kind, _) in enumerate(net.methods) if kind == "function"]
            if names:
                yield f"from .{module}_qten import {', '.join(names)}"
        wrong: list[str] = []
        yield "def use() -> None:"
        yield "    assert_type(Count()(Batch(x), extra=1), int)"
        wrong += ["Count()(x)", 'Count()(Batch(x), extra="s")']
        for net in self.nets:
            value = f"{net.name.lower()}_value"
            yield f"    {value} = make_{net.name}()"
            for line in self._uses(net, value):
                yield f"    {line}"
            wrong += [f"{value}_ = make_{net.name}()"]
            wrong += self._mistakes(net, f"{value}_")
        yield "def wrong() -> None:"
        for line in wrong:
            yield f"    {line}" if "_value_ = " in line else f"    {line}  # E"
        yield ""
        yield "use()"

    def _uses(self, net: Net, value: str) -> Iterator[str]:
        full = f"{net.name}{self._generic(net.name)}"
        yield f"assert_type({value}, {full})"
        yield f'assert_type({value}.to("cpu"), {full})'
        yield f"declared_{value}: {net.home}.{full} = {value}"
        yield f"print(declared_{value}.{net.name.lower()}_w)"
        yield f"assert_type({value}.{net.name.lower()}_w, nn.Parameter)"
        for number, child in enumerate(net.children):
            name, cls = f"{value}.{net.attribute(number)}", f"{child.cls}{self._generic_child(child.cls)}"
            match child.kind:
                case "one":
                    yield f"assert_type({name}, {cls})"
                case "optional":
                    yield f"assert_type({name}, {cls} | None)"
                case "list" | "fixed list":
                    yield f"assert_type({name}[0], {cls})"
                    yield f"assert_type([each for each in {name}], list[{cls}])"
                case "dict" | "keyed dict":
                    yield f'assert_type({name}["a"], {cls})'
                    yield f"by_name_{value}_{number}: ModuleDict[{cls}] = {name}"
                    yield f"print(len(by_name_{value}_{number}))"
                case _:
                    yield f"assert_type({name}[0][0], {cls})"
                    yield f"assert_type({name}, ModuleList[ModuleList[{cls}]])"
        lower = net.name.lower()
        checks = {
            "buffer": f"assert_type({value}.{lower}_b, Tensor)",
            "sequential": f"assert_type({value}.{lower}_s, Sequential[nn.Linear | nn.ReLU])",
            "choice": f"assert_type({value}.{lower}_act, nn.ReLU | nn.GELU)",
            "virtual": f"assert_type({value}.{lower}_v, Tensor)",
        }
        yield from (checks[extra] for extra in sorted(net.extras))
        yield from self._calls(net, value)
        for number, (kind, cls) in enumerate(net.methods):
            yield from self._called(net, value, number, kind, f"{cls}{self._generic(cls)}")

    def _generic_child(self, name: str) -> str:
        return "[int]" if self._generic(name) else ""

    def _calls(self, net: Net, value: str) -> Iterator[str]:
        match self._forward(net):
            case "tensor":
                yield f"assert_type({value}(x), Tensor)"
            case "pair":
                yield f"assert_type({value}(x), tuple[Tensor, int])"
            case "keyword":
                yield f"assert_type({value}(x, scale=2.0), Tensor)"
            case _:
                yield f"assert_type({value}(3), list[int])"
        for taken, given in self._handled(net):
            arguments = "x" if taken == "Batch" else "x, x"
            yield f"assert_type({value}({taken}({arguments})), {given})"
            yield f"assert_type({value}(first.{taken}({arguments}), scale=2.0), {given})"

    def _handled(self, net: Net) -> Iterator[tuple[str, str]]:
        """What a class has handlers for, its own and inherited ones, with what they give."""
        lineage = [net]
        while lineage[-1].base:
            lineage.append(next(each for each in self.nets if each.name == lineage[-1].base))
        kinds = [each.handler for each in lineage]
        if "own" in kinds:
            yield "Batch", "Tensor"
        if "later" in kinds:
            yield "Wide", "Wide"

    def _called(self, net: Net, value: str, number: int, kind: str, cls: str) -> Iterator[str]:
        name = net.method(number)
        match kind:
            case "given":
                yield f"assert_type({value}.{name}(), {cls})"
            case "self":
                yield f"assert_type({value}.{name}(), {net.name}{self._generic(net.name)})"
            case "property":
                yield f"assert_type({value}.{name}, {cls})"
            case "classmethod":
                yield f"assert_type({net.name}.{name}(), {cls})"
            case "list":
                yield f"assert_type({value}.{name}(), list[{cls}])"
            case "function":
                yield f"assert_type({name}({value}), {cls})"
                yield f"assert_type({name}({net.home}.make_{net.name}()), {cls})"
            case _:
                bare = cls.partition("[")[0]
                yield f"assert_type({value}.{name}(make_{bare}()), Tensor)"
                yield f"assert_type({value}.{name}({self._home(bare)}.make_{bare}()), Tensor)"

    def _mistakes(self, net: Net, value: str) -> Iterator[str]:
        yield f"print({value}.nope)"
        yield f'{net.name}("two")'
        yield f"{net.name}(2, nope=1)"
        yield f"{value}.{net.name.lower()}_w = x"
        yield f"{value}.extra = x"
        if self._forward(net) != "generic":
            yield f'{value}("text")'
        yield f"{value}()"
        for number, child in enumerate(net.children):
            name = f"{value}.{net.attribute(number)}"
            match child.kind:
                case "one":
                    yield f"print({name}.nope)"
                    yield f"{name} = x"
                case "optional":
                    yield f"print({name}.width)"
                case "list" | "fixed list":
                    yield f"print({name}[0].nope)"
                case _:
                    pass
        if "virtual" in net.extras:
            yield f"{value}.{net.name.lower()}_v = x"
        for number, (kind, _) in enumerate(net.methods):
            if kind == "takes":
                yield f"{value}.{net.method(number)}(x)"
            if kind == "function":
                yield f"{net.method(number)}(x)"


def _child(net: Net, number: int, child: Child) -> list[str]:
    name, cls = net.attribute(number), child.cls
    made = f'submodule({cls}, "width"'
    match child.kind:
        case "one":
            return [f"{name}: {cls}[int] = {made})"] if cls.startswith("G") else [f"{name}: {cls} = {made})"]
        case "optional":
            return [f'{name}: {_typed(cls)} | None = {made}, when="depth > 1")']
        case "list":
            return [f'{name}: ModuleList[{_typed(cls)}] = {made}, repeat="depth")']
        case "fixed list":
            return [f"{name}: ModuleList[{_typed(cls)}] = {made}, repeat=2)"]
        case "dict":
            keys = f"{name}_keys"
            return [
                f'{keys}: tuple[str, ...] = ("a", "b")',
                f'{name}: ModuleDict[{_typed(cls)}] = {made}, keys="{keys}")',
            ]
        case "keyed dict":
            return [f'{name}: ModuleDict[{_typed(cls)}] = {made}, keys=("a", "b"))']
    return [f'{name}: ModuleList[ModuleList[{_typed(cls)}]] = submodule({made}, repeat=2), repeat="depth")']


def _typed(cls: str) -> str:
    return f"{cls}[int]" if cls.startswith("G") else cls


def _forward(net: Net) -> list[str]:
    match net.forward:
        case "tensor":
            return ["def forward(self, x: Tensor) -> Tensor:", "    return x"]
        case "pair":
            return ["def forward(self, x: Tensor) -> tuple[Tensor, int]:", "    return x, 1"]
        case "keyword":
            return ["def forward(self, x: Tensor, *, scale: float = 1.0) -> Tensor:", "    return x * scale"]
        case "generic":
            return ["def forward(self, x: T) -> list[T]:", "    return [x]"]
    return [] if net.base else ["def forward(self, x: Tensor) -> Tensor:", "    return x"]


def _method(net: Net, number: int, kind: str, cls: str, generic: str) -> list[str]:
    name, given, make = net.method(number), f"{cls}{generic}", f"make_{cls}()"
    match kind:
        case "given":
            return [f"def {name}(self) -> {given}:", f"    return {make}"]
        case "self":
            return [f"def {name}(self) -> Self:", "    return self"]
        case "property":
            return ["@property", f"def {name}(self) -> {given}:", f"    return {make}"]
        case "classmethod":
            return ["@classmethod", f"def {name}(cls) -> {given}:", f"    return {make}"]
        case "list":
            return [f"def {name}(self) -> list[{given}]:", f"    return [{make}]"]
        case "function":
            own = f"{net.name}[int]" if net.forward == "generic" else net.name
            return [f"def {name}(module: {own}) -> {given}:", f"    return {make}"]
    return [f"def {name}(self, other: {given}) -> Tensor:", f"    return other.{cls.lower()}_w * 1"]


@st.composite
def module_worlds(draw: st.DrawFn) -> ModuleWorld:
    """Programs of three to five Modules in three files. Those whose name starts with G are generic."""
    count = draw(st.integers(3, 5))
    nets: list[Net] = []
    for index in range(count):
        earlier = [net.name for net in nets]
        plain = [net.name for net in nets if net.forward != "generic"]
        base = draw(st.sampled_from(["", "", *plain]))
        parent = next((net for net in nets if net.name == base), None)
        forwards = FORWARDS if parent is None else ("inherited",)
        forward = draw(st.sampled_from(forwards))
        name = f"{'G' if forward == 'generic' else 'N'}{index}"
        kinds = (
            st.builds(Child, kind=st.sampled_from(CHILDREN), cls=st.sampled_from(earlier)) if earlier else st.nothing()
        )
        nets.append(
            Net(
                name,
                MODULES[min(2, index * 3 // count)],
                base,
                forward,
                tuple(draw(st.lists(kinds, max_size=3))) if earlier else (),
                tuple(
                    draw(st.lists(st.tuples(st.sampled_from(METHODS), st.sampled_from([*earlier, name])), max_size=3))
                ),
                draw(st.frozensets(st.sampled_from(("virtual", "sequential", "choice", "buffer")))),
                "" if forward == "generic" else draw(st.sampled_from(("", "own", "later"))),
            )
        )
    return ModuleWorld(tuple(nets))
