"""Expressions of a constructor, written in the language of declarations, in lambdas of the module, and their types."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy

from ....model import DimError
from ....read.dimensions import parse
from .context import Context, quoted, self_attribute
from .inlining import Inlined
from .pieces import Stays

_PURE = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "round", "sum", "getattr"})
_RESULTS = {"abs": None, "bool": "bool", "float": "float", "int": "int", "len": "int", "round": None}


CHANGING = frozenset(
    "add append clear discard extend insert pop popitem remove reverse setdefault sort update __next__".split()
)
"""Methods that change what they are called on, so that it matters how often an expression is computed."""


LONG = 40
"""The length of an expression that nobody wants to read several times."""


class _Unsaid(Exception):
    """A name in an expression that no field says."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Settled(ast.Name):
    """A name of a field or of the file, in an expression where names of the constructor are replaced already."""


Settled.__name__ = "Name"  # visitors, and `ast.unparse`, go by the name of the class


class _OverFields(ast.NodeTransformer):
    """Replaces local names and attributes of the module by what they stand for."""

    def __init__(self, context: Context, index: Mapping[str, ast.expr], registered: str | None) -> None:
        """Take note of the variables of a comprehension, and of the name that stands for the module, if one does."""
        self.context = context
        self.index = index
        self.registered = registered
        self.bound: frozenset[str] = frozenset()

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name, as an expression over fields."""
        name = node.id
        if name in self.bound or isinstance(node, Settled):
            return node
        if name in self.index:
            return self._free(self.index[name])
        if name in self.context.names:
            return self._free(self.context.names[name], name)
        known = name in self.context.types or name in self.context.inlined or self.context.file.scope.binds(name)
        if not known or name == "self":
            raise _Unsaid(name)
        return Settled(name, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = self_attribute(node)
        if name is None:
            return ast.copy_location(ast.Attribute(self.visit(node.value), node.attr, ast.Load()), node)
        found = self.context.attributes.get(name)
        if found is None and self.registered is not None and name in self.context.registered:
            return ast.Attribute(Settled(self.registered, ast.Load()), name, ast.Load())
        return self._free(found, f"self.{name}")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            raise _Unsaid(node.func.attr)
        return self.generic_visit(node)

    def _free(self, found: ast.expr | None, name: str = "") -> ast.expr:
        """The replacement of a name, unless it would mean something else inside of a comprehension."""
        if found is None or self.bound.intersection(free_names(found)):
            raise _Unsaid(name)
        return found

    def _scope(self, node: ast.AST) -> ast.AST:
        outer, own = self.bound, bound_in(node)
        sources = [each.iter for each in getattr(node, "generators", ())]
        if any(own.intersection(free_names(each)) for each in sources[:1]):
            raise _Unsaid(min(own))
        self.bound |= own
        found = self.generic_visit(node)
        self.bound = outer
        return found

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_Lambda = _scope


def bound_in(node: ast.AST) -> frozenset[str]:
    """The names that a comprehension or lambda binds for itself."""
    if isinstance(node, ast.Lambda):
        return frozenset(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg))
    targets = [each.target for each in getattr(node, "generators", ())]
    return frozenset(each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def free_names(node: ast.AST) -> list[str]:
    """The names that an expression reads from around it, in their order, each once."""
    if isinstance(node, ast.Name):
        return [node.id]
    own = bound_in(node)
    found = (name for each in ast.iter_child_nodes(node) for name in free_names(each) if name not in own)
    return list(dict.fromkeys(found))


def with_values(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with values in place of names and of attributes of `self`.

    Raises:
        Stays: a name would mean something else there.
    """
    if not values:
        return node
    bound = frozenset[str]().union(*(bound_in(each) for each in ast.walk(node)))
    if bound & {*values, *(name for each in values.values() for name in free_names(each))}:
        raise Stays(f"`{_short(node)}` redefines a name of the constructor", node)
    replaced: ast.expr = _WithValues(values).visit(deepcopy(node))
    return replaced


