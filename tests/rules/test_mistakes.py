"""Mistakes that users make, and who finds each.

`mistakes/*.txt` holds some hundred short programs with one mistake each, below a line `== what it is`. A line `by:` says who
finds it: the codes of rules, `statement` if importing the program raises, `use` if the lines after `>>>` do, `mypy`. Those in
`legal.txt` look like mistakes and are not. So a mistake that nobody finds cannot hide here: its line `by:` would be empty.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from qten_gen.generate.plan import plan

HERE = Path(__file__).parent / "mistakes"
REPOSITORY = Path(__file__).parents[2]
FILES = sorted(path.stem for path in HERE.glob("*.txt"))

HEAD = """\
import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any, ClassVar, Final, Optional, TypeVar

import torch
import torch.nn.functional as F
from qten_gen import Module, ModuleDict, ModuleList, PerItem, Ragged, TensorClass, Unbatched, buffer, const, field, param
from qten_gen import choice, derived, submodule, virtual
from torch import Tensor, nn

"""


@dataclass(frozen=True)
class Mistake:
    """A program with a mistake in it."""

    title: str
    text: str
    use: tuple[str, ...]
    """Expressions and statements that are run after the program."""
    by: frozenset[str]
    """Who finds it."""

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(name for name in self.by if name.startswith("QG"))


@lru_cache
def mistakes(name: str) -> tuple[Mistake, ...]:
    """The mistakes of a file. What stands below a line `HEAD` belongs to each of them."""
    found: list[Mistake] = []
    head = HEAD
    for part in re.split(r"^(?=== |HEAD$)", (HERE / f"{name}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE):
        title, _, body = part.partition("\n")
        lines = body.splitlines()
        text = "\n".join(line for line in lines if not line.startswith(("by:", ">>> "))) + "\n"
        if title == "HEAD":
            head = HEAD + text
        elif title:
            by = next((line.removeprefix("by:") for line in lines if line.startswith("by:")), "")
            use = tuple(line.removeprefix(">>> ") for line in lines if line.startswith(">>> "))
            found.append(Mistake(title.removeprefix("== "), head + text, use, frozenset(by.replace(",", " ").split())))
    return tuple(found)


def all_mistakes() -> Iterator[Mistake]:
    for name in FILES:
        yield from mistakes(name)


def raised(mistake: Mistake) -> str | None:
    """Where running a program raises: in the statements, in its use, or not at all."""
    module = types.ModuleType("mistake")
    sys.modules[module.__name__] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(mistake.text, "mistake.py", "exec", dont_inherit=True), vars(module))
            try:
                for line in mistake.use:
                    exec(line, vars(module))
            except Exception:
                return "use"
    except Exception:
        return "statement"
    finally:
        del sys.modules[module.__name__]
    return None


@pytest.mark.parametrize("name", FILES)
def test_the_command_finds_what_the_table_says(name: str) -> None:
    found = {
        mistake.title: frozenset(item.code for item in plan({"model.py": mistake.text.encode()}, {}).diagnostics)
        for mistake in mistakes(name)
    }

    assert found == {mistake.title: mistake.codes for mistake in mistakes(name)}, (
        f"if that is right, change the lines `by:` in tests/rules/mistakes/{name}.txt"
    )


@pytest.mark.parametrize("name", FILES)
def test_running_finds_what_the_table_says(name: str) -> None:
    expected = {mistake.title: mistake.by & {"statement", "use"} or {None} for mistake in mistakes(name)}

    assert {mistake.title: {raised(mistake)} for mistake in mistakes(name)} == expected


@pytest.mark.parametrize("name", FILES)
def test_each_mistake_is_found_by_somebody(name: str) -> None:
    silent = [mistake.title for mistake in mistakes(name) if not mistake.by]

    assert silent == ([mistake.title for mistake in mistakes(name)] if name == "legal" else [])


def test_most_mistakes_are_found_before_anything_runs() -> None:
    every = [mistake for name in FILES if name != "legal" for mistake in mistakes(name)]
    early = [mistake for mistake in every if mistake.codes or "mypy" in mistake.by]

    assert len(every) > 400
    assert len(early) / len(every) > 0.84


@pytest.mark.xdist_group("mypy")
def test_mypy_finds_what_nobody_else_does(tmp_path: Path) -> None:
    """Those that the table leaves to mypy alone: a few, in one run."""
    left = [mistake for mistake in all_mistakes() if mistake.by == {"mypy"}]
    for index, mistake in enumerate(left):
        (tmp_path / f"mistake_{index}.py").write_text(mistake.text + "\n".join(mistake.use) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--python-version=3.11", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, env=_environment())

    found = {int(match) for match in re.findall(r"mistake_(\d+)\.py:\d+: error", done.stdout)}
    assert [left[index].title for index in range(len(left)) if index not in found] == []


def _environment() -> dict[str, str]:
    path = os.pathsep.join(map(str, (REPOSITORY / "stubs", REPOSITORY)))
    return {**os.environ, "MYPYPATH": path}


def inside_a_class(text: str) -> str:
    """The program with its last class inside another one."""
    nodes = ast.parse(text).body
    last = next(node for node in reversed(nodes) if isinstance(node, ast.ClassDef))
    first = min([last.lineno, *(decorator.lineno for decorator in last.decorator_list)]) - 1
    lines = text.splitlines()
    before, body, after = lines[:first], lines[first : last.end_lineno], lines[last.end_lineno :]
    name = re.compile(rf"(?<!class )(?<![\w.]){last.name}\b(?!=)")
    renamed = [name.sub(f"Outer.{last.name}", line) for line in (*body, *after)]
    nested = [f"    {line}" if line else "" for line in renamed[: len(body)]]
    return "\n".join([*before, "class Outer:", *nested, *renamed[len(body) :], ""])


def refused(text: str) -> str | None:
    """What running a program raises: the codes of its rules, or the name of an exception of Python's; None for nothing."""
    module = types.ModuleType("mistake")
    sys.modules[module.__name__] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "mistake.py", "exec", dont_inherit=True), vars(module))
    except Exception as error:
        return " ".join(sorted(set(re.findall(r"QG\d+", str(error))))) or type(error).__name__
    finally:
        del sys.modules[module.__name__]
    return None


