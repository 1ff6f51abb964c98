"""The type of an argument without an annotation, and what says so: defaults, uses, docstrings."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from .context import Context
from .docstrings import documented
from .expressions import literal
from .pieces import Stays
from .proofs import by_default
from .use import Use
from .uses_of_arguments import uses_of_arguments

_OF_VALUES = frozenset(
    "alpha args beta bias cfg channel channels chans class classes config count depth depths device dilation dilations dim dims"
    " drop dropout dtype eps epsilon factor feats features flag frequency gamma group groups height hparams id ids idx index"
    " len list method"
    " kwargs length lengths mode momentum name names num opts options p pad padding param params path paths prob rate rates"
    " ratio ratios resolution scale scales seed shape size sizes step steps std stride strides temperature thresh threshold"
    " timesteps type types vocab weights_path width".split()
)
"""How the name of an argument ends that is a size, a rate, a name or a configuration."""

_BEFORE_VALUES = frozenset("do enable has is max min n nb no num number return share skip total use with".split())
"""How the name of a number or of a switch begins."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The type of an argument, and why it is that."""

    annotation: str
    source: str
    """The evidence, in the words of the report: `its default`; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Witnesses:
    """All that is known of the arguments of a constructor."""

    documented: Mapping[str, str]
    uses: Mapping[str, frozenset[Use]]


def witnesses(init: ast.FunctionDef, context: Context) -> Witnesses:
    """The evidence for the arguments of a constructor."""
    return Witnesses(documented(context.found.node, init), uses_of_arguments(init, context))


def evidence(
    node: ast.arg, default: ast.expr | None, known: Witnesses, context: Context, *, is_stored: bool = False
) -> Evidence:
    """The type of an argument that has no annotation.

    Raises:
        Stays: nothing says what it is, and what is declared would depend on it.
    """
    if _is_named_like_a_value(node.arg):
        context.plain.add(node.arg)
    uses = known.uses.get(node.arg, frozenset())
    uses = uses | {Use.STORED} if is_stored else uses
    found = _evidence(node, default, known, uses, context)
    if found is None and node.arg in context.plain:
        found = Evidence("Any", "its name")
    if found is None and Use.STORED in uses:
        found = Evidence("Any", "")  # a module too is registered under that name
    if found is None:
        raise Stays(f"the argument `{node.arg}` has no annotation, and nothing proves its type", node)
    is_none = isinstance(default, ast.Constant) and default.value is None
    plain = found.annotation
    if is_none and plain != "Any" and not plain.endswith("| None"):
        plain = f"{plain} | None"
    for name, module in (("Any", "typing"), ("Sequence", "collections.abc"), ("Callable", "collections.abc")):
        if name in plain.replace("[", " ").replace("]", " ").replace(",", " ").split():
            spelled = context.spell(name, module)
            plain = plain.replace(name, spelled)
    return Evidence(plain, found.source)


def _evidence(
    node: ast.arg, default: ast.expr | None, known: Witnesses, uses: frozenset[Use], context: Context
) -> Evidence | None:
    """The first evidence, the surest before the others. None as a default says only what else an argument may be."""
    name = node.arg
    used = "int" if Use.SIZE in uses else "float" if Use.RATE in uses else None
    given, said = by_default(default), known.documented.get(name)
    is_open = default is None or (isinstance(default, ast.Constant) and default.value is None)
    if used is not None and (is_open or given == used or (used == "float" and given == "int")):
        return Evidence(used, "what takes it")
    if given is not None:
        if given == "int" and said == "float" and used is None:
            return Evidence(said, "the docstring")
        return Evidence(given, "its default")
    made = _class_of_modules(default, context)
    if made is not None:
        return Evidence(made, "its default, which is a class of modules")
    if not is_open:
        if default is not None and (name in context.plain or literal(default)):
            context.plain.add(name)
            return Evidence("Any", "its default")
        return None
    if said is not None:
        return Evidence(said, "the docstring")
    return _by_uses(name, uses, context)


def _is_named_like_a_value(name: str) -> bool:
    """Whether an argument has a name such as `num_heads`, `dim_out` or `use_bias`, which nobody gives to a module."""
    words = name.lower().rstrip("_0123456789").split("_")
    return words[-1] in _OF_VALUES or words[0] in _BEFORE_VALUES or "dim" in words


def _by_uses(name: str, uses: frozenset[Use], context: Context) -> Evidence | None:
    """The type by what the constructor does with an argument; Any for one that nothing could register unnoticed."""
    telling = uses - {Use.NONE, Use.STORED}
    if Use.OTHER in telling or (not telling and Use.STORED not in uses):
        return None
    if Use.CLASS in telling and telling <= {Use.CLASS, Use.TEST}:
        return Evidence(f"Callable[..., {_module(context)}]", "its calls")
    for use in (Use.INTEGER, Use.NUMBER, Use.TEXT, Use.SEQUENCE):
        if use in telling and telling <= {use, Use.NUMBER, Use.VALUE, Use.TEST}:
            if use is not Use.SEQUENCE:  # an nn.ModuleList is one too
                context.plain.add(name)
            return Evidence(use.value, "its uses")
    if telling == {Use.TEST} and not uses & {Use.NONE, Use.STORED}:
        return Evidence(Use.TEST.value, "its uses")
    if telling - {Use.TEST}:
        context.plain.add(name)
        return Evidence("Any", "")
    return Evidence("Any", "") if not telling else None


def _class_of_modules(default: ast.expr | None, context: Context) -> str | None:
    """`type[nn.Module]` for an argument whose default is a class of modules."""
    if default is None or not context.is_module_class(context.project.meaning(context.file, default)):
        return None
    return f"type[{_module(context)}]"


def _module(context: Context) -> str:
    return "nn.Module" if context.file.scope.resolve("nn") == "torch.nn" else context.spell("Module", "torch.nn")
