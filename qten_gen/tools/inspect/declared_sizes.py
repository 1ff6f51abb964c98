"""Dimensions of parameters as declarations write them, with what a `check` says they consist of: `3*width`, of `heads` parts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torch import nn

from .declared import declaration_of, spelled
from .sizes import config_sizes, names_in

_ARGUMENTS = {"Linear": (1, 0), "Embedding": (0, 1)}
"""Which arguments are the dimensions of a layer's weight."""


class DeclaredSizes:
    """What is declared of the dimensions of a model."""

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
