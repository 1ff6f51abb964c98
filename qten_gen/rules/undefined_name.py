"""A class statement uses a name that the file does not define.

An import may be missing, or a name misspelt: `submodule(nn.Linear, "dim")` needs `nn`. Without it, importing the file raises
NameError, after code was generated for the class.

A config field is named in a string, because it has a value only in the constructor: `submodule(nn.Linear, "dim")`. Its bare
name means nothing in the class body.

The rule looks at what a declaration evaluates: values of fields, arguments of specifiers, decorators, class keywords, and the
defaults and annotations of methods. QG207 reports annotations of fields and QG101 bases. In a file with a star import from
elsewhere it reports nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..common.suggestions import did_you_mean
from ..model import ConfigDecl, FileDecl, NodePath, SourceFile
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import Project, RuleContext

KIND = Kind("QG114", "undefined-name")

EXAMPLE = """
 from qten_gen import Module, submodule
 from torch import nn


 class Head(Module):
     dim: int
-    out: nn.Linear = submodule(nn.Linear, dim, 10)
-                                          ^^^
+    out: nn.Linear = submodule(nn.Linear, "dim", 10)
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    if context.source is not None and context.file is not None:
        configs = {field.name for field in context.fields if isinstance(field, ConfigDecl)}
        step = len(context.source.place.steps) + 2
        for name, place in context.source.unbound:
            is_of_field = place.steps[step : step + 1] == ("value",)
            yield from _reported([(name, place)], context.file, configs if is_of_field else ())


def check_file(file: FileDecl, project: Project) -> Iterator[Diagnostic]:
    for registration in file.source.registrations:
        yield from _reported(registration.unbound, file.source)


def _reported(
    found: Iterable[tuple[str, NodePath]], file: SourceFile, configs: Collection[str] = ()
) -> Iterator[Diagnostic]:
    if file.has_star_import:
        return
    for name, place in found:
        help = did_you_mean(name, sorted(file.names), "import it, or define it in this file")
        if name in configs:
            help = f'write "{name}", in quotes, for the constructor argument {name}'
        yield Diagnostic(KIND, f"{name} is not defined in this file", place, help)
