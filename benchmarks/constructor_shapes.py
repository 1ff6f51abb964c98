"""Reads an `__init__` of an nn.Module: which parts of the declaration language say what it does, and what it does beyond them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from benchmarks.constructor_nodes import (
    Shapes,
    children_in,
    is_append,
    is_factory_kwargs,
    is_name,
    is_none,
    is_parameter,
    is_plain,
    is_pure,
    is_registered_alone,
    is_self_method,
    makes_module,
    may_make,
    modules_by_default,
    same_arguments,
    text_of,
)

CONFIG = "dimensions from a configuration object"
RICH = "richer expressions and derived values"
INDEX = "the index of a repeated child, or a list that it is looked up in"
SEQUENTIAL = "sequential(...)"
CHOICE = "choice(...) of a class"
COMPUTED = "value= of a parameter or buffer"
SEVERAL = "lists of parameters, and lists of lists"
CONDITION = "a condition that is an expression"
ALIAS = "field(alias=...), because a child has the name of an argument"

LANGUAGE_BEFORE: frozenset[str] = frozenset()
"""The parts of the language that are not new have no name here."""

VARARGS = "*args or **kwargs are passed on"
BASE = "the base is constructed with arguments, or is itself stopped"
LOOP = "a loop that does more than append one child"
METHOD = "children made by a method of the class"
BRANCHES = "a child that branches make with different arguments"
MOVED = "a module that is changed or wrapped after it was made"
SHIFT = "a sequence whose members depend on conditions, which shifts its keys"
DEFAULT = "a module as a default, which is a part of another child"
DECORATED = "the constructor is decorated"
CALLED = "a size or an argument of a child that a call computes"
OTHER = "another statement"

_LISTS = {"ModuleList", "ParameterList", "ModuleDict", "ParameterDict"}
_FILLS = {"zeros", "ones", "empty", "randn", "rand", "full", "Tensor", "zeros_like", "ones_like"}
_HARMLESS = {"warn", "warning", "warning_once", "info", "debug", "error", "print", "requires_backends", "check"}


def shapes(init: ast.FunctionDef) -> Shapes:
    """The shapes of the statements of a constructor."""
    reader = _Reader()
    if init.decorator_list:
        reader.stop(DECORATED)
    arguments = init.args
    for name in (arguments.vararg, arguments.kwarg):
        if name is not None:
            reader.unknown.add(name.arg)
    named = (*arguments.posonlyargs, *arguments.args[1:], *arguments.kwonlyargs)
    reader.arguments = {each.arg for each in named}
    for given in modules_by_default(arguments):
        if not is_registered_alone(given, init):
            reader.stop(DEFAULT)
    reader.block(init.body)
    return reader.found


class _Reader:
    """Goes through the statements of a constructor. Each method adds to `found`."""

    def __init__(self) -> None:
        self.found = Shapes()
        self.arguments: set[str] = set()
        self.unknown: set[str] = set()
        """The names of `*args` and `**kwargs`."""
        self.children: set[str] = set()
        """Local names that hold a module or a list of modules."""
        self.lists: dict[str, bool] = {}
        """Local lists of modules: whether a condition decides about a member."""
        self.computed: set[str] = set()
        """Local names whose value no expression of the language gives."""
        self.factory: set[str] = set()
        """Local names that hold a dict of `device` and `dtype`, which every declared child gets anyway."""
        self.values: dict[str, ast.expr] = {}
        """The expressions of local names and, as `self.name`, of plain attributes."""

    def stop(self, why: str) -> None:
        self.found.stops.append(why)

    def need(self, part: str) -> None:
        self.found.parts.add(part)

    def block(self, statements: Sequence[ast.stmt], condition: ast.expr | None = None) -> None:
        for statement in statements:
            self.statement(statement, condition)

    def statement(self, node: ast.stmt, condition: ast.expr | None) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.Pass() | ast.Assert() | ast.Raise() | ast.Import() | ast.ImportFrom():
                pass
            case ast.Expr(ast.Call() as call):
                self.call(call, condition)
            case ast.Assign([target], value):
                self.assign(target, value, condition)
            case ast.Assign(targets, value):
                for target in targets:
                    self.assign(target, value, condition)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    self.assign(target, value, condition)
            case ast.AugAssign(target, _, value):
                if makes_module(value):
                    self.stop(MOVED)
                elif isinstance(target, ast.Name):
                    self.computed.add(target.id)
            case ast.If():
                self.branches(node, condition)
            case ast.For():
                self.loop(node)
            case ast.With():
                self.block(node.body, condition)
            case ast.FunctionDef():
                if any(makes_module(each) for each in ast.walk(node) if isinstance(each, ast.Call)):
                    self.stop(METHOD)
            case _:
                if any(makes_module(each) for each in ast.walk(node) if isinstance(each, ast.expr)):
                    self.stop(OTHER)

    def branches(self, node: ast.If, condition: ast.expr | None) -> None:
        """An `if`: fields that may be None, choices, or plain values."""
        first, second = children_in(node.body), children_in(node.orelse)
        if not first and not second:
            self.plain_branches(node, condition)
            return
        self.condition(node.test)
        common = {name for name in first if name in second}
        for name in common:
            one, other = first[name], second[name]
            if is_none(one) or is_none(other):
                continue
            if isinstance(one, ast.Call) and isinstance(other, ast.Call) and same_arguments(one, other):
                self.need(CHOICE)
            else:
                self.stop(BRANCHES)
        self.block(node.body, node.test)
        self.block(node.orelse, node.test)

    def plain_branches(self, node: ast.If, condition: ast.expr | None) -> None:
        """An `if` that neither makes nor lacks children: what it assigns to names is not an expression any more."""
        for each in ast.walk(node):
            if isinstance(each, ast.Assign) and all(isinstance(target, ast.Name) for target in each.targets):
                self.need(RICH)
                if any(isinstance(inner, ast.Call) and not self.is_pure(inner) for inner in ast.walk(each.value)):
                    self.computed.update(target.id for target in each.targets if isinstance(target, ast.Name))
            elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                self.call(each.value, node.test)

    def condition(self, test: ast.expr) -> None:
        if not isinstance(test, ast.Name):
            self.need(CONDITION)
        self.expression(test)

    def loop(self, node: ast.For) -> None:
        """A loop: one that appends a child in each turn is a repeated child."""
        made = [each for each in ast.walk(node) if isinstance(each, ast.Call) and is_append(each)]
        if not any(isinstance(each, ast.expr) and makes_module(each) for each in ast.walk(node)) and not made:
            return  # plain values, or initialisers, which `__post_init__` can do
        body = [each for each in node.body if not (isinstance(each, ast.Assign) and is_plain(each))]
        if len(body) == 1 and isinstance(body[0], ast.Expr) and len(made) == 1 and made[0].args:
            self.need(INDEX)
            held = made[0].func.value if isinstance(made[0].func, ast.Attribute) else None
            if isinstance(held, ast.Name):
                self.lists.setdefault(held.id, False)
                self.children.add(held.id)
            self.child(made[0].args[-1], None)
            return
        self.stop(LOOP)

    def call(self, call: ast.Call, condition: ast.expr | None) -> None:
        """A call whose result is not kept."""
        text = text_of(call.func)
        last = text.rpartition(".")[2]
        if last == "__init__":
            self.base(call)
        elif last == "register_buffer" and len(call.args) + len(call.keywords) > 1:
            if not is_name(call.args[0]):
                self.stop(LOOP)
            value = call.args[1] if len(call.args) > 1 else call.keywords[0].value
            self.tensor(value)
        elif last in ("register_parameter", "add_module", "register_module"):
            if not call.args or not is_name(call.args[0]):
                self.stop(LOOP)
            elif len(call.args) > 1:
                self.field(call.args[1], condition)
        elif last in ("append", "extend", "insert", "update", "add") and call.args:
            self.grown(call, condition)
        elif last == "setattr" and any(makes_module(argument) for argument in call.args):
            self.stop(LOOP)
        elif any(makes_module(argument) for argument in call.args) and last not in _HARMLESS:
            self.stop(MOVED)

    def base(self, call: ast.Call) -> None:
        """The constructor of the base, whose arguments a declared base takes from the fields that it declares."""
        self.found.passes = self.found.passes or bool(call.args or call.keywords)
        for argument in (*call.args, *(each.value for each in call.keywords if not self.is_factory(each))):
            if isinstance(argument, ast.Starred) or (isinstance(argument, ast.Name) and argument.id in self.unknown):
                self.stop(VARARGS)
            elif not isinstance(argument, ast.Name) or argument.id not in self.arguments | {"self"}:
                self.stop(BASE)

    def grown(self, call: ast.Call, condition: ast.expr | None) -> None:
        """`layers.append(nn.ReLU())`: a member of a list that becomes a sequence."""
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(held, ast.Name) and held.id in self.lists:
            self.lists[held.id] = self.lists[held.id] or condition is not None
            for argument in call.args:
                self.child(argument, None)
        elif isinstance(held, ast.Attribute) and any(makes_module(argument) for argument in call.args):
            self.need(SEQUENTIAL)
            for argument in call.args:
                self.child(argument, None)

    def assign(self, target: ast.expr, value: ast.expr, condition: ast.expr | None) -> None:
        match target:
            case ast.Attribute(ast.Name("self"), name):
                self.field(value, condition, name)
            case ast.Name(name):
                self.local(name, value)
            case ast.Tuple(elements):
                for index, element in enumerate(elements):
                    same = isinstance(value, ast.Tuple) and len(value.elts) == len(elements)
                    part = value.elts[index] if isinstance(value, ast.Tuple) and same else value
                    self.assign(element, part, condition)
            case _:
                if makes_module(value) and not is_parameter(value):
                    self.stop(MOVED)

    def local(self, name: str, value: ast.expr) -> None:
        """A local name: an expression that is written where it is used, a list of modules, or something computed."""
        if isinstance(value, ast.List) and (not value.elts or any(map(makes_module, value.elts))):
            self.lists[name] = False
            self.children.add(name)
            for element in value.elts:
                self.child(element, None)
        elif makes_module(value):
            self.children.add(name)
            self.child(value, None)
        elif is_factory_kwargs(value):
            self.factory.add(name)
        elif any(isinstance(each, ast.Call) and not self.is_pure(each) for each in ast.walk(value)):
            self.computed.add(name)
        else:
            self.values[name] = value

    def field(self, value: ast.expr, condition: ast.expr | None, name: str = "") -> None:
        """`self.name = value`: a child, a parameter, a buffer or a plain attribute."""
        if name in self.arguments and (makes_module(value) or self.is_given(value)):
            self.need(ALIAS)
        if self.is_given(value):
            self.child(value, condition)
        elif isinstance(value, ast.Call) and is_self_method(value) and may_make(value):
            self.stop(METHOD)
        elif isinstance(value, ast.IfExp) and (makes_module(value.body) or makes_module(value.orelse)):
            self.condition(value.test)
            if not (is_none(value.body) or is_none(value.orelse)):
                self.need(CHOICE)
                if not same_arguments(value.body, value.orelse):
                    self.stop(BRANCHES)
            for part in (value.body, value.orelse):
                if not is_none(part):
                    self.child(part, condition)
        elif makes_module(value) or (isinstance(value, ast.Name) and value.id in self.children):
            self.child(value, condition)
        else:  # a plain attribute, which a config field, an expression or `__post_init__` gives
            self.values[f"self.{name}"] = value

    def is_given(self, value: ast.expr) -> bool:
        """Whether an argument is called, as a class of modules is: `norm(dim)`."""
        return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self.arguments

    def child(self, value: ast.expr, condition: ast.expr | None) -> None:
        """What makes a child, a parameter or several of them."""
        match value:
            case ast.Call() if is_parameter(value):
                for argument in value.args[:1]:
                    self.tensor(argument)
            case ast.Call():
                self.construction(value)
            case ast.Name(name):
                if self.lists.get(name):
                    self.stop(SHIFT)
            case ast.Starred(inner):
                self.several(inner)
            case ast.Subscript():
                self.need(CHOICE)
                self.expression(value.slice)
            case ast.BinOp() | ast.IfExp() | ast.BoolOp():
                self.stop(BRANCHES)
            case _:
                if makes_module(value):
                    self.stop(OTHER)

    def construction(self, call: ast.Call) -> None:
        """`nn.Linear(dim, 4 * dim)`, `nn.ModuleList([...])`, `nn.Sequential(...)`."""
        last = text_of(call.func).rpartition(".")[2]
        if last in _LISTS:
            if last.startswith("Parameter"):
                self.need(SEVERAL)
            for argument in call.args:
                self.several(argument)
            return
        if last == "Sequential":
            self.need(SEQUENTIAL)
            for argument in call.args:
                self.several(argument) if isinstance(argument, ast.Call | ast.Starred) and "Dict" in text_of(
                    argument
                ) else self.child(argument, None)
            return
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            self.stop(MOVED)
            return
        if isinstance(call.func, ast.Subscript):
            self.need(CHOICE)
            self.expression(call.func.slice)
        if isinstance(call.func, ast.Name):
            self.called(call.func.id)
        for argument in (*call.args, *(each.value for each in call.keywords if not self.is_factory(each))):
            if isinstance(argument, ast.Starred):
                self.stop(VARARGS)
            elif makes_module(argument):
                self.child(argument, None)
            else:
                self.expression(argument)
        if any(each.arg is None and not self.is_factory(each) for each in call.keywords):
            self.stop(VARARGS)

    def called(self, name: str) -> None:
        """The class of a child by a name of the constructor: an argument, or what a statement made of one."""
        value = self.values.get(name)
        if name in self.computed or (value is not None and not (isinstance(value, ast.Name) and value.id != name)):
            self.stop(CALLED)
        elif name in self.arguments or value is not None:
            self.need(CHOICE)

    def is_factory(self, keyword: ast.keyword) -> bool:
        """Whether a keyword passes `device` and `dtype` on."""
        value = keyword.value
        if keyword.arg is None:
            return is_factory_kwargs(value) or (isinstance(value, ast.Name) and value.id in self.factory)
        return keyword.arg in ("device", "dtype") and isinstance(value, ast.Name) and value.id == keyword.arg

    def several(self, value: ast.expr) -> None:
        """What a list or dict of children is made from."""
        match value:
            case ast.ListComp(element, [generator]) | ast.GeneratorExp(element, [generator]):
                self.generated(element, generator)
            case ast.DictComp(_, element, [generator]):
                self.generated(element, generator)
            case ast.List(elements) | ast.Tuple(elements):
                self.need(SEQUENTIAL)
                for each in elements:
                    self.child(each, None)
            case ast.Dict(_, elements):
                self.need(SEQUENTIAL)
                for each in elements:
                    self.child(each, None)
            case ast.Name(name) if name in self.lists:
                self.child(value, None)
            case ast.Starred(inner):
                self.several(inner)
            case ast.Call():
                for argument in value.args:
                    self.several(argument)
            case _:
                self.stop(LOOP)

    def generated(self, element: ast.expr, generator: ast.comprehension) -> None:
        """A comprehension over a range, or over a list that the index looks up."""
        if generator.ifs:
            self.stop(LOOP)
            return
        names = {each.id for each in ast.walk(generator.target) if isinstance(each, ast.Name)}
        if any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(element)):
            self.need(INDEX)
        self.expression(generator.iter)
        if isinstance(element, ast.IfExp):
            self.need(CHOICE)
            if not same_arguments(element.body, element.orelse):
                self.stop(BRANCHES)
            self.condition(element.test)
            self.child(element.body, None)
            self.child(element.orelse, None)
            return
        if isinstance(element, ast.Call) and text_of(element.func).rpartition(".")[2] in _LISTS:
            self.need(SEVERAL)
        self.child(element, None)

    def tensor(self, value: ast.expr) -> None:
        """The first value of a parameter or buffer."""
        last = text_of(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
        if last not in _FILLS and not is_none(value):
            self.need(COMPUTED)

    def expression(self, node: ast.expr) -> None:
        """A size or an argument of a child."""
        for each in ast.walk(node):
            match each:
                case ast.Call():
                    if not self.is_pure(each):
                        self.stop(CALLED)
                        return
                    self.need(RICH)
                case ast.Name(name) if name in self.unknown:
                    self.stop(VARARGS)
                    return
                case ast.Name(name) if name in self.computed:
                    self.stop(CALLED)
                    return
                case ast.Attribute(ast.Name("self"), name):
                    self.read(f"self.{name}")
                case ast.Name(name) if name in self.values:
                    self.read(name)
                case ast.Attribute(ast.Name(name)) if name in self.arguments:
                    self.need(CONFIG)
                case ast.IfExp() | ast.BoolOp() | ast.Compare() | ast.Subscript() | ast.Div() | ast.Pow() | ast.Mod():
                    self.need(RICH)
                case ast.Name(name) if name in self.children:
                    pass

    def read(self, name: str) -> None:
        """A name in an expression, which stands for the expression that it was given."""
        value = self.values.pop(name, None)
        if value is None:
            return
        if not (isinstance(value, ast.Name) and value.id == name.removeprefix("self.")):
            self.need(RICH)
        self.expression(value)
        self.values[name] = value

    def is_pure(self, call: ast.Call) -> bool:
        """Whether a call is one that an expression of the language may have, or gives the same for all instances."""
        return is_pure(call, self.arguments | self.computed | self.values.keys() | {"self"})