OTHERS_AS_TEXT = {
    "a misspelt type": "QG207",
    "a tensor with a shape in brackets": "QG207 QG208",
    "a shape that is a tuple of numbers": "QG208",
    "a tensor whose shape is missing in jaxtyping": "QG208",
    "a jaxtyping shape without the tensor": "QG208",
    "a jaxtyping shape in two strings": "QG208",
    "a jaxtyping shape as a number": "QG208",
    "the class of torch with the type of its children": None,
    "a field with the name of the type of another": None,  # the class body has not bound the name yet
}
"""What a class statement finds in annotations that Python or jaxtyping refuses to evaluate, where they are not evaluated."""


@pytest.mark.parametrize("name", FILES)
def test_a_class_statement_finds_the_same_in_annotations_that_are_text(name: str) -> None:
    found = {
        mistake.title: refused(f"from __future__ import annotations\n{mistake.text}") for mistake in mistakes(name)
    }

    assert found == {
        mistake.title: OTHERS_AS_TEXT.get(mistake.title, refused(mistake.text)) for mistake in mistakes(name)
    }


OTHERS_INSIDE = {
    "a class that is declared twice": set[str](),  # only one of the two is inside
    "two classes that require each other": {"QG207"},  # the other one does not see it
    "two modules that contain each other": {"QG207"},
    "a handler whose annotation is another type": set[str](),  # only plain names are compared
    "a handler for another module": set[str](),
}
"""What the command finds where it matters that a class is inside another one."""


@pytest.mark.parametrize("name", [name for name in FILES if name != "replacements"])  # which know no inner class
def test_the_command_finds_the_same_in_a_class_inside_a_class(name: str) -> None:
    found = {
        mistake.title: {item.code for item in plan({"model.py": inside_a_class(mistake.text).encode()}, {}).diagnostics}
        for mistake in mistakes(name)
        if "\nclass " in mistake.text
    }

    assert found == {
        mistake.title: OTHERS_INSIDE.get(mistake.title, mistake.codes)
        for mistake in mistakes(name)
        if mistake.title in found
    }
