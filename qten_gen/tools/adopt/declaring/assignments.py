"""Statements that together give one name its value, as one assignment: lists that grow, values that branches decide about.

What follows then reads assignments alone. `layers = []`, a loop that appends to it and an `if` that appends more are
`layers = [*(Block(dim) for _ in range(depth)), *([Norm(dim)] if normed else [])]`, at the place of the last of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .context import Context, self_attribute
from .expressions import free_names, with_values
from .growing import Growing, added_members, adds_to, mentions, value_of
from .harmless import makes_field, may_register
from .pieces import Stays

_GROWING = frozenset({"ModuleList", "Sequential"})


@dataclass(frozen=True, slots=True)
class Step:
    """One statement as it is read, and those of the constructor that it stands for."""

    node: ast.stmt
    sources: tuple[ast.stmt, ...]
    is_movable: bool = True
    """Whether the sources can be done in `__post_init__`: they register nothing."""


def steps(statements: Sequence[ast.stmt], context: Context) -> list[Step]:
    """The statements of a constructor, with those that belong together folded into one."""
    blocked: set[str] = set()
    while True:
        folding = _Folding(statements, context, frozenset(blocked))
        refused = folding.run()
        if refused is None:
            return folding.steps
        blocked.add(refused)


class _Folding:
    """One pass over the statements."""

    def __init__(self, statements: Sequence[ast.stmt], context: Context, blocked: frozenset[str]) -> None:
        self.statements = statements
        self.context = context
        self.blocked = blocked
        self.growing: dict[str, Growing] = {}
        self.steps: list[Step] = []
        self.absent: list[str] = []

    def run(self) -> str | None:
        """Fold what can be; the name of a list that cannot, if there is one."""
        for position, statement in enumerate(self.statements):
            later = self.statements[position + 1 :]
            if self.opens(statement, later):
                continue
            name = next((each for each in self.growing if adds_to(statement, each)), None)
            refused = self.disturbed(statement, name)
            if refused is not None:
                return refused
            if name is None:
                self.steps += self.branched(statement)
                continue
            grown = self.growing[name]
            members = added_members([statement], name, self.context)
            if members is None:
                return name
            grown.members += members
            grown.sources.append(statement)
            if not any(adds_to(each, name) for each in later):
                if grown.made_by is not None and next(iter(self.containers()), name) != name:
                    return name
                finished = _finished(self.growing.pop(name))
                if (_bound_by(grown.sources) - {name}) & read_before_bound(later):
                    return name
                self.steps.append(finished)
        return next(iter(self.growing), None)

    def containers(self) -> Iterator[str]:
        """The registered containers that grow, in the order of their registration."""
        yield from (name for name, each in self.growing.items() if each.made_by is not None)

    def opens(self, statement: ast.stmt, later: Sequence[ast.stmt]) -> bool:
        """Begin to collect the members of an empty list or container to which later statements add."""
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                name, made_by, members = ast.unparse(target), None, []
            case _:
                return False
        match value:
            case ast.List(elts=elements) if isinstance(target, ast.Name):
                members = list(elements)
            case ast.Call(func=function, args=[] | [ast.List(elts=[])], keywords=[]) if self_attribute(
                target
            ) is not None and self.context.meaning(function).startswith("torch.nn."):
                made_by = function
                if self.context.meaning(function).rpartition(".")[2] not in _GROWING:
                    return False
            case _:
                return False
        if name in self.blocked or name in self.growing or not any(adds_to(each, name) for each in later):
            return False
        self.growing[name] = Growing(target, made_by, members, [statement])
        return True

    def disturbed(self, statement: ast.stmt, adding: str | None) -> str | None:
        """A list that grows whose members would mean something else behind this statement."""
        stored = {ast.unparse(each) for each in ast.walk(statement) if _is_stored(each)}
        for name, grown in self.growing.items():
            read = {each for member in grown.members for each in (*free_names(member), *_attributes(member))}
            if read & stored:
                return name
            if name != adding and (mentions(statement, name) or (adding is not None and grown.members)):
                return name
        if self.growing and adding is None and may_register(statement, self.context):
            return next(iter(self.growing))
        return None

    def branched(self, statement: ast.stmt) -> list[Step]:
        """An `if` that decides about values, as an assignment of each."""
        found = branch_values(statement, self.context) if isinstance(statement, ast.If) else None
        if not isinstance(statement, ast.If) or found is None or not found.values:
            return [Step(statement, (statement,))]
        registers = makes_field(statement, self.context)
        names = {name for name in found.values if not name.startswith("self.")}
        earlier = {name: each for name in found.values if (each := self.earlier(name)) is not None}
        is_plain = names == found.values.keys() or len(earlier) == len(found.values)
        if not registers and (not is_plain or may_register(statement, self.context)):
            return [Step(statement, (statement,))]
        before = {name: value for name, (_, value) in earlier.items()}
        made: list[Step] = []
        if found.guard is not None:
            made.append(Step(ast.Assert(with_values(found.guard, before)), (statement,), False))
        merged: list[ast.Assign] = []
        tests = [each.test for each in ast.walk(statement) if isinstance(each, ast.If)]
        is_repeated = len(found.values) > 1 or found.guard is not None
        if is_repeated and any(may_register(each, self.context) for each in tests):
            return [Step(statement, (statement,))]
        for name in found.values:
            value = with_values(found.value(name, before.get(name) or self.otherwise(name, statement)), before)
            if {*free_names(value), *_attributes(value)} & {ast.unparse(each.targets[0]) for each in merged}:
                return [Step(statement, (statement,))]  # it reads what this had before
            merged.append(ast.copy_location(ast.Assign([_target(name)], value), statement))
        first = tuple(step.sources[0] for step, _ in earlier.values())
        self.steps[:] = [each for each in self.steps if all(each is not step for step, _ in earlier.values())]
        sources = (*(each for each in self.statements if each in first), statement)
        return [*made, *(Step(each, sources, not registers) for each in merged)]

    def otherwise(self, name: str, statement: ast.If) -> ast.expr:
        """The value where a branch gives none: that of a local name is what it was, and an attribute is None.

        Raises:
            Stays: the file asks whether there is such an attribute.
        """
        attribute = name.removeprefix("self.")
        if attribute == name:
            return ast.Name(name, ast.Load())
        if self.context.is_asked_for(attribute):
            raise Stays(f"`{name}` exists in one branch only, where a declared field would be None", statement)
        return ast.Constant(None)

    def earlier(self, name: str) -> tuple[Step, ast.expr] | None:
        """The step that gave an attribute its value before, which nothing has read since."""
        if not name.startswith("self."):
            return None
        for position, step in enumerate(self.steps):
            match step.node:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                    rest = [each.node for each in self.steps[position + 1 :]]
                    read = {ast.unparse(each) for each in ast.walk(value) if _is_read(each)}
                    stored = {ast.unparse(each) for node in rest for each in ast.walk(node) if _is_stored(each)}
                    if len(step.sources) > 1 or read & stored or any(mentions(node, name) for node in rest):
                        return None
                    return None if may_register(value, self.context) else (step, value)
        return None


@dataclass(frozen=True, slots=True)
class _Branched:
    """The values of an `if`: by name, the test and the value in each branch, None where it has none there."""

    test: ast.expr
    values: dict[str, tuple[ast.expr | None, ast.expr | None]]
    guard: ast.expr | None
    """The condition that has to be true, as another branch raises."""
    raises: tuple[bool, bool]

    def value(self, name: str, before: ast.expr) -> ast.expr:
        """The value as one expression, with the value from before where a branch gives none."""
        one, other = (each or before for each in self.values[name])
        if self.raises[0] or self.raises[1]:
            return other if self.raises[0] else one
        return ast.IfExp(self.test, one, other)

    @property
    def partial(self) -> list[str]:
        """The names that one branch alone gives a value."""
        is_whole = any(self.raises)
        return [name for name, (one, other) in self.values.items() if (one is None or other is None) and not is_whole]


def branch_values(node: ast.If, context: Context) -> _Branched | None:
    """The values of the branches of an `if`; None if they do anything else."""
    raises = tuple(len(each) == 1 and isinstance(each[0], ast.Raise) for each in (node.body, node.orelse))
    sides = [
        ({}, None) if is_raised else _assigned(each, context)
        for each, is_raised in zip((node.body, node.orelse), raises, strict=True)
    ]
    (one, first), (other, second) = (each or (None, None) for each in sides)
    if one is None or other is None or all(raises):
        return None
    guards: list[ast.expr] = []
    opposite = ast.UnaryOp(ast.Not(), node.test)
    if raises[0] or first is not None:
        guards.append(opposite if raises[0] else ast.BoolOp(ast.Or(), [opposite, first]) if first else opposite)
    if raises[1] or second is not None:
        guards.append(node.test if raises[1] else ast.BoolOp(ast.Or(), [node.test, second]) if second else node.test)
    guard = None if not guards else guards[0] if len(guards) == 1 else ast.BoolOp(ast.And(), guards)
    names = [*one, *(each for each in other if each not in one)]
    if one and other and [each for each in one if each in other] != [each for each in other if each in one]:
        return None
    return _Branched(
        node.test, {name: (one.get(name), other.get(name)) for name in names}, guard, (raises[0], raises[1])
    )


def _assigned(statements: Sequence[ast.stmt], context: Context) -> tuple[dict[str, ast.expr], ast.expr | None] | None:
    """The values that a branch assigns, by name, and what has to be true for it; None if it does more."""
    found: dict[str, ast.expr] = {}
    guard: ast.expr | None = None
    for statement in statements:
        given: dict[str, ast.expr] = {}
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Attribute(value=ast.Name(id="self")) as target], value=value):
                given = {ast.unparse(target): value}
            case ast.AnnAssign(
                target=ast.Name() | ast.Attribute(value=ast.Name(id="self")) as target, value=ast.expr() as value
            ):
                given = {ast.unparse(target): value}
            case ast.If():
                inner = branch_values(statement, context)
                if inner is None or (inner.guard is not None and guard is not None):
                    return None
                guard = inner.guard or guard
                for name in inner.values:
                    if name in inner.partial and name not in found:
                        return None
                    given[name] = inner.value(name, found.get(name, ast.Constant(None)))
            case ast.Pass():
                continue
            case _:
                return None
        made = [name for name, value in found.items() if may_register(value, context)]
        if any(mentions(statement, name) for name in made):
            return None
        for name, value in given.items():
            if name in found and not isinstance(statement, ast.If):
                return None
            given[name] = with_values(value, found)
        found.update(given)
    return found, guard


def _finished(grown: Growing) -> Step:
    """The assignment of a list with all its members."""
    node = ast.copy_location(ast.Assign([grown.target], value_of(grown)), grown.sources[-1])
    return Step(node, tuple(grown.sources), grown.made_by is None)


def _bound_by(statements: Sequence[ast.stmt]) -> set[str]:
    """The local names that loops and assignments bind."""
    targets: list[ast.expr] = []
    for each in (inner for statement in statements for inner in ast.walk(statement)):
        targets += [each.target] if isinstance(each, ast.For) else each.targets if isinstance(each, ast.Assign) else []
    return {
        each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name) and _is_stored(each)
    }


def read_before_bound(statements: Sequence[ast.stmt]) -> set[str]:
    """The local names that statements read, unless they certainly bind them first."""
    read: set[str] = set()
    bound: set[str] = set()
    for statement in statements:
        match statement:
            case ast.For(target=target, iter=source, body=body, orelse=orelse):
                inner = {*free_names(source), *(read_before_bound([*body, *orelse]) - {*free_names(target)})}
            case ast.If(test=test, body=body, orelse=orelse):
                inner = {*free_names(test), *read_before_bound(body), *read_before_bound(orelse)}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                inner = {*free_names(value)}
                read |= inner - bound
                bound.add(name)
                continue
            case _:
                inner = {*free_names(statement)}
        read |= inner - bound
    return read


def _target(name: str) -> ast.Name | ast.Attribute:
    """The left side of an assignment to a local name or an attribute of `self`."""
    attribute = name.removeprefix("self.")
    if attribute == name:
        return ast.Name(name, ast.Store())
    return ast.Attribute(ast.Name("self", ast.Load()), attribute, ast.Store())


def _attributes(node: ast.AST) -> Iterator[str]:
    """The attributes of `self` that an expression reads."""
    yield from (f"self.{name}" for each in ast.walk(node) if (name := self_attribute(each)) is not None)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
