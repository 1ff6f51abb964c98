"""What can be registered, what takes the place of an earlier handler, and what is refused."""

from __future__ import annotations

import importlib
import typing
from collections.abc import Callable
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable

import pytest
import torch

from qten_gen import Functional
from tests.conftest import Project


def functional() -> type[Functional]:
    class Name(Functional):
        pass

    return Name


def says(word: str) -> Callable[[object, object], str]:
    return lambda functional, obj: word


class Sized(Protocol):
    def size(self) -> int: ...


@runtime_checkable
class Named(Protocol):
    name: str


class Point(TypedDict):
    x: int


REFUSED: list[tuple[object, str]] = [
    (list[int], r"takes a class or a union of classes, got list\[int\]; register list for all of them"),
    (typing.Mapping, "got typing.Mapping; register Mapping for all of them"),
    (Literal["a"], "takes a class or a union of classes, got typing.Literal"),
    ("Batch", "takes a class or a union of classes, got 'Batch'"),
    (int | list[int], r"got list\[int\]"),
    (typing.Any, "got Any; register object for all types"),
    (Sized, "cannot tell from an object's class whether it is a Sized: .*@runtime_checkable"),
    (Named, "cannot tell from an object's class whether it is a Named: .*non-method members"),
    (Point, "cannot tell from an object's class whether it is a Point"),
    (torch.FloatTensor, "no object has the class FloatTensor; register Tensor"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_no_object_could_match_is_refused(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        functional().register(given)


def test_running_the_same_registration_again_replaces_the_handler() -> None:
    name = functional()

    def register(result: int) -> None:
        @name.register(int)
        def _(functional: Functional, number: int) -> int:
            return result

    register(1)
    register(2)
    assert name()(0) == 2


@pytest.mark.parametrize("make", [says, lambda word: torch.no_grad()(says(word)), lambda word: word.format])
def test_handlers_that_one_function_made_are_not_the_same_handler(make: Callable[[str], Any]) -> None:
    name = functional()
    name.register(int)(make("first"))
    with pytest.raises(ValueError, match="Name has a handler for int already"):
        name.register(int)(make("second"))


def test_a_handler_replaces_one_from_elsewhere_where_it_says_so() -> None:
    name = functional()
    name.register(int)(says("first"))
    name.register(int, replace=True)(says("second"))
    assert name()(0) == "second"


def test_a_cell_that_is_changed_and_run_again_replaces_its_handler() -> None:
    name = functional()
    cell = "{0}@Name.register(int)\ndef _(functional, number): return {1}"
    for run, text in enumerate([cell.format("", 1), cell.format("# changed\n\n", 2)]):
        exec(compile(text, f"<cell {run}>", "exec"), {"__name__": "__main__", "Name": name})
    assert name()(0) == 2


SOURCE = """
from owner import Name

{0}@Name.register(int)
def {1}(functional, number):
    return {2}
"""


def test_two_handlers_of_one_file_are_an_error_also_when_it_is_reloaded(project: Project) -> None:
    project.write(
        owner="from qten_gen import Functional\nclass Name(Functional): ...", handlers=SOURCE.format("", "_", 1)
    )
    handlers = (project.load("owner"), project.load("handlers"))[1]
    project.write(handlers=SOURCE.format("", "_", 1) + SOURCE.format("", "_", 2))
    with pytest.raises(ValueError, match="Name has a handler for int already"):
        importlib.reload(handlers)
