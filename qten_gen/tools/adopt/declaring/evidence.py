"""The type of an argument without an annotation, and what says so: defaults, uses, docstrings, calls in the project."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..uses import nodes
from .context import Context
from .docstrings import documented
from .expressions import literal
from .pieces import Stays
from .proofs import by_default, by_value, constructor
from .use import Use
from .uses_of_arguments import uses_of_arguments

_CONFIGURATIONS = ("config", "cfg", "args", "conf", "model_args")
_SCALARS = ("bool", "int", "float", "str")

_TESTED = {
    **{kind: kind for kind in ("bool", "int", "float", "str")},
    "list": "list[Any]",
    "tuple": "tuple[Any, ...]",
    "dict": "dict[str, Any]",
    "Sequence": "Sequence[Any]",
}
"""The types that `isinstance` asks for, as annotations."""

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
    is_used = used is not None and (is_open or given == used or (used == "float" and given == "int"))
    kind, source = (used, "what takes it") if is_used else (given, "its default")
    tested = [*_tested(node, context)]
    if is_used and kind is not None and not tested:
        return Evidence(kind, source)
    if kind is not None:
        return _together(node, Evidence(kind, source), said, tested, context)
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
    configuration = (
        None if default is not None else _configuration(node, context) or _annotated_elsewhere(name, context)
    )
    if configuration is not None:
        return Evidence(configuration, "the attributes that it has")
    return _by_calls(node, context) or _by_uses(name, uses, context)


def _together(node: ast.arg, first: Evidence, said: str | None, tested: Iterable[str], context: Context) -> Evidence:
    """The first type with the others by the docstring, by tests in the constructor and by calls in the project."""
    found = dict.fromkeys(said.split(" | ") if said is not None else (), "the docstring")
    if first.annotation != "str":  # a part of a text is one too
        found |= {kind: where for kind, where in _given(node, context) if kind not in found}
    found |= {kind: "a test of it" for kind in tested if kind not in found}
    others = {kind: where for kind, where in found.items() if kind != first.annotation}
    kinds = widest([first.annotation, *others])
    if not others and "a test of it" in found.values():
        kinds, others = "Any", found  # it asks for the type of the default, so there are others
    if kinds == "Any" and first.annotation != "str":  # a module may take the place of its name
        context.plain.add(node.arg)
    return first if kinds == first.annotation else Evidence(kinds, f"{first.source} and {next(iter(others.values()))}")


def widest(kinds: Iterable[str]) -> str:
    """One annotation for several: the widest number, and one type for sequences of different kinds.

    >>> widest(["int", "float", "list[Any]", "tuple[float, ...]"])
    'float | Sequence[float]'
    """
    found = list(dict.fromkeys(kinds))
    if "Any" in found:
        return "Any"
    numbers = [kind for kind in ("bool", "int", "float") if kind in found]
    sequences = [kind for kind in found if kind.startswith(("list[", "tuple[", "Sequence["))]
    items = {kind.partition("[")[2].removesuffix("]").removesuffix(", ...") for kind in sequences} - {"Any"}
    item = items.pop() if len(items) == 1 else "Any"
    merged: dict[str, str] = dict.fromkeys(numbers, numbers[-1] if numbers else "")
    merged |= {kind: f"Sequence[{item}]" for kind in sequences if len(sequences) > 1}
    plain = dict.fromkeys(merged.get(kind, kind) for kind in found if kind != "None")
    return " | ".join([*plain, *(["None"] if "None" in found else [])])


def _tested(node: ast.arg, context: Context) -> Iterator[str]:
    """The types that the constructor asks an argument for: `isinstance(size, int)`."""
    waiting: list[ast.AST] = [each for each in context.found.node.body if each is constructor(context.found)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Assert) or (isinstance(each, ast.If) and isinstance(each.body[-1], ast.Raise)):
            continue  # it asks to make sure
        waiting += ast.iter_child_nodes(each)
        match each:
            case ast.Call(func=ast.Name(id="isinstance"), args=[tested, kinds]) if ast.unparse(tested) in (
                node.arg,
                f"self.{node.arg}",
            ):
                for kind in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
                    yield _TESTED.get(ast.unparse(kind).rpartition(".")[2], "Any")


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


def _by_calls(node: ast.arg, context: Context) -> Evidence | None:
    """The one type of the literals that calls in the project give."""
    found = dict(_given(node, context))
    kind = widest(found)
    return None if kind in ("", "Any", "None") else Evidence(kind, next(iter(found.values())))


def _given(node: ast.arg, context: Context) -> Iterator[tuple[str, str]]:
    """The types of the values that calls in the project give to an argument, each with the place of a call."""
    init = constructor(context.found)
    names = [each.arg for each in init.args.args[1:]] if init is not None else []
    for path, call in _calls(context):
        values = {each.arg: each.value for each in call.keywords}
        if not any(isinstance(each, ast.Starred) for each in call.args):
            values |= zip(names, call.args, strict=False)
        kind = by_value(values.get(node.arg))
        if kind is not None:
            yield kind, f"a call in {path}"


def _calls(context: Context) -> Iterator[tuple[str, ast.Call]]:
    """The calls in the project that construct the class."""
    project, found = context.project, context.found
    if not project.calls:
        project.calls.update({name: [] for file in project.files.values() for name in file.classes})
        for path, file in project.files.items():
            for each in nodes(file.tree):
                called = getattr(each.func, "id", getattr(each.func, "attr", "")) if isinstance(each, ast.Call) else ""
                if called in project.calls and isinstance(each, ast.Call):
                    project.calls[called].append((path, each))
    for path, call in project.calls.get(found.name, ()):
        if project.meaning(project.files[path], call.func) == found.qualified:
            yield path, call


def _class_of_modules(default: ast.expr | None, context: Context) -> str | None:
    """`type[nn.Module]` for an argument whose default is a class of modules."""
    if default is None or not context.is_module_class(context.project.meaning(context.file, default)):
        return None
    return f"type[{_module(context)}]"


def _module(context: Context) -> str:
    return "nn.Module" if context.file.scope.resolve("nn") == "torch.nn" else context.spell("Module", "torch.nn")


def _annotated_elsewhere(name: str, context: Context) -> str | None:
    """The class that all annotations of a configuration's name in the file agree on: `config: BertConfig`."""
    if name not in _CONFIGURATIONS:
        return None
    found = set()
    for each in ast.walk(context.file.tree):
        match each:
            case ast.arg(arg=other, annotation=ast.expr() as annotation) if other == name:
                found.add(ast.unparse(annotation).strip("\"'"))
            case ast.AnnAssign(target=ast.Name(id=other), annotation=annotation) if other == name:
                found.add(ast.unparse(annotation).strip("\"'"))
    kind = found.pop() if len(found) == 1 else ""
    if not kind.isidentifier() or kind in (*_SCALARS, "dict", "Any", "object"):
        return None
    later = "from __future__ import annotations" in context.file.text.content
    return kind if later or context.is_bound_above(ast.Name(kind)) else f'"{kind}"'


def _configuration(node: ast.arg, context: Context) -> str | None:
    """The one class of the file, above the module, that has all attributes which the constructor reads from an argument."""
    init = next(
        each for each in ast.walk(context.found.node) if isinstance(each, ast.FunctionDef) and each.name == "__init__"
    )
    read = {
        each.attr
        for each in ast.walk(init)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == node.arg
    }
    if not read:
        return None
    fitting = []
    for statement in context.file.tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name not in context.file.classes:
            fields = {
                each.target.id: ast.unparse(each.annotation)
                for each in statement.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            }
            if read <= fields.keys():
                fitting.append((statement.name, fields))
    if len(fitting) != 1 or not context.is_bound_above(ast.Name(fitting[0][0])):
        own = [name for name, _ in fitting]
        later = len(fitting) == 1 and "from __future__ import annotations" in context.file.text.content
        return own[0] if later else (f'"{own[0]}"' if len(own) == 1 else None)
    return fitting[0][0]
