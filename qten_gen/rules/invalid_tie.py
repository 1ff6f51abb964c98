"""The argument `tie=` does not lead to a parameter, or leads to one of another shape.

A tied parameter is the parameter at that path under a second name: a parameter of the module itself, or of a child, as in
`"embed.weight"`. The constructor looks it up when it reaches the field. It would raise AttributeError if the path is wrong or
is declared further down, and ValueError if the shapes differ. An initialiser or dtype of the tie would have no effect, because
the parameter is created and initialised where it is declared.

The parameters of the layers of `torch.nn` are known by their names. If the path leads into another class outside the run,
qten-gen does not know its parameters. There, only the constructor checks the tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..model import ModuleDecl, ParameterDecl
from ..model.derivations import underived
from ..model.diagnostics import Diagnostic, Kind
from ..model.dimensions import in_words
from .rule_input import RuleContext
from .ties import Problem, different, follow

KIND = Kind("QG309", "invalid-tie")

EXAMPLE = """
 from qten_gen import Module, param, submodule
 from torch import nn


 class Model(Module):
     vocab: int
     dim: int
     embed: nn.Embedding = submodule(nn.Embedding, "vocab", "dim")
-    head: nn.Parameter = param(tie="embedding.weight")
-                                   ^^^^^^^^^^^^^^^^^^
+    head: nn.Parameter = param("vocab", "dim", tie="embed.weight")
"""


def check(context: RuleContext) -> Iterator[Diagnostic]:
    declaration = context.declaration
    if not isinstance(declaration, ModuleDecl):
        return
    for field in context.module_fields:
        if isinstance(field, ParameterDecl) and field.tie is not None:
            problem = _own_arguments(field) or _problem(field, field.tie, declaration, context)
            if problem is not None:
                yield Diagnostic(KIND, problem.message, context.argument_place(field.name, "tie"), problem.help)


def _own_arguments(field: ParameterDecl) -> Problem | None:
    """The problem of a tie that has an initialiser, a dtype or `requires_grad`, which only the parameter itself can have."""
    given = {
        "initializer": field.initializer,
        "dtype": field.dtype,
        "requires_grad": None if field.requires_grad else 0,
    }
    own = [name for name, value in given.items() if value is not None]
    if not own:
        return None
    return Problem(
        f"{field.name} is tied to {field.tie}, so it cannot have its own {own[0]}",
        f"remove {own[0]}, or pass it where the parameter is declared",
    )


def _problem(field: ParameterDecl, path: str, declaration: ModuleDecl, context: RuleContext) -> Problem | None:
    """The problem with the path of a tie, or with the parameter that it leads to."""
    names = [other.name for other in declaration.fields]
    above: Mapping[str, object] = {other.name: other for other in declaration.fields[: names.index(field.name)]}
    head = path.partition(".")[0]
    if head == field.name:
        return Problem(f"{head} is tied to itself", "name the parameter of a submodule, or a parameter declared above")
    if head in names and head not in above:
        return Problem(f"{head} is declared below {field.name}", f"declare {field.name} after it")
    target = follow(declaration, path.split("."), context.project.declarations)
    if target is None or isinstance(target, Problem):
        return target
    if target.when is not None and target.when != field.when:
        text = in_words(target.when)
        return Problem(f"{path} is None unless {text}", f"write when={text!r} here too")
    own = tuple(underived(dim, declaration.fields) for dim in field.dims)
    if own and different(own, target.dims):
        return Problem(
            f"{path} and {field.name} have different shapes",
            "leave out the sizes, or write those of the other parameter",
        )
    return None
