"""Follows the statements of a function: the values of its names along every path, and those that it returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ..uses import nodes
from .values import ANYTHING, NEVER, NONE, NUMBER, OF_TORCH, State, Values, computed, elements, given, joined

_MOST_TURNS = 8
_NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


def own_nodes(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """The nodes of a function, without those of functions and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTED):
            waiting += ast.iter_child_nodes(node)


class Statements:
    """One run of a function. It collects what is returned, and what the attributes of the object become."""

    def __init__(self, evaluate: Callable[[ast.expr, State], Values], owner: str) -> None:
        """Take the function that evaluates expressions, and the name of the object that the function is a method of."""
        self.evaluate = evaluate
        self.owner = owner
        self.returned: Values = NEVER
        self.attributes: dict[str, Values] = {}
        self._leaving: list[list[State]] = []
        """For each loop around the statement, the states at its `break` and `continue`."""

    def result(self, function: ast.FunctionDef, state: State) -> Values:
        """The values that a function returns."""
        end = self._all(function.body, state)
        return self.returned if end is None else self.returned | NONE

    def assign(self, name: str, values: Values) -> None:
        """Note a further value of an attribute of the object."""
        self.attributes[name] = self.attributes.get(name, NEVER) | values

    def _all(self, body: Iterable[ast.stmt], state: State | None) -> State | None:
        """The state behind statements; None where the end is not reached."""
        for statement in body:
            if state is None:
                return None
            state = self._one(statement, state)
        return state

    def _one(self, node: ast.stmt, state: State) -> State | None:
        """The state behind a statement."""
        match node:
            case ast.Expr(value=value) | ast.Assert(test=value):
                self.evaluate(value, state)
            case ast.Pass() | ast.Global():
                pass
            case ast.Return(value=value):
                self.returned |= NONE if value is None else state.settled(self.evaluate(value, state))
                return None
            case ast.Raise():
                return None
            case ast.Break() | ast.Continue():
                self._leaving[-1].append(state)
                return None
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind(target, value, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, value, state)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                right = self.evaluate(value, state)
                state.names[name] = computed(state.of(name), right)
            case ast.If(test=test, body=body, orelse=orelse):
                yes, no = self.branches(test, state)
                return joined([each for each in (self._all(body, yes), self._all(orelse, no)) if each is not None])
            case ast.For(target=target, iter=iterable):
                self.evaluate(iterable, state)
                return self._loop(node, state, lambda each: self._turn(target, iterable, each))
            case ast.While(test=test):
                return self._loop(node, state, lambda each: self.evaluate(test, each))
            case ast.With(items=items, body=body) if all(each.optional_vars is None for each in items):
                contexts = [self.evaluate(each.context_expr, state) for each in items]
                after = self._all(body, state.copy())
                if all(each == OF_TORCH for each in contexts):
                    return after  # others may swallow an error in the middle
                return self.forget(node, after or state, may_return=False)
            case _:
                return self.forget(node, state)
        return state

    def forget(self, node: ast.AST, state: State, may_return: bool = True) -> State:
        """The state behind a part that is not followed: whatever it binds may be anything."""
        for each in nodes(node):
            match each:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.alias(asname=str(name)):
                    state.names[name] = ANYTHING
                case ast.alias(name=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    state.names[name.partition(".")[0]] = ANYTHING
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                    state.names[name] = ANYTHING
                case ast.Attribute(value=ast.Name(id=self.owner), attr=name, ctx=ast.Store() | ast.Del()):
                    self.assign(name, ANYTHING)
                case ast.Return() if may_return:
                    self.returned |= ANYTHING
        return state

    def _bind(self, target: ast.expr, value: ast.expr, state: State) -> None:
        """Bind a target to the value of an expression."""
        match target, value:
            case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values) and not any(
                isinstance(each, ast.Starred) for each in (*parts, *values)
            ):
                found = [self.evaluate(each, state) for each in values]
                for part, each in zip(parts, found, strict=True):
                    self._set(part, each, state)
            case _:
                self._set(target, self.evaluate(value, state), state)

    def _set(self, target: ast.expr, values: Values, state: State) -> None:
        """Bind a target to a value."""
        match target:
            case ast.Name(id=name):
                state.names[name] = values
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                inner = elements(values)
                for part in parts:
                    self._set(part, ANYTHING if isinstance(part, ast.Starred) else inner, state)
            case ast.Starred(value=inside):
                self._set(inside, values, state)
            case ast.Attribute(value=ast.Name(id=self.owner), attr=name):
                self.assign(name, values)

    def _turn(self, target: ast.expr, iterable: ast.expr, state: State) -> None:
        """Bind the variables of a loop."""
        match target, iterable:
            case ast.Tuple(elts=[first, second]), ast.Call(func=ast.Name(id="enumerate"), args=[counted]):
                self._set(first, NUMBER, state)
                self._set(second, elements(self.evaluate(counted, state)), state)
            case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=sources) if len(parts) == len(sources):
                for part, source in zip(parts, sources, strict=True):
                    self._set(part, elements(self.evaluate(source, state)), state)
            case _:
                self._set(target, elements(self.evaluate(iterable, state)), state)

    def _loop(self, node: ast.For | ast.While, state: State, begin: Callable[[State], object]) -> State | None:
        """The state behind a loop, whose turns repeat until they add nothing."""
        for _ in range(_MOST_TURNS):
            turn = state.copy()
            begin(turn)
            self._leaving.append([])
            end = self._all(node.body, turn)
            left = self._leaving.pop()
            after = joined([state, *([] if end is None else [end]), *left])
            assert after is not None
            if after == state:
                return joined([each for each in (self._all(node.orelse, state.copy()), *left) if each is not None])
            state = after
        return self.forget(node, state)

    def branches(self, test: ast.expr, state: State) -> tuple[State, State]:
        """The states where a condition holds, and where it does not."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                no, yes = self.branches(operand, state)
                return yes, no
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
            ):
                none, other = state.copy(), state.copy()
                none.names[name], other.names[name] = NONE, given(state.of(name))
                return (none, other) if isinstance(test.ops[0], ast.Is) else (other, none)
        self.evaluate(test, state)
        yes = state.copy()
        if isinstance(test, ast.Name):
            yes.names[test.id] = given(state.of(test.id))
        return yes, state.copy()
