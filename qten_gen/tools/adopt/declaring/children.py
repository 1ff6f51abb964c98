"""The declaration of a child from its construction: `nn.Linear(dim, 4 * dim)` → `submodule(nn.Linear, "dim", "4 * dim")`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from .context import CLASSES, Context, quoted
from .expressions import argument, over_fields, said, short
from .makers import made_by_function, module_name, or_none, returns_module
from .pieces import Stays

_TABLES = frozenset({"transformers.activations.ACT2FN"})
"""Tables that make a new module for each name."""

Index = dict[str, ast.expr]


@dataclass(frozen=True, slots=True)
class Child:
    """The declaration of a child."""

    annotation: str
    head: str
    """The specifier: `submodule`."""
    arguments: tuple[str, ...]
    """The arguments in its brackets."""
    bare: str | None = None
    """The class alone, where a sequence takes it without `submodule`."""
    is_optional: bool = False

    @property
    def text(self) -> str:
        """The call of the specifier."""
        return f"{self.head}({', '.join(self.arguments)})"

    @property
    def as_member(self) -> str:
        """The text as a member of a sequence."""
        return self.bare or self.text

    def having(self, *keywords: str) -> Child:
        """The same with more keywords of the specifier."""
        return replace(self, arguments=(*self.arguments, *keywords), bare=None)


def child(node: ast.expr, context: Context, index: Index | None = None) -> Child:
    """The declaration of what an expression makes.

    Raises:
        Stays: the language does not say it, or it may be something other than a module.
    """
    needs = dict(context.needs)
    try:
        return _said_child(node, context, index)
    except Stays:
        context.needs = needs
        made = made_by_function(node, context, index)
        if made is None:
            raise
        annotation, arguments = made
        return Child(annotation, context.spell("submodule"), arguments)


def _said_child(node: ast.expr, context: Context, index: Index | None) -> Child:
    """The declaration of a child in words of the language."""
    match node:
        case ast.Subscript(value=table, slice=key) if context.meaning(table) in _TABLES:
            return _looked_up(table, key, context, index)
        case ast.Call(func=ast.Attribute() | ast.Name() as function):
            return _construction(node, function, context, index)
        case ast.IfExp():
            return _optional(node, context, index)
    raise Stays(f"`{short(node)}` is not the construction of a module", node)


def _construction(node: ast.Call, function: ast.expr, context: Context, index: Index | None) -> Child:
    """`nn.Linear(dim, dim)`, a list or a sequence."""
    if isinstance(function, ast.Name) and (function.id in context.types or function.id in context.renamed):
        return _given(node, function, context, index)
    qualified = context.meaning(function)
    if qualified and context.is_bound_above(function) and returns_module(qualified, context):
        made_by = ast.unparse(function)
        return Child(module_name(context), context.spell("submodule"), (made_by, *_arguments(node, context, index)))
    if not qualified or not context.is_module_class(qualified):
        raise Stays(f"`{ast.unparse(function)}` is not known to be a class of modules", node)
    if not context.is_bound_above(function):
        raise Stays(f"the class body runs before `{ast.unparse(function)}` is defined", node)
    kind = qualified.rpartition(".")[2] if qualified.startswith("torch.") else ""
    if kind == "Sequential":
        return _sequence(node, context, index)
    if kind == "ModuleList":
        return _list(node, context)
    if kind in ("ModuleDict", "ParameterList", "ParameterDict"):
        raise Stays(f"an nn.{kind} that is built from its members cannot be declared yet", node)
    written = ast.unparse(function)
    given = _arguments(node, context, index)
    return Child(written, context.spell("submodule"), (written, *given), None if given else written)


def _given(node: ast.Call, function: ast.Name, context: Context, index: Index | None) -> Child:
    """A child whose class is an argument: `norm_layer(dim)`."""
    field = context.field_of(function.id)
    if field is None:
        raise Stays(f"`{function.id}` is assigned before it is called", node)
    if not (context.types[field] or "").startswith(CLASSES):
        raise Stays(f"the argument `{function.id}` is called, but nothing says that it is a class of modules", node)
    given = _arguments(node, context, index)
    chosen = f"{context.spell('choice')}({quoted(field)})"
    return Child(module_name(context), context.spell("submodule"), (chosen, *given))


def _looked_up(table: ast.expr, key: ast.expr, context: Context, index: Index | None) -> Child:
    """`ACT2FN[config.hidden_act]`: what a function of one argument makes."""
    if not context.is_bound_above(table):
        raise Stays(f"the class body runs before `{ast.unparse(table)}` is defined", table)
    made = f"lambda name: {ast.unparse(table)}[name]"
    return Child(module_name(context), context.spell("submodule"), (made, argument(key, context, index)))


def _arguments(node: ast.Call, context: Context, index: Index | None) -> list[str]:
    """The arguments of a construction."""
    found = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            raise Stays(f"the number of arguments in `{short(each)}` is not known", each)
        found.append(_argument(each, context, index))
    for keyword in node.keywords:
        if _is_factory(keyword, context):
            continue
        if keyword.arg is None:
            raise Stays(f"the names of the arguments in `**{short(keyword.value)}` are not known", node)
        if keyword.arg in ("when", "repeat", "keys", "group", "keep_dtype", "init", "device", "dtype"):
            raise Stays(f"`{keyword.arg}=` has another meaning in submodule(...)", node)
        found.append(f"{keyword.arg}={_argument(keyword.value, context, index)}")
    return found


def _is_factory(keyword: ast.keyword, context: Context) -> bool:
    """Whether a keyword passes on the device and dtype of the constructor, which a declared child gets anyway."""
    if keyword.arg is None:
        return is_factory_kwargs(keyword.value, context)
    own = isinstance(keyword.value, ast.Name) and keyword.value.id == keyword.arg
    return own and keyword.arg in context.factory


def is_factory_kwargs(node: ast.expr, context: Context) -> bool:
    """Whether an expression is a dict of the arguments `device` and `dtype`, or a local name of one."""
    match node:
        case ast.Name(id=name):
            return name in context.factory and name not in ("device", "dtype")
        case ast.Dict(keys=[_, *_] as keys, values=values):
            return all(
                isinstance(key, ast.Constant)
                and isinstance(value, ast.Name)
                and key.value == value.id
                and value.id in context.factory & {"device", "dtype"}
                for key, value in zip(keys, values, strict=True)
            )
    return False


def _argument(node: ast.expr, context: Context, index: Index | None) -> str:
    """One argument, which may itself be a module."""
    if isinstance(node, ast.Call):
        qualified = context.meaning(node.func)
        if qualified and context.is_module_class(qualified):
            return child(node, context, index).text
    if isinstance(node, ast.Name) and context.may_be_module(node.id):
        raise Stays(f"the argument `{node.id}` may be a module, which would be registered under its own name too", node)
    return argument(node, context, index)


def _sequence(node: ast.Call, context: Context, index: Index | None) -> Child:
    """`nn.Sequential(...)`, of modules in order."""
    if node.keywords:
        raise Stays("nn.Sequential takes no keywords", node)
    members = tuple(_member(each, context, index) for each in node.args)
    return Child(context.spell("Sequential"), context.spell("sequential"), members)


def _member(node: ast.expr, context: Context, index: Index | None) -> str:
    """A member of a sequence; `*[Block() for _ in range(depth)]` is several."""
    if not isinstance(node, ast.Starred):
        return child(node, context, index).as_member
    value = node.value
    match value:
        case ast.ListComp(elt=element, generators=[generator]) | ast.GeneratorExp(elt=element, generators=[generator]):
            if index:
                raise Stays("a sequence in a list contains another list", node)
            count, inner = repetition(generator, context)
            return child(element, context, inner).having(f"repeat={count}").text
    raise Stays(f"the number of members in `{short(node)}` is not known", node)


def _list(node: ast.Call, context: Context) -> Child:
    """`nn.ModuleList([Block(dim) for _ in range(depth)])`."""
    match node.args:
        case [
            ast.ListComp(elt=element, generators=[generator]) | ast.GeneratorExp(elt=element, generators=[generator])
        ]:
            return repeated(element, generator, context)
    raise Stays("the members of an nn.ModuleList are not made by one comprehension", node)


def repeated(element: ast.expr, generator: ast.comprehension, context: Context) -> Child:
    """A list of children that one expression makes."""
    count, index = repetition(generator, context)
    made = child(element, context, index)
    if made.is_optional:
        raise Stays("a member of the list may be None", element)
    listed = f"{context.spell('ModuleList')}[{made.annotation}]"
    return replace(made.having(f"repeat={count}"), annotation=listed)


def repetition(generator: ast.comprehension, context: Context) -> tuple[str, Index]:
    """How often a comprehension runs, and what its variable stands for."""
    if generator.ifs or generator.is_async:
        raise Stays("a condition in the comprehension decides which members there are", generator.target)
    position: ast.expr = ast.Name("index", ast.Load())
    if "index" in context.types or "index" in context.names:
        raise Stays("an argument is called `index`, which is the position of a repeated child", generator.target)
    match generator.target, generator.iter:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
            return _count(stop, context), {name: position}
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
            first = over_fields(start, context)
            if first is None:
                raise Stays(f"`{short(start)}` cannot be written as an expression of a declaration", start)
            shifted = ast.BinOp(position, ast.Add(), first)
            return _count(ast.BinOp(stop, ast.Sub(), start), context), {name: shifted}
        case ast.Name(id=name), ast.Name(id=given) if (source := _sequence_field(given, context)) is not None:
            item = ast.Subscript(ast.Name(source, ast.Load()), position, ast.Load())
            return quoted(f"len({source})"), {name: item}
        case ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]), ast.Call(
            func=ast.Name(id="enumerate"), args=[ast.Name(id=given)], keywords=[]
        ) if (source := _sequence_field(given, context)) is not None:
            item = ast.Subscript(ast.Name(source, ast.Load()), position, ast.Load())
            return quoted(f"len({source})"), {first: position, second: item}
    raise Stays(f"a loop over `{short(generator.iter)}` cannot be declared", generator.iter)


def _sequence_field(name: str, context: Context) -> str | None:
    """The field that a name stands for, if it is a sequence."""
    field = context.field_of(name)
    return field if field is not None and _is_sequence(context.types[field]) else None


def _is_sequence(kind: str | None) -> bool:
    return kind is not None and kind.partition("[")[0].rpartition(".")[2] in (
        "list",
        "tuple",
        "List",
        "Tuple",
        "Sequence",
    )


def _count(node: ast.expr, context: Context) -> str:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return str(node.value)
    text = said(node, context)
    if text is None:
        raise Stays(f"`{short(node)}` cannot be written as an expression of a declaration", node)
    return quoted(text)


def _optional(node: ast.IfExp, context: Context, index: Index | None) -> Child:
    """A child that exists where a condition is true. Where there is one in both cases, a function makes it."""
    condition = said(node.test, context, index)
    if condition is None:
        text = short(node.test)
        raise Stays(f"the condition `{text}` cannot be written as an expression of a declaration", node.test)
    if not (_is_none(node.body) or _is_none(node.orelse)):
        raise Stays("a condition decides which child is constructed", node)
    if _is_none(node.body):
        condition = f"not ({condition})" if not condition.isidentifier() else f"not {condition}"
    made = child(node.orelse if _is_none(node.body) else node.body, context, index)
    if made.is_optional:
        raise Stays("nested conditions decide which child is constructed", node)
    return replace(made.having(f"when={quoted(condition)}"), annotation=or_none(made.annotation), is_optional=True)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
