"""Random programs over three files, whose classes, methods and functions name each other, and a fourth that uses them all.

The program calls every method with values of both types, declared and generated, says by `assert_type` what it gives, and passes
that on to functions that take either type. Its mistakes stand in functions that never run, marked `# E`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

MODULES = ("first", "second", "third")

HEAD = """\
from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar, overload

import torch
from torch import Tensor, nn

from qten_gen import Module, TensorClass, param, submodule
"""

USE = """\
from collections.abc import Callable, Iterable, Sequence
from typing import Any, assert_type

import torch
from torch import Tensor

from . import first, second, third
"""


@dataclass(frozen=True)
class Type:
    """A type of the program over one declared class, and how its values are written."""

    text: str
    """With `{0}` for the class."""
    value: str
    """With `{0}` for the call that makes an object, `{1}` for the name of the class and `{2}` for a function over it."""
    is_covariant: bool = True
    """Whether what is generated can be passed where the declared type is taken."""


PLAIN = Type("{0}", "{0}")
TYPES = (
    PLAIN,
    Type("{0} | None", "{0}"),
    Type("tuple[{0}, int]", "({0}, 1)"),
    Type("tuple[{0}, ...]", "({0}, {0})"),
    Type("Sequence[{0}]", "[{0}, {0}]"),
    Type("Iterable[tuple[str, {0}]]", "[('a', {0})]"),
    Type("type[{0}]", "{1}"),
    Type("list[{0}]", "[{0}]", is_covariant=False),
    Type("dict[str, {0}]", "{{'a': {0}}}", is_covariant=False),
    Type("dict[str, list[{0}]]", "{{'a': [{0}]}}", is_covariant=False),
    Type("Sequence[list[{0}]]", "[[{0}]]", is_covariant=False),
    Type("Callable[[{0}], Tensor]", "{2}", is_covariant=False),
)
KINDS = ("method", "property", "classmethod", "staticmethod", "overload", "async", "context", "no_grad", "function")


@dataclass(frozen=True)
class Method:
    """A method that takes one type and gives another."""

    kind: str
    taken: Type
    takes: str
    """The class in what it takes."""
    given: Type
    gives: str


@dataclass(frozen=True)
class Class:
    """A TensorClass of the program."""

    name: str
    home: str
    base: str
    fields: tuple[str, ...]
    """Earlier classes that it holds objects of."""
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class World:
    """The classes of a program, in the order of their statements."""

    classes: tuple[Class, ...]
    homes: dict[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """The texts of the program by file name."""
        texts = {f"{module}.py": self._source(module) for module in MODULES}
        return {"__init__.py": "", **texts, "use.py": self._use()}

    def _source(self, module: str) -> str:
        own = [cls for cls in self.classes if cls.home == module]
        index = MODULES.index(module)
        lines = [HEAD]
        for other in MODULES[:index]:
            lines += [f"from .{other} import {name}, make_{name}" for name, home in self.homes.items() if home == other]
        later = [(name, home) for name, home in self.homes.items() if MODULES.index(home) > index]
        if later:
            lines += ["if TYPE_CHECKING:", *(f"    from .{home} import {name}" for name, home in later)]
        for cls in own:
            lines.append(self._class(cls, module))
        return "\n".join(lines)

    def _make(self, name: str, module: str) -> tuple[str, str]:
        """What a body does first to make an object of a class, and the call."""
        home = self.homes[name]
        is_later = MODULES.index(home) > MODULES.index(module)
        return (f"from .{home} import {name}, make_{name}\n" if is_later else ""), f"make_{name}()"

    def _class(self, cls: Class, module: str) -> str:
        base = cls.base or "TensorClass"
        lines = ["", "", f"class {cls.name}({base}):", f"    {cls.name.lower()}_x: Tensor"]
        lines += [f"    {cls.name.lower()}_{i}: {name}" for i, name in enumerate(cls.fields)]
        after: list[str] = []
        for number, method in enumerate(cls.methods):
            text = self._method(f"{cls.name.lower()}_m{number}", method, module)
            if method.kind == "function":
                after += ["", "", text]
            else:
                lines += ["", *(f"    {line}" for line in text.splitlines())]
        lines += ["", "", f"def make_{cls.name}() -> {cls.name}:", f"    return {self._construct(cls)}", *after]
        return "\n".join(lines)

    def _construct(self, cls: Class) -> str:
        lineage = [cls]
        while lineage[-1].base:
            lineage.append(next(each for each in self.classes if each.name == lineage[-1].base))
        given = [
            argument
            for each in reversed(lineage)
            for argument in ("torch.ones(2, 3)", *(f"make_{name}()" for name in each.fields))
        ]
        return f"{cls.name}({', '.join(given)}, batch_size=[2])"

    def _method(self, name: str, method: Method, module: str) -> str:
        first, made = self._make(method.gives, module)
        value = method.given.value.format(made, method.gives, "lambda one: torch.ones(2)")
        taken = f"given: {method.taken.text.format(method.takes)}"
        gives = method.given.text.format(method.gives)
        body = "\n".join(f"    {line}" for line in [*first.splitlines(), f"return {value}"])
        match method.kind:
            case "property":
                return f"@property\ndef {name}(self) -> {gives}:\n{body}"
            case "classmethod":
                return f"@classmethod\ndef {name}(cls, {taken}) -> {gives}:\n{body}"
            case "staticmethod":
                return f"@staticmethod\ndef {name}({taken}, size: int = 1) -> {gives}:\n{body}"
            case "async":
                return f"async def {name}(self, {taken}) -> {gives}:\n{body}"
            case "context":
                inner = body.replace("return", "yield")
                return f"@contextmanager\ndef {name}(self, {taken}) -> Generator[{gives}, None, None]:\n{inner}"
            case "no_grad":
                return f"@torch.no_grad()\ndef {name}(self, {taken}) -> {gives}:\n{body}"
            case "overload":
                return (
                    f"@overload\ndef {name}(self, {taken}) -> {gives}: ...\n"
                    f"@overload\ndef {name}(self, given: int) -> Tensor: ...\n"
                    f"def {name}(self, {taken} | int) -> {gives} | Tensor:\n{body}"
                )
            case "function":
                return f"def {name}({taken}) -> {gives}:\n{body}"
        return f"def {name}(self, {taken}) -> {gives}:\n{body}"

    def _use(self) -> str:
        lines = [USE]
        for module in MODULES:
            for cls in self.classes:
                if cls.home == module:
                    functions = {
                        f"{cls.name.lower()}_m{i}": method
                        for i, method in enumerate(cls.methods)
                        if method.kind == "function"
                    }
                    # The stub has what gives objects of a class; what a function takes is of the declaration.
                    given = [name for name, method in functions.items() if not method.given.text.startswith("Callable")]
                    lines.append(f"from .{module}_qten import {', '.join([cls.name, f'make_{cls.name}', *given])}")
                    lines += [f"from .{module} import {name}" for name in functions if name not in given]
        for cls in self.classes:
            lines += [
                f"def over_{cls.name}(one: {cls.name}) -> Tensor:\n    return one.{cls.name.lower()}_x",
                f"def declared_{cls.name}(one: {cls.home}.{cls.name}) -> Tensor:\n    return one.{cls.name.lower()}_x",
            ]
        uses, wrong = ["def use() -> None:", "    pass"], ["def wrong() -> None:", "    pass"]
        for cls in self.classes:
            for number, method in enumerate(cls.methods):
                name = f"{cls.name.lower()}_m{number}"
                uses += [f"    {line}" for line in self._uses(cls, name, method)]
                wrong += [f"    {line}  # E" for line in self._mistakes(cls, name, method)]
        return "\n".join([*lines, *uses, *wrong, "", "use()"])

    def _values(self, method: Method) -> list[str]:
        """Values of what a method takes, in both types."""
        name, home = method.takes, self.homes[method.takes]
        return [
            method.taken.value.format(f"make_{name}()", name, f"over_{name}"),
            method.taken.value.format(f"{home}.make_{name}()", f"{home}.{name}", f"declared_{name}"),
        ]

    def _call(self, cls: Class, name: str, method: Method, value: str) -> str:
        match method.kind:
            case "property":
                return f"make_{cls.name}().{name}"
            case "classmethod" | "staticmethod":
                return f"{cls.name}.{name}({value})"
            case "function":
                return f"{name}({value})"
        return f"make_{cls.name}().{name}({value})"

    def _uses(self, cls: Class, name: str, method: Method) -> list[str]:
        gives = method.given.text.format(method.gives)
        home = self.homes[method.gives]
        if method.given.text.startswith("Callable"):  # what it takes is of the declaration
            gives = method.given.text.format(f"{home}.{method.gives}")
        lines = []
        for which, value in enumerate(self._values(method)):
            call = self._call(cls, name, method, value)
            match method.kind:
                case "async":
                    lines += [f"async def call_{name}_{which}() -> None:", f"    assert_type(await {call}, {gives})"]
                case "context":
                    lines += [
                        f"with {call} as entered_{name}_{which}:",
                        f"    assert_type(entered_{name}_{which}, {gives})",
                    ]
                case _:
                    lines.append(f"assert_type({call}, {gives})")
                    if method.given.is_covariant:
                        declared = method.given.text.format(f"{home}.{method.gives}")
                        variable = f"{name}_{which}"
                        lines += [f"{variable}: {declared} = {call}", f"print({variable})"]
        return lines

    def _mistakes(self, cls: Class, name: str, method: Method) -> list[str]:
        found = [] if method.kind == "property" else [self._call(cls, name, method, "2.5")]
        if method.given is PLAIN and method.kind not in ("async", "context"):
            found.append(f"print({self._call(cls, name, method, self._values(method)[0])}.nope)")
        return found


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Programs of three to six classes in three files."""
    names = [f"C{number}" for number in range(draw(st.integers(3, 6)))]
    homes = {name: MODULES[min(2, index * 3 // len(names))] for index, name in enumerate(names)}
    classes: list[Class] = []
    for index, name in enumerate(names):
        base = draw(st.sampled_from(["", "", *names[:index]]))
        fields = draw(st.lists(st.sampled_from(names[:index]), max_size=2)) if index else []
        methods = draw(
            st.lists(
                st.builds(
                    Method,
                    kind=st.sampled_from(KINDS),
                    taken=st.sampled_from(TYPES),
                    takes=st.sampled_from(names),
                    given=st.sampled_from(TYPES),
                    gives=st.sampled_from(names),
                ),
                min_size=1,
                max_size=4,
            )
        )
        classes.append(Class(name, homes[name], base, tuple(fields), tuple(methods)))
    return World(tuple(classes), homes)
