"""Annotated variables, and the arguments and results of functions that are no module: compared while they run.

Python evaluates no annotation of a variable. So the functions in the user's files are read, and a trace function looks at a
variable when its statement has run: `h: Float[Tensor, "b t width"] = self.up(x)`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from linecache import getlines
from types import CodeType, FrameType, SimpleNamespace
from typing import Any, cast

from torch import nn

from ...model import TypeExpr
from ...reflection.annotations import AnnotationWalk
from .argument_types import check
from .named_sizes import Binding, config_sizes
from .shape_matching import Matcher, Mismatch, Tally, merged
from .signatures import scope_of
from .user_code import is_users

_WORD = "jaxtyping"


@dataclass(frozen=True, slots=True)
class _Function:
    """The annotations of a function, as text."""

    arguments: Mapping[str, str]
    result: str | None
    variables: Mapping[int, tuple[str, str, int]]
    """Name, annotation and last line of the statement that begins in a line."""


Note = Callable[[str, str, list[Mismatch]], None]
"""Is told the function, the file and line, and what is wrong there."""


@contextmanager
def tracing(
    model: nn.Module, tally: Tally, matcher_of: Callable[[CodeType], Matcher | None], note: Note
) -> Iterator[None]:
    """Compare annotated variables and helper functions in the block, if a file of the model's classes has some.

    Args:
        model: The model.
        tally: Counts what is compared.
        matcher_of: The names of the call of a module that is running this code; its arguments and result are compared already.
        note: Gets the mismatches.
    """
    files = {getattr(sys.modules.get(type(module).__module__), "__file__", None) for module in model.modules()}
    if not any(file and is_users(file) and _WORD in "".join(getlines(file)) for file in files):
        yield
        return

    def begin(frame: FrameType, event: str, value: object) -> Callable[..., Any] | None:
        said = _said(frame.f_code)
        if said is None:
            return None
        matcher = matcher_of(frame.f_code)
        traced = _Traced(frame, said, matcher or _own_names(frame, tally), matcher is None, note)
        traced.begin()
        return traced.step

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        yield
    finally:
        sys.settrace(before)


def _own_names(frame: FrameType, tally: Tally) -> Matcher:
    """The names of a function or method: the config of the module that it is a method of, and its whole numbers."""
    module = next((held for held in frame.f_locals.values() if isinstance(held, nn.Module)), None)
    names = {} if module is None else config_sizes(module, type(module).__name__)
    for name, held in frame.f_locals.items():
        if isinstance(held, int) and not isinstance(held, bool):
            names.setdefault(name, Binding(held, f"the argument {name}"))
    return Matcher(names, module, tally)


@dataclass
class _Traced:
    """One call of a function."""

    frame: FrameType
    said: _Function
    matcher: Matcher
    is_helper: bool
    note: Note
    _running: tuple[int, str, str, int] | None = field(default=None)

    def begin(self) -> None:
        """Compare the arguments of a function that is no module."""
        if self.is_helper:
            line = self.frame.f_code.co_firstlineno
            for name, text in self.said.arguments.items():
                self._compare(name, self.frame.f_locals.get(name), text, line)

    def step(self, frame: FrameType, event: str, value: object) -> Callable[..., Any]:
        """Compare a variable when the next statement begins, and the result at the end."""
        running = self._running
        if running is not None and (event != "line" or not running[0] <= frame.f_lineno <= running[3]):
            self._compare(running[1], frame.f_locals.get(running[1]), running[2], running[0])
            self._running = None
        if event == "line" and self._running is None and frame.f_lineno in self.said.variables:
            self._running = (frame.f_lineno, *self.said.variables[frame.f_lineno])
        if event == "exception":
            self._running = None
        if event == "return" and value is not None and self.is_helper and self.said.result is not None:
            self._compare("result", value, self.said.result, frame.f_code.co_firstlineno)
        return self.step

    def _compare(self, name: str, value: object, text: str, line: int) -> None:
        found = list(check(self.matcher, name, value, _expr(text, self.frame.f_globals)))
        found += self.matcher.wrong_expressions(forget=True)
        if found:
            code = self.frame.f_code
            self.note(code.co_qualname, f"{code.co_filename}:{line}", merged(found))


def _expr(text: str, names: dict[str, object]) -> TypeExpr:
    scope = scope_of(
        cast("Callable[..., object]", SimpleNamespace(__globals__=names, __module__=names.get("__name__", "")))
    )
    return AnnotationWalk(scope).expr(text)


def _said(code: CodeType) -> _Function | None:
    """The annotations of a user function that give shapes; None for any other code."""
    return _functions(code.co_filename).get((code.co_name, code.co_firstlineno))


@cache
def _functions(file: str) -> dict[tuple[str, int], _Function]:
    """The functions of a file of the user's that annotate shapes, by name and first line."""
    text = "".join(getlines(file)) if is_users(file) else ""
    if _WORD not in text:
        return {}
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            said = _Function(
                _arguments(node), ast.unparse(node.returns) if node.returns else None, dict(_variables(node.body))
            )
            if said.variables or any("[" in each for each in (*said.arguments.values(), said.result or "")):
                found[node.name, first] = said
    return found


def _arguments(node: ast.FunctionDef) -> dict[str, str]:
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return {each.arg: ast.unparse(each.annotation) for each in given if each.annotation is not None}


def _variables(body: Sequence[ast.AST]) -> Iterator[tuple[int, tuple[str, str, int]]]:
    """The annotated variables of a function, without those of the functions and classes in it."""
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.lineno, (node.target.id, ast.unparse(node.annotation), node.end_lineno or node.lineno)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from _variables(list(ast.iter_child_nodes(node)))
