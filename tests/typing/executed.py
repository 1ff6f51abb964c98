"""Runs the programs statement by statement, and compares what each `assert_type` says with the value that there is.

    python -m tests.typing.executed

prints what is not as its type says, and what cannot run, as JSON; with `--write` the latter is noted in `not_run.txt`. A
statement marked `# E` is left out, and so is a function.
"""

from __future__ import annotations

import ast
import contextlib
import json
import linecache
import sys
import tempfile
import types
import typing
from collections import abc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.generated_sources import generated_sources
from tests.typing.marked_programs import PROGRAMS, programs

MADE = (
    {"v": "C(x, Point(x, x, batch_size=2), batch_size=2)"},
    {"x": "torch.tensor([1, 0])", "v": "C(x, Point(x, x, batch_size=2), batch_size=2)"},
    {"x": "torch.tensor([True, False])", "v": "C(x, Point(x, x, batch_size=2), batch_size=2)"},
    {
        "x": "torch.ones(2, 3)",
        "p": "Point(x, x, batch_size=[2, 3])",
        "v": "C(x, p, batch_size=[2, 3], names=['time', None])",
    },
    {"x": "torch.ones(2, 3).bool()", "v": "C(torch.ones(3, 3), Point(torch.ones(3, 3), torch.ones(3)), batch_size=3)"},
)
"""What a function over `v` is called with. Each of its rows runs with objects of its own, the first that it takes."""
NOT_RUN = Path(__file__).parent / "not_run.txt"
"""The statements that only checkers see: they need a GPU, several processes, files, or values of other shapes."""
T = typing.TypeVar("T")
UNION = (typing.Union, types.UnionType)


class Found(NamedTuple):
    """A statement that is not what it says."""

    file: str
    code: str
    said: str
    detail: str


def conforms(value: object, expected: Any) -> bool:
    """Whether a value is what a type says and nothing wider: its class, those of its elements, and None where it is allowed."""
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if isinstance(expected, typing.ForwardRef | str) or expected in (Any, object):
        return True
    if isinstance(expected, typing.TypeVar):
        return True
    if expected in (None, type(None)):
        return value is None
    if origin in UNION:
        return any(conforms(value, one) for one in arguments)
    if origin is Literal:
        return value in arguments
    if origin is type:
        return isinstance(value, type) and (arguments[0] is Any or issubclass(value, arguments[0]))
    if origin in (abc.Callable, abc.Coroutine):
        return callable(value) or origin is abc.Coroutine
    if origin is not None and not isinstance(value, origin):
        return False
    if origin is None:
        return type(value) is expected or (not _is_concrete(expected) and isinstance(value, expected))
    return all(conforms(one, wanted) for one, wanted in _elements(value, arguments))


def _is_concrete(expected: Any) -> bool:
    """Whether values of a class are of that very class: a protocol, an abstract class and torch's own bases have others."""
    return not (
        getattr(expected, "_is_protocol", False)
        or getattr(expected, "__abstractmethods__", None)
        or typing.is_typeddict(expected)
    )


def _elements(value: Any, arguments: tuple[Any, ...]) -> Iterator[tuple[object, Any]]:
    """The elements of a container with the types that they have to have."""
    if type(value) is tuple:
        repeated = len(arguments) == 2 and arguments[1] is Ellipsis
        yield from ((one, arguments[0]) for one in value) if repeated else zip(value, arguments, strict=True)
    elif isinstance(value, abc.Mapping):
        for key, held in value.items():
            yield key, arguments[0]
            yield held, arguments[-1]
    elif isinstance(value, list | set | frozenset) or type(value).__name__ == "ModuleList":
        yield from ((one, arguments[0]) for one in value)
    elif type(value).__name__ == "ModuleDict":
        yield from ((one, arguments[-1]) for one in value.values())
    elif isinstance(value, tuple):
        yield from ((one, arguments[-1]) for one in value)


def check(value: T, expected: object) -> T:
    """`assert_type` for a program that runs.

    Raises:
        AssertionError: the value is not of the type.
    """
    if not conforms(value, expected):
        raise AssertionError(f"expected {expected}, got {_shown(value)}")
    return value


def run(path: Path) -> tuple[int, list[Found], list[Found]]:
    """How many rows of a program are as they say, which are not, and which statements raise."""
    text = path.read_text(encoding="utf-8")
    marked = {number for number, line in enumerate(text.splitlines(), start=1) if "# E" in line}
    module = types.ModuleType(path.stem)
    module.__dict__.update(__file__=str(path), __name__=path.stem)
    sys.modules[path.stem] = module
    linecache.getlines(str(path))
    found = _Results(0, [], [])
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef) and [one.arg for one in statement.args.args] == ["v"]:
            for row in statement.body:
                if row.lineno not in marked:
                    _run_with_any(row, module.__dict__, path, found)
        elif not marked.intersection(range(statement.lineno, (statement.end_lineno or 0) + 1)):
            _run(statement, module.__dict__, path, found)
    return found.right, found.wrong, found.raising


@dataclass
class _Results:
    right: int
    wrong: list[Found]
    raising: list[Found]


def _run_with_any(row: ast.stmt, names: dict[str, Any], path: Path, found: _Results) -> None:
    """Run a row over `v` with the first values that it takes."""
    tried = _Results(0, [], [])
    for made in MADE:
        inside = dict(names)
        for name, call in made.items():
            inside[name] = eval(call, inside)
        tried = _Results(0, [], [])
        _run(row, inside, path, tried)
        if not tried.raising:
            break
    found.right += tried.right
    found.wrong += tried.wrong
    found.raising += tried.raising


def _run(statement: ast.stmt, names: dict[str, Any], path: Path, found: _Results) -> None:
    """Run one statement, and note what became of it."""
    row = _row(statement)
    code = ast.unparse(row.args[0] if row is not None else statement)
    said = ast.unparse(row.args[1]) if row is not None else ""
    try:
        if row is None:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)
            return
        value, expected = eval(code, names), eval(said, names)
    except Exception as error:
        found.raising.append(Found(path.name, code, said, f"{type(error).__name__}: {error}".partition("\n")[0]))
        return
    if conforms(value, expected):
        found.right += 1
    else:
        found.wrong.append(Found(path.name, code, said, _shown(value)))


def _row(statement: ast.stmt) -> ast.Call | None:
    """The call of `assert_type` that a statement is."""
    if isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
        return call if isinstance(call.func, ast.Name) and call.func.id == "assert_type" else None
    return None


def _shown(value: object) -> str:
    inside = sorted({type(one).__name__ for one in value}) if isinstance(value, tuple | list) else []
    return f"{type(value).__name__}{inside or ''}"


def line(found: Found) -> str:
    """How a statement stands in `not_run.txt`."""
    return f"{found.file}: {' '.join(found.code.split())}"


def main() -> None:
    """Run all programs. `--write` notes what cannot run."""
    sys.path[:0] = [str(PROGRAMS), str(generated_sources())]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        results = [run(path) for path in programs()]
    raising = [line(one) for _, _, found in results for one in found]
    if "--write" in sys.argv:
        NOT_RUN.write_text("\n".join(dict.fromkeys(raising)) + "\n", encoding="utf-8")
    right = sum(right for right, _, _ in results)
    print(
        json.dumps({"right": right, "wrong": [found for _, wrong, _ in results for found in wrong], "raising": raising})
    )


if __name__ == "__main__":
    main()