def flat(members: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Arguments or members of a list, with those of a list among them in place of `*[...]`."""
    for each in members:
        match each:
            case ast.Starred(value=ast.List(elts=inner)):
                yield from flat(inner)
            case _:
                yield each


class _WithValues(ast.NodeTransformer):
    """Puts values in place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if isinstance(node, Settled) else self.values.get(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        node.args = list(flat(node.args))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        found = self.values.get(ast.unparse(node)) if self_attribute(node) is not None else None
        if found is not None:
            return found
        return ast.copy_location(ast.Attribute(self.visit(node.value), node.attr, node.ctx), node)


def over_fields(
    node: ast.expr, context: Context, index: Mapping[str, ast.expr] | None = None, registered: str | None = None
) -> ast.expr | None:
    """An expression over fields and names of the file, with all other names replaced; None if there is none.

    With `registered`, attributes of the module that are registered already are read from what has that name.
    """
    try:
        return _replaced(node, context, index, registered)
    except _Unsaid:
        return None


def _replaced(
    node: ast.expr, context: Context, index: Mapping[str, ast.expr] | None = None, registered: str | None = None
) -> ast.expr:
    found: ast.expr = _OverFields(context, index or {}, registered).visit(deepcopy(node))
    return found


def reading(node: ast.expr, context: Context, receiver: str) -> ast.expr:
    """An expression over fields, which reads them from `receiver`."""

    class Reading(ast.NodeTransformer):
        bound: frozenset[str] = frozenset()

        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id in self.bound or node.id not in context.types:
                return node
            return ast.Attribute(ast.Name(receiver, ast.Load()), node.id, ast.Load())

        def scope(self, node: ast.AST) -> ast.AST:
            outer = self.bound
            self.bound |= bound_in(node)
            found = self.generic_visit(node)
            self.bound = outer
            return found

        visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_Lambda = scope

    read: ast.expr = Reading().visit(deepcopy(node))
    return read


def said(node: ast.expr, context: Context, index: Mapping[str, ast.expr] | None = None) -> str | None:
    """An expression in the language of declarations; None if the language does not say it."""
    found = over_fields(node, context, index)
    if found is None:
        return None
    found = Inlined(context).visit(found)
    known = {*context.types, *(["index"] if index else [])}
    called = {id(each.func) for each in ast.walk(found) if isinstance(each, ast.Call)}
    for each in ast.walk(found):
        match each:
            case ast.Call(func=ast.Name(id=name)) if name in _PURE and name not in known:
                pass
            case ast.Call():
                return None
            case ast.Name(id=name) if name not in known and id(each) not in called:
                return None
            case ast.List() | ast.Dict() | ast.Set() | ast.Lambda() | ast.JoinedStr() | ast.Starred() | ast.Slice():
                return None
    text = ast.unparse(found)
    if isinstance(parse(text), DimError):
        return None
    return _as_written(node, text, context)


def _as_written(node: ast.expr, text: str, context: Context) -> str:
    """The text of an expression as the constructor has it, where nothing in it was replaced."""
    if not hasattr(node, "lineno") or node.lineno != node.end_lineno or ast.unparse(node) != text:
        return text
    written = context.file.text.of(node)
    return text if isinstance(parse(written), DimError) else written


def literal(node: ast.expr) -> bool:
    """Whether an expression is a literal of numbers, strings, None, tuples, lists and dicts of such."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def argument(node: ast.expr, context: Context, index: Mapping[str, ast.expr] | None = None) -> str:
    """An argument of a child, as `submodule` takes it.

    Raises:
        Stays: it cannot be said.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return f"{context.spell('const')}({context.file.text.of(node)})"
    if literal(node):
        return context.file.text.of(node) if hasattr(node, "lineno") else ast.unparse(node)
    text = said(node, context, index)
    if text is not None:
        return quoted(text)
    if (meaning := context.meaning(node)) and context.is_bound_above(node):
        written = ast.unparse(node)
        is_no_string = meaning.startswith("torch.") or context.is_module_class(meaning)
        return written if is_no_string else f"{context.spell('const')}({written})"
    raise Stays(f"the argument `{_short(node)}` cannot be written as an expression of a declaration", node)


def type_of(node: ast.expr, context: Context) -> str | None:
    """The type of an expression over fields: `int`, `float`, `bool` or `str`; None if it is not certain."""
    match node:
        case ast.Constant(value=value):
            return type(value).__name__ if type(value) in (int, float, bool, str) else None
        case ast.Name(id=name):
            return context.types.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return context.attribute_type(name, attribute)
        case ast.Subscript(value=ast.Name(id=name)):
            return _of_item(context.types.get(name) or "")
        case ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.UnaryOp(operand=operand):
            found = type_of(operand, context)
            return "int" if found == "bool" else found
        case ast.Compare():
            return "bool"
        case ast.BinOp(left=left, op=operator, right=right):
            return _of_operation(type_of(left, context), operator, type_of(right, context), right)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            kind = type_of(body, context)
            if kind is not None and ast.unparse(test) == f"{ast.unparse(body)} is not None":
                kind = kind.removesuffix(" | None")
            return _common(kind, type_of(orelse, context))
        case ast.BoolOp(values=values):
            kinds = {type_of(value, context) for value in values}
            first, *others = values
            if len(kinds) == 1:
                return kinds.pop()
            kind = type_of(others[0], context) if len(others) == 1 and isinstance(node.op, ast.Or) else None
            return kind if kind is not None and type_of(first, context) == f"{kind} | None" else None
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name in ("max", "min") and len(args) == 1:
                return type_of(ast.Subscript(args[0], ast.Constant(0), ast.Load()), context)
            if name in ("max", "min"):
                kinds = {type_of(each, context) for each in args}
                return kinds.pop() if len(kinds) == 1 else None
            if name == "round" and len(args) == 1:
                return "int"
            return _RESULTS.get(name)
    return None


def _of_item(kind: str) -> str | None:
    """The type of an item of a sequence of one type: `int` of `Sequence[int]` and of `tuple[int, int]`."""
    head, _, inner = kind.removesuffix("]").removesuffix(", ...").partition("[")
    items = {*inner.split(", ")} if head in ("tuple", "Tuple") else {inner}
    is_sequence = head in ("list", "List", "Sequence", "tuple", "Tuple") and len(items) == 1
    return item if is_sequence and (item := items.pop()).isidentifier() else None


def _of_operation(left: str | None, operator: ast.operator, right: str | None, exponent: ast.expr) -> str | None:
    numbers = ("bool", "int", "float")
    if left not in numbers or right not in numbers:
        return None
    if isinstance(operator, ast.Div) or "float" in (left, right):
        return "float"
    if isinstance(operator, ast.Pow):  # of integers, it is one where the exponent is not negative
        return "int" if isinstance(exponent, ast.Constant) else None
    return "int" if isinstance(operator, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod) else None


def _common(one: str | None, other: str | None) -> str | None:
    if one == other:
        return one
    return "float" if {one, other} == {"int", "float"} else None


def of_module(node: ast.expr, context: Context) -> str:
    """A function of the module that gives the value of an expression of the constructor.

    Raises:
        Stays: it reads something that is not known where the field stands.
    """
    try:
        found = _replaced(node, context, registered="module")
    except _Unsaid as error:
        raise Stays(f"`{error.name}` in `{_short(node)}` is not a field above it", node) from None
    names = [each.arg for each in ast.walk(found) if isinstance(each, ast.arg)]
    if "module" in {*names, *context.types, *context.names}:
        raise Stays(f"`{_short(node)}` redefines a name of the constructor", node)
    return f"lambda module: {ast.unparse(reading(found, context, 'module'))}"


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


short = _short


def first_line(node: ast.stmt) -> str:
    """The first line of a statement, shortened for a report."""
    text = ast.unparse(node).splitlines()[0]
    return text if len(text) <= 60 else f"{text[:57]}..."
