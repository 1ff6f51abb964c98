"""A handler cannot be called with two positional arguments.

The module calls a handler with itself and the object. Any other signature would raise TypeError when the first object of that
type arrives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model import FileDecl, ModuleDecl
from ..model.diagnostics import Diagnostic, Kind
from .context import Project

KIND = Kind("QG402", "invalid-handler-signature")

GOOD = """
from qten_gen import Module
from torch import Tensor


class Encoder(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@Encoder.register(str)
def encode_text(encoder: Encoder, text: str) -> int:
    return len(text)
"""

BAD = """
from qten_gen import Module
from torch import Tensor


class Encoder(Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


@Encoder.register(str)
def encode_text(text: str) -> int:
    ^^^^^^^^^^^
    return len(text)
"""


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for declaration in project.declarations.values():
        if not isinstance(declaration, ModuleDecl):
            continue
        for registration in declaration.registrations:
            if registration.module == file.source.module and not _takes_two(registration.signature.parameters):
                help = f"write def {registration.handler}(module: {declaration.name}, obj: {registration.type.text}) -> ..."
                message = f"a handler of {declaration.name} must take two arguments: the module and the object"
                yield Diagnostic(KIND, message, registration.signature.place / "name", help)


def _takes_two(parameters: str) -> bool:
    """Whether a function with these parameters can be called with two positional arguments."""
    try:
        function = ast.parse(f"def f({parameters}): ...").body[0]
    except SyntaxError:
        return True
    if not isinstance(function, ast.FunctionDef):
        return True
    positional = len(function.args.posonlyargs) + len(function.args.args)
    required = positional - len(function.args.defaults)
    return required <= 2 and (positional >= 2 or function.args.vararg is not None)
