"""What functions return, annotated or proven by their statements, and the attributes of modules as constructors set them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from .evaluation import Called, Run, annotated, begun
from .files import OpenFile, Project, method_of
from .records import FoundClass
from .values import ANYTHING, NEVER, NONE, State, Statements, Values, elsewhere, own_nodes, several

_DEEPEST = 8
"""How many functions that call each other are followed."""

_PASSING = frozenset(
    "builtins.staticmethod staticmethod torch.enable_grad torch.inference_mode torch.jit.ignore torch.jit.unused "
    "torch.no_grad".split()
)
"""Decorators of functions that return what the function returns."""


def returned(
    function: ast.FunctionDef,
    file: OpenFile,
    project: Project,
    cls: FoundClass | None,
    passed: tuple[Values, ...] = (),
    depth: int = 0,
) -> Values:
    """The values that a function returns: what it is annotated with, or what its statements return for such arguments."""
    for decorator in function.decorator_list:
        head = decorator.func if isinstance(decorator, ast.Call) else decorator
        if project.meaning(file, head) not in _PASSING:
            return ANYTHING
    if function.returns is not None:
        return annotated(function.returns, file, project)
    if depth > _DEEPEST or any(
        isinstance(each, ast.Yield | ast.YieldFrom | ast.Nonlocal) for each in own_nodes(function)
    ):
        return ANYTHING
    key = (file.path, function.lineno, "" if cls is None else cls.qualified, passed)
    if key in project.results:
        return project.results[key]
    called = _caller(project, depth + 1)
    attributes = {} if cls is None else _attributes_of(cls, project, called)
    project.results[key] = ANYTHING  # for a function that calls itself
    run, state = begun(function, file, project, called, cls, attributes or {}, passed)
    result = run.statements().result(function, state)
    if attributes is None:
        del project.results[key]  # it is better known once the constructor is
    else:
        project.results[key] = result
    return result


def _caller(project: Project, depth: int) -> Called:
    """What functions return that a function at such a depth calls."""
    return lambda function, file, cls, passed: returned(function, file, project, cls, passed, depth)


def attributes_set(found: FoundClass, file: OpenFile, project: Project) -> Mapping[str, Values]:
    """What a class sets the attributes of its objects to, and None from other methods; `*` stands for names that are computed."""
    values = _constructed(found, file, project, _caller(project, 1))
    methods = (each for each in found.node.body if isinstance(each, ast.FunctionDef))
    stored = (pair for method in methods for pair in _stored(method))
    to_none = {name for name, value in stored if isinstance(value, ast.Constant) and value.value is None}
    return values | {name: values.get(name, NONE) | NONE for name in to_none}


_REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module")
_VALUE = ("tensor", "param", "module")
_GROWING = ("insert", "extend", "add_module", "pop", "register_module")


def _attributes_of(found: FoundClass, project: Project, called: Called) -> Mapping[str, Values] | None:
    """The attributes of the objects of a class, as far as constructors alone set them; None while these are followed."""
    key = found.qualified
    if key not in project.attributes:
        project.attributes[key] = None
        values: dict[str, Values] = {}
        said: dict[str, Values] = {}
        classes = list(project.lineage(found))
        for cls, home in reversed(classes):
            for name, kinds in _constructed(cls, home, project, called).items():
                values[name] = values.get(name, NEVER) | kinds
            for statement in cls.node.body:
                match statement:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                        said[name] = annotated(annotation, home, project)
        heirs = project.heirs.get(found.qualified, ())
        changed = [*(_changed(cls, _building(cls)) for cls, _ in classes), *(_changed(cls, []) for cls in heirs)]
        project.attributes[key] = values | {name: ANYTHING for names in changed for name in names} | said
    return project.attributes[key]


def _constructed(cls: FoundClass, file: OpenFile, project: Project, called: Called) -> dict[str, Values]:
    """What the constructor of a class, and the methods that it calls on the object, set its attributes to."""
    found: dict[str, Values] = {}
    for name in _building(cls):
        method = method_of(cls.node, name)
        if method is not None:
            run, state = begun(method, file, project, called, cls)
            others = (each for each in cls.node.body if isinstance(each, ast.FunctionDef) and each is not method)
            statements = _Building(run, {attribute for each in others for attribute, _ in _stored(each)})
            statements.result(method, state)
            for each, values in statements.attributes.items():
                found[each] = found.get(each, NEVER) | elsewhere(values)
    return found


def _building(cls: FoundClass) -> list[str]:
    """The methods of a class that run while an object is made: the constructor, and methods that it calls as a statement."""
    waiting, found = ["__init__", "__post_init__"], list[str]()
    while waiting:
        name = waiting.pop(0)
        method = method_of(cls.node, name)
        if method is None or name in found:
            continue
        found.append(name)
        for node in own_nodes(method):
            match node:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=called))):
                    waiting += [called] if owner == _owner(method) else []
    return found


class _Building(Statements):
    """The statements of a constructor, which register attributes by name too."""

    def __init__(self, run: Run, hidden: Collection[str]) -> None:
        """Take the run of the constructor, and the attributes that other methods set too."""
        super().__init__(self._registering, run.owner)
        self._hidden = hidden
        self._visible: dict[str, Values] = {}
        self._run = replace(run, attributes=self._visible)

    def assign(self, name: str, values: Values) -> None:
        super().assign(name, values)
        if name not in self._hidden:
            self._visible[name] = self.attributes[name]

    def _registering(self, node: ast.expr, state: State) -> Values:
        """Evaluate an expression, and note what it registers. A name that is computed may be any: it is noted as `*`."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=self.owner), attr=method)) if method in _REGISTERING:
                passed = [*node.args, *(each.value for each in node.keywords if each.arg in _VALUE)]
                self._note(node.args[0] if node.args else None, passed[-1 if len(node.args) < 2 else 1], state)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=self.owner), name, value]):
                self._note(name, value, state)
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=self.owner), attr=name), attr="append"),
                args=[value],
            ) if "*" not in self._run.value(value, state):
                self.assign(name, several(self._run.value(value, state)))
        return self._run.value(node, state)

    def _note(self, name: ast.expr | None, value: ast.expr, state: State) -> None:
        values = self._run.value(value, state)
        self.assign(name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else "*", values)


def _changed(cls: FoundClass, building: Collection[str]) -> Iterator[str]:
    """The attributes that a class sets elsewhere than in these methods, and lists of modules that it changes there."""
    for method in (each for each in cls.node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)):
        owner, is_building = _owner(method), method.name in building
        if not is_building:
            yield from (name for name, _ in _stored(method))
        growing = _GROWING if is_building else (*_GROWING, "append")
        for node in ast.walk(method):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr=attribute), attr=how)
                ) if name == owner and how in growing:
                    yield attribute


def _stored(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes of the object that a method sets, by name too, with the values of plain assignments."""
    owner = _owner(method)
    plain: dict[int, ast.expr] = {}
    for node in ast.walk(method):
        if isinstance(node, ast.Assign):
            plain |= {id(target): node.value for target in node.targets}
    for node in ast.walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store() | ast.Del()) if name == owner:
                yield attribute, plain.get(id(node))
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=how), args=[ast.Constant(value=str(attribute)), *given]
            ) if name == owner and how in _REGISTERING:
                yield attribute, given[0] if given else None


def _owner(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return method.args.args[0].arg if method.args.args else ""
