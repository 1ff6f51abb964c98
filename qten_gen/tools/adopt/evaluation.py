"""The values of expressions: what functions and layers of torch, and functions and modules of the project, certainly return."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...common.field_kinds import is_tensor, members_of
from ...model.field_parts import TypeExpr
from ...read.bindings import dotted
from . import values as known
from .files import OpenFile, Project, method_of
from .opening import is_layer_of_torch
from .records import FoundClass
from .values import (
    ANYTHING,
    NEVER,
    NONE,
    NUMBER,
    OF_TORCH,
    SOMETHING,
    TENSOR,
    State,
    Statements,
    Values,
    argument,
    computed,
    elements,
    elsewhere,
    given,
    several,
)

_SEQUENTIAL, _IDENTITY, _LIST = "torch.nn.Sequential", "torch.nn.Identity", "torch.nn.ModuleList"
_MOVING = ("to", "eval", "train", "float", "half", "double", "cuda", "cpu", "requires_grad_", "apply")
"""Methods of a module that return it."""

_NUMBERS = ("float", "int", "len")
_SAME_MODULE = frozenset(
    f"torch.nn.utils.{name}"
    for name in "weight_norm spectral_norm parametrizations.weight_norm parametrizations.spectral_norm".split()
)
"""Functions that return the module that they are given."""

Called = Callable[[ast.FunctionDef, OpenFile, FoundClass | None, tuple[Values, ...]], Values]
"""What a function of the project returns for such arguments, as a method of an object of the class."""

_NOTHING: Mapping[str, Values] = {}


@dataclass(frozen=True, slots=True)
class Run:
    """One function, as it is called from one place."""

    file: OpenFile
    project: Project
    called: Called
    """Says what another function of the project returns."""
    local: frozenset[str]
    """The names that the function binds."""
    owner: str = ""
    """The name of the object that it is a method of."""
    found: FoundClass | None = None
    """The class of that object."""
    attributes: Mapping[str, Values] = field(default_factory=dict)
    """The attributes of that object."""

    def value(self, node: ast.expr, state: State) -> Values:
        """The values of an expression. What its calls prove of arguments is noted in the state."""
        return state.updated(self._value(node, state))

    def _value(self, node: ast.expr, state: State) -> Values:
        """The values of an expression by its form, as far as its parts are known before the last of them is evaluated."""
        match node:
            case ast.Constant(value=value):
                return NONE if value is None else NUMBER if isinstance(value, int | float | complex) else SOMETHING
            case ast.Name(id=name):
                return state.of(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                state.names[name] = self.value(value, state)
                return state.names[name]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, no = self.statements().branches(test, state)
                return self.value(body, yes) | self.value(orelse, no)
            case ast.BoolOp(op=op, values=[first, *others]):
                found, last = self.value(first, state), others[-1]
                for each in others:
                    values = self.value(each, state.copy())
                    found = (given(found) if isinstance(op, ast.Or) else found) | values
                    found = found if each is last or not isinstance(op, ast.Or) else given(found)
                return found
            case ast.BinOp(left=left, right=right):
                before, after = self.value(left, state), self.value(right, state)
                return computed(state.updated(before), after)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                before, after = self.value(left, state), self.value(right, state)
                is_operator = not isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn)
                return computed(state.updated(before), after) if is_operator else SOMETHING
            case ast.UnaryOp(op=op, operand=operand):
                values = self.value(operand, state)
                return SOMETHING if isinstance(op, ast.Not) else computed(values, values)
            case ast.Subscript(value=value, slice=place):
                values = self.value(value, state)
                self.value(place, state)
                if isinstance(place, ast.Slice) and values != TENSOR:
                    return values if all(each.endswith("*") for each in values) else ANYTHING
                return elements(values)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(value, name, state)
            case ast.Call():
                return self._call(node, state)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for each in elts:
                    self.value(each, state)
                return SOMETHING
        Statements(self.value, "").forget(node, state, may_return=False)
        return ANYTHING if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.Starred) else SOMETHING

    def statements(self) -> Statements:
        """A run of statements in this function."""
        return Statements(self.value, self.owner)

    def _attribute(self, value: ast.expr, name: str, state: State) -> Values:
        if isinstance(value, ast.Name) and value.id == self.owner:
            return self.attributes.get(name, ANYTHING)
        values = self.value(value, state)
        if name == "weight" and values and values <= known.WEIGHTED:
            return TENSOR
        if values == TENSOR:
            if name in known.ATTRIBUTES:
                return TENSOR
            return several(NUMBER) if name == "shape" else NUMBER if name == "ndim" else ANYTHING
        return ANYTHING

    def _call(self, call: ast.Call, state: State) -> Values:
        """The values of a call: of a name of the file, a method of the object or of a tensor, or a module."""
        head = call.func
        name = self._qualified(head)
        if name:
            return self._function(name, call, state)
        match head:
            case ast.Attribute(value=ast.Name(id=self.owner), attr=method) if method not in self.attributes:
                return self._method(method, call, state)
            case ast.Attribute(value=owner, attr=method) if not isinstance(owner, ast.Name) or owner.id != self.owner:
                values = self.value(owner, state)
                passed = self._passed(call, state)
                if values == TENSOR:
                    return _of_tensor(method, call)
                is_module = bool(values) and all(
                    is_layer_of_torch(each) or self.project.class_named(each) for each in values
                )
                return values if is_module and method in _MOVING else ANYTHING
        values = self.value(head, state)
        passed = self._passed(call, state)
        found = frozenset().union(*(self._module(each, call, passed) for each in values - NONE))
        if values and values - NONE <= known.CHECKING_LAYERS and call.args and isinstance(call.args[0], ast.Name):
            state.prove(call.args[0].id)
        return found or ANYTHING

    def _qualified(self, head: ast.expr) -> str:
        """The meaning of a name or chain of attributes of the top level; empty for one that the function binds."""
        name = dotted(head) or ""
        root = name.partition(".")[0]
        return "" if root in self.local or root == "super" else self.project.meaning(self.file, head)

    def _passed(self, call: ast.Call, state: State) -> list[Values]:
        """The values of the arguments by position, up to one with a star. All arguments are evaluated."""
        found = [self.value(each, state) for each in call.args if not isinstance(each, ast.Starred)]
        for each in call.keywords:
            self.value(each.value, state)
        stars = [at for at, each in enumerate(call.args) if isinstance(each, ast.Starred)]
        return [state.updated(each) for each in found[: stars[0] if stars else None]]

    def _function(self, name: str, call: ast.Call, state: State) -> Values:
        """The values of a call of a name of the top level."""
        passed = self._passed(call, state)
        if any(each.arg in ("out", "return_indices", "return_complex") for each in call.keywords):
            return OF_TORCH
        if name in known.FUNCTIONS or name in known.CLASSES or (name == "torch.where" and len(call.args) == 3):
            return TENSOR
        if name in known.FUNCTIONS_OF_SEVERAL:
            return several(TENSOR)
        if name in ("torch.max", "torch.min"):
            return TENSOR if len(call.args) == 1 and not call.keywords else OF_TORCH
        if is_layer_of_torch(name):
            return self._layer(name, call, passed, state)
        if name in _SAME_MODULE and passed:
            return passed[0]
        if name in known.EINOPS:
            return TENSOR if passed[:1] == [TENSOR] else SOMETHING
        if name.startswith("torch."):
            return OF_TORCH
        if name.startswith("math.") or (
            name.rpartition(".")[2] in _NUMBERS and dotted(call.func) not in self.file.scope.bound
        ):
            return NUMBER
        if self.project.class_named(name) is not None:
            return frozenset({name})
        return self._function_of_project(name, call, passed)

    def _layer(self, name: str, call: ast.Call, passed: list[Values], state: State) -> Values:
        """What the call of a layer of torch makes."""
        if name == _LIST:
            match call.args:
                case []:
                    return NEVER
                case [ast.ListComp(elt=elt, generators=generators)]:
                    inner = state.copy()
                    for each in generators:
                        self.statements().forget(each.target, inner)
                    return several(self.value(elt, inner))
                case [ast.List(elts=elts)] if not any(isinstance(each, ast.Starred) for each in elts):
                    return several(frozenset().union(*(self.value(each, state) for each in elts)))
            return frozenset({name})
        if name == _SEQUENTIAL:
            last = call.args[-1] if call.args and not call.keywords else None
            made = NEVER if last is None or isinstance(last, ast.Starred) else self.value(last, state)
            results = [self._module(each, call, []) for each in made]
            return frozenset({name}) if results and all(each == TENSOR for each in results) else SOMETHING
        return frozenset({name})

    def _module(self, kind: str, call: ast.Call, passed: list[Values]) -> Values:
        """What a module of a kind returns."""
        if kind in known.LAYERS or kind == _SEQUENTIAL:
            return TENSOR
        if kind == _IDENTITY:
            return passed[0] if len(passed) == 1 and not call.keywords else ANYTHING
        cls = self.project.class_named(kind)
        for owner, home in () if cls is None else self.project.lineage(cls):
            forward = method_of(owner.node, "forward")
            if forward is not None and cls is not None:
                return self._run(forward, home, cls, passed, call)
        bases = [] if cls is None else [each for each in cls.ancestors if each in known.LAYERS]
        return TENSOR if bases else ANYTHING

    def _method(self, name: str, call: ast.Call, state: State) -> Values:
        """What a method of the object returns, unless a subclass among the files has another."""
        passed = self._passed(call, state)
        if self.found is None:
            return ANYTHING
        heirs = self.project.heirs.get(self.found.qualified, ())
        if any(method_of(each.node, name) is not None for each in heirs):
            return ANYTHING
        for owner, home in self.project.lineage(self.found):
            method = method_of(owner.node, name)
            if method is not None:
                return self._run(method, home, None if _is_static(method) else self.found, passed, call)
        return ANYTHING

    def _function_of_project(self, name: str, call: ast.Call, passed: list[Values]) -> Values:
        """What a function of the project returns."""
        module, _, last = name.rpartition(".")
        cls = self.project.class_named(module)
        if cls is not None:
            method = method_of(cls.node, last)
            static = method if method is not None and _is_static(method) else None
            return ANYTHING if static is None else self._run(static, self.project.files[cls.path], None, passed, call)
        for file in self.project.modules.get(module, ()):
            for node in file.tree.body:
                if isinstance(node, ast.FunctionDef) and node.name == last:
                    return self._run(node, file, None, passed, call)
        return SOMETHING if last[:1].isupper() else ANYTHING

    def _run(
        self, function: ast.FunctionDef, home: OpenFile, cls: FoundClass | None, passed: list[Values], call: ast.Call
    ) -> Values:
        """What a function returns that is called from this one."""
        simple = not call.keywords and not any(isinstance(each, ast.Starred) for each in call.args)
        values = tuple(map(elsewhere, passed)) if simple else ()
        return elsewhere(self.called(function, home, cls, values))


def _is_static(method: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list)


def _of_tensor(method: str, call: ast.Call) -> Values:
    """What a method of a tensor returns."""
    has_arguments = bool(call.args or call.keywords)
    if method in known.METHODS or method in (("type",) if has_arguments else ("max", "min")):
        return TENSOR
    if f"torch.{method}" in known.FUNCTIONS_OF_SEVERAL:
        return several(TENSOR)
    if method == "size":
        return NUMBER if has_arguments else several(NUMBER)
    return NUMBER if method in ("dim", "numel") else ANYTHING


def begun(
    function: ast.FunctionDef,
    file: OpenFile,
    project: Project,
    called: Called,
    cls: FoundClass | None = None,
    attributes: Mapping[str, Values] = _NOTHING,
    passed: Sequence[Values] = (),
) -> tuple[Run, State]:
    """The run of a function, and the state in which it begins: its arguments as they are annotated, else as they are passed."""
    by_position = [*function.args.posonlyargs, *function.args.args]
    owner = by_position.pop(0).arg if cls is not None and by_position else ""
    state = State({owner: SOMETHING} if owner else {})
    for each in (*by_position, *function.args.kwonlyargs):
        state.names[each.arg] = (
            argument(each.arg) if each.annotation is None else annotated(each.annotation, file, project)
        )
    defaults = [*zip(reversed(by_position), reversed(function.args.defaults), strict=False)]
    for each, default in (*defaults, *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)):
        if isinstance(default, ast.Constant) and default.value is None:
            state.names[each.arg] |= NONE
    for each, values in zip(by_position, passed, strict=False):
        if state.names[each.arg] != TENSOR:
            state.names[each.arg] = values
    for other in (function.args.vararg, function.args.kwarg):
        state.names |= {other.arg: SOMETHING} if other is not None else {}
    bound = Statements(lambda node, state: ANYTHING, "").forget(function, State())
    return Run(file, project, called, frozenset({*bound.names, *state.names}), owner, cls, attributes), state


def annotated(annotation: ast.expr, file: OpenFile, project: Project) -> Values:
    """The values that an annotation allows."""
    return frozenset().union(*(_of_type(each, project) for each in members_of(project.type_of(file, annotation))))


def _of_type(each: TypeExpr, project: Project) -> Values:
    if is_tensor(each):
        return TENSOR
    if each.name in ("None", "builtins.None", "types.NoneType"):
        return NONE
    if each.name in ("builtins.int", "builtins.float", "builtins.bool", "builtins.complex"):
        return NUMBER
    if each.name in known.LAYERS or project.class_named(each.name) is not None:
        return frozenset({each.name})
    return SOMETHING if each.name.startswith("builtins.") and each.name != "builtins.object" else ANYTHING
