"""Tensors as declarations write them: `[3*width, width]`, or the layer that holds them; and what a `check` says of dimensions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torch import nn

from ...model import Argument, BufferDecl, Dim, ModuleDecl, ParameterDecl, SubmoduleDecl, Value
from ...model.dimensions import in_words
from ...runtime.declaring.declared_class import DeclaredClass
from .named_sizes import config_sizes, names_in


def spelled(model: nn.Module) -> dict[str, str]:
    """The declaration of each tensor by its path: `[3*width, width]`, or `Linear(width, 3*width)`."""
    declared: dict[str, str] = {}
    own: dict[str, ModuleDecl | None] = {}
    for path, module in model.named_modules():
        own[path] = declaration_of(type(module))
        for field in getattr(own[path], "fields", ()):
            name = f"{path}.{field.name}".lstrip(".")
            if isinstance(field, ParameterDecl | BufferDecl) and (isinstance(field, BufferDecl) or field.tie is None):
                declared[name] = f"[{', '.join(map(in_words, field.dims))}]"
            elif isinstance(field, SubmoduleDecl):
                declared[name] = _call(field)
    names = [name for name, _ in (*model.named_parameters(), *model.named_buffers())]
    return {name: found for name in names if (found := _nearest(name, declared, own))}


def declaration_of(cls: type[nn.Module]) -> ModuleDecl | None:
    """The declaration of a Module; None of any other class."""
    found = getattr(cls, "_declaration", None) if isinstance(cls, DeclaredClass) else None
    return found if isinstance(found, ModuleDecl) else None


def _nearest(name: str, declared: dict[str, str], own: dict[str, ModuleDecl | None]) -> str:
    """The declaration of a tensor itself, or else of the modules around it up to a declared one, whose field it would be."""
    while name:
        if name in declared:
            return "" if own.get(name) is not None else declared[name]
        if own.get(name) is not None:
            return ""
        name = name.rpartition(".")[0]
    return ""


def _call(field: SubmoduleDecl) -> str:
    """The call that makes a child: `Linear(width, 3*width, bias=False)`."""
    arguments = (_argument(argument) for argument in field.arguments)
    return f"{field.made.rpartition('.')[2]}({', '.join(arguments)})"


def _argument(argument: Argument) -> str:
    value = argument.value
    text = in_words(value) if isinstance(value, Dim) else value.text if isinstance(value, Value) else argument.text
    text = " ".join((text or "...").split())
    return text if argument.keyword is None else f"{argument.keyword}={text}"


_ARGUMENTS = {"Linear": (1, 0), "Embedding": (0, 1)}
"""Which arguments are the dimensions of a layer's weight."""


class DeclaredSizes:
    """The declared sizes of the dimensions of a model."""

    def __init__(self, model: nn.Module) -> None:
        self._declared = spelled(model)
        self._modules: dict[str, nn.Module] = dict(model.named_modules())

    def parts(
        self, path: str, shape: tuple[int, ...], dimension: int, pieces: int = 1
    ) -> Iterator[tuple[int, str, str]]:
        """The numbers that a cut along a dimension has to divide, each with how it is written and why.

        They are the size itself, and the number of heads: of `kv_heads*head_dim`, and of a dimension that mentions `width` if the
        class has `check("width % heads == 0")`.
        """
        written = self._written(path, dimension)
        size = shape[dimension]
        why = f", as {written} is {size}" if written and written != str(size) else ""
        yield size // pieces if size % pieces == 0 else size, written or str(size), why
        module = self._owner(path)
        if not written or module is None:
            return
        known = config_sizes(module, "")
        names = names_in(written)
        counts = {count: f", and {whole} % {count} == 0" for whole, count in self._counts(module) if whole in names}
        counts |= {name: "" for name in sorted(names) if name != written and name.endswith("heads")}
        for count, condition in counts.items():
            number = known[count].value if count in known else None
            if isinstance(number, int):
                yield number, count, f", as {count} is {number}{condition}"

    def _written(self, path: str, dimension: int) -> str:
        """How a dimension is declared; empty if it is not."""
        found = re.fullmatch(r"(\w*)[\[(](.*)[\])]", self._declared.get(path, ""))
        if found is None:
            return ""
        parts = found[2].split(", ")
        if found[1]:
            order = _ARGUMENTS.get(found[1], ())
            dimension = order[dimension] if dimension < len(order) else len(parts)
        return parts[dimension] if dimension < len(parts) and "=" not in parts[dimension] else ""

    def _owner(self, path: str) -> nn.Module | None:
        """The declared module around a tensor."""
        while path:
            path = path.rpartition(".")[0]
            module = self._modules.get(path)
            if module is not None and declaration_of(type(module)) is not None:
                return module
        return None

    def _counts(self, module: nn.Module) -> Iterator[tuple[str, str]]:
        """The names of a size and of the number of its parts, of each `check("width % heads == 0")` of a module."""
        declaration = declaration_of(type(module))
        for check in () if declaration is None else declaration.checks:
            match check.condition.node:
                case ast.Compare(
                    left=ast.BinOp(left=ast.Name(id=whole), op=ast.Mod(), right=ast.Name(id=count)),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=0)],
                ):
                    yield whole, count
