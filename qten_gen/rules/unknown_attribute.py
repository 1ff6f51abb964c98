"""An expression uses an attribute that a configuration object does not have.

The constructor evaluates expressions such as `"config.hidden_size // config.heads"`, and would raise AttributeError when the
first instance is made.

The rule knows the attributes of classes of the run: the names that a class annotates, assigns or defines, or that its methods
assign to `self`. A class that derives from a class outside the run, sets attributes by `setattr`, or has a `__getattr__`, may
have any attribute; the known bases are those of dataclasses, `NamedTuple`, pydantic and transformers. At run time, classes of all
packages are known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.diagnostics import Diagnostic, Kind
from .context import RuleContext
from .expression_types import types_of
from .expressions import expressions

KIND = Kind("QG331", "unknown-attribute")

GOOD = """
from dataclasses import dataclass

from qten_gen import Module, submodule
from torch import nn


@dataclass
class Config:
    hidden_size: int = 64


class Block(Module):
    config: Config
    up: nn.Linear = submodule(nn.Linear, "config.hidden_size", "4*config.hidden_size")
"""

BAD = """
from dataclasses import dataclass

from qten_gen import Module, submodule
from torch import nn


@dataclass
class Config:
    hidden_size: int = 64


class Block(Module):
    config: Config
    up: nn.Linear = submodule(nn.Linear, "config.hiden_size", "4*config.hidden_size")
                                          ^^^^^^^^^^^^^^^^^
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for expression in expressions(context):
        for problem in types_of(expression.dim, expression.names)[1]:
            if problem.about_attribute:
                place = expression.argument.place
                yield Diagnostic(KIND, problem.message, place, problem.help, within=expression.span(problem.of))
