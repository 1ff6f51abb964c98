"""Which handler of a `Functional` runs: the rule written out, inheritance, late registrations, words of errors."""

from __future__ import annotations

import functools
import itertools
import operator
import weakref
from abc import ABC
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable
from unittest.mock import Mock, create_autospec

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen import Functional, Module, param


class Shape:
    pass


class Square(Shape):
    pass


def functional(*bases: type[Functional]) -> type[Functional]:
    """A new class each time, so that the registrations of one test are not seen in another."""

    class Name(*(bases or (Functional,))):  # type: ignore[misc] # the bases are known at run time only
        pass

    return Name


def says(word: object) -> Callable[[object, object], object]:
    """A handler that tells which one it is."""
    return lambda functional, obj: word


def test_register_gives_the_handler_back() -> None:
    handler = says("shape")
    assert functional().register(Shape)(handler) is handler


def test_what_cannot_be_called_is_not_registered() -> None:
    name = functional()
    with pytest.raises(TypeError, match=r"\.register: expected a function, got 3$"):
        name.register(list)(3)  # type: ignore[arg-type] # what the test is about
    assert not name().allows([])


def test_a_handler_gets_the_functional_and_the_object() -> None:
    name = functional()
    name.register(Shape)(lambda functional, obj: (functional, obj))
    made, square = name(), Square()
    assert made(square) == (made, square)


def test_every_class_can_be_registered() -> None:
    name = functional()
    name.register(object)(says("anything"))
    name.register(type(None))(says("nothing"))
    name.register(type)(says("a class"))
    assert (name()(Shape()), name()(None), name()(Shape)) == ("anything", "nothing", "a class")


class Marked(Tensor):
    """A subclass of Tensor, whose parameters keep the class, as those of DTensor do."""


def test_a_proxy_or_mock_has_the_handler_for_the_class_that_it_shows() -> None:
    name = functional()
    for registered in (object, Shape, Tensor, nn.Parameter, Mock):
        name.register(registered)(says(registered.__name__))
    square, marked = Square(), torch.ones(2).as_subclass(Marked)
    given = {
        "Shape": [square, Mock(spec=Shape), weakref.proxy(square), create_autospec(Square, instance=True)],
        "Tensor": [torch.ones(2), marked, nn.Buffer(marked)],
        "Parameter": [nn.Parameter(torch.ones(2))],
        "object": [weakref.proxy(marked.__class__), 3],
        "Mock": [Mock()],
    }
    made, pairs = name(), [(each, word) for word, all_given in given.items() for each in all_given]
    for each, word in pairs * 2 + pairs[::-1]:
        assert made.allows(each)
        assert made(each) == made.invoke(each) == word
    assert weakref.ProxyType not in name._resolved


def test_invoke_and_call_are_one() -> None:
    name = functional()
    name.register(Shape)(lambda functional, obj, *, size=1: size)
    assert name().invoke(Square(), size=3) == name()(Square(), size=3) == 3


def test_a_late_registration_of_the_parent_is_seen_by_a_child_that_was_called() -> None:
    parent = functional()
    child = functional(parent)
    assert not child().allows(Shape())
    parent.register(Shape)(says("late"))
    assert child()(Square()) == "late"


def test_applicable_types_are_in_the_order_of_registration() -> None:
    name = functional()
    for obj_type in (str, int, Shape):
        name.register(obj_type)(says("any"))
    assert name.get_applicable_types() == (str, int, Shape)
    assert functional(name).get_applicable_types() == ()


class Linear(Module):
    size: int
    weight: nn.Parameter = param("size", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def linear_class() -> type[Linear]:
    """A new class each time, with forward as it stands above."""

    class OneTest(Linear):
        pass

    return OneTest


def test_a_module_falls_back_on_forward_and_invoke_does_not() -> None:
    linear = linear_class()
    linear.register(str)(says("text"))
    module = linear(2)
    assert module.invoke("a") == "text"
    assert torch.equal(module(torch.ones(2)), torch.ones(2))
    with pytest.raises(NotImplementedError, match="OneTest has no handler for Tensor, only for OneTest: str"):
        module.invoke(torch.ones(2))


def test_a_functional_that_is_called_by_super_has_its_own_handlers() -> None:
    class Count(Functional):
        pass

    class Noted(Count):
        def __call__(self, obj: object, /, **keywords: object) -> object:
            return super().__call__(obj, **keywords)

    Count.register(Shape)(says("count"))
    Noted.register(Shape)(says("noted"))
    assert (Count()(Shape()), Noted()(Shape())) == ("count", "noted")


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...


class World(NamedTuple):
    """Classes of objects, functional classes, and what is registered: a number for the owner, one for each type."""

    objects: list[type]
    owners: list[type[Functional]]
    registered: list[tuple[int, list[int]]]


def derived(draw: st.DrawFn, made: list[type], root: type, namespace: dict[str, Any]) -> type:
    """A class with some of the classes as bases; fewer where they have no common order."""
    bases = draw(st.lists(st.sampled_from(made), unique=True, max_size=3)) if made else []
    while True:
        try:
            return type(root)(f"C{len(made)}", tuple(bases) or (root,), dict(namespace))
        except TypeError:
            bases.pop()


@st.composite
def worlds(draw: st.DrawFn, open_types: bool) -> World:
    objects: list[type] = []
    for _ in range(draw(st.integers(1, 7))):
        is_abstract = open_types and draw(st.booleans())
        closes: dict[str, Any] = {"close": lambda self: None} if open_types and draw(st.booleans()) else {}
        objects.append(derived(draw, objects, ABC if is_abstract else object, closes))
    owners: list[type] = []
    for _ in range(draw(st.integers(1, 4))):
        owners.append(derived(draw, owners, Functional, {}))
    if open_types:
        abstract = [cls for cls in objects if isinstance(cls, type(ABC))]
        for cls in abstract:
            for other in draw(st.lists(st.sampled_from(objects), max_size=2)):
                if not issubclass(cls, other):
                    cls.register(other)
        objects.append(Closes)
    registration = st.tuples(
        st.integers(0, len(owners) - 1), st.lists(st.integers(0, len(objects) - 1), min_size=1, max_size=2)
    )
    return World(objects, cast("list[type[Functional]]", owners), draw(st.lists(registration, max_size=8)))


def registered(world: World) -> dict[tuple[type, type], int]:
    """Register a handler for each entry; what each pair of owner and type runs in the end."""
    ran: dict[tuple[type, type], int] = {}
    for number, (owner, chosen) in enumerate(world.registered):
        types: list[Any] = [world.objects[each] for each in chosen]
        register: Any = world.owners[owner].register
        register(functools.reduce(operator.or_, types), replace=True)(says(number))
        ran.update({(world.owners[owner], each): number for each in types})
    return ran


def answer(call: Callable[..., object], *given: object) -> object:
    try:
        return call(*given)
    except (NotImplementedError, TypeError, RuntimeError) as error:
        return "none" if isinstance(error, NotImplementedError) else "ambiguous"


@given(worlds(open_types=False))
@settings(max_examples=50, derandomize=True)
def test_the_object_decides_first_and_then_the_functional(world: World) -> None:
    ran = registered(world)
    for owner, cls in itertools.product(world.owners, world.objects):
        pairs = ((of_owner, of_object) for of_object in cls.__mro__ for of_owner in owner.__mro__)
        expected = next((ran[pair] for pair in pairs if pair in ran), "none")
        assert [answer(owner(), cls()) for _ in range(2)] == [expected] * 2


@given(worlds(open_types=True))
@settings(max_examples=50, derandomize=True)
def test_abstract_classes_and_protocols_count_as_in_singledispatch(world: World) -> None:
    ran = registered(world)
    for owner in world.owners:
        table: dict[type, int] = {}
        for ancestor in owner.__mro__:
            for (of_owner, of_object), number in ran.items():
                if of_owner is ancestor:
                    table.setdefault(of_object, number)

        @functools.singledispatch
        def single(obj: object, _: object) -> object:
            raise NotImplementedError

        for of_object, number in table.items():
            single.register(of_object, says(number))
        for cls in world.objects:
            if cls is not Closes:
                expected = answer(single, cls(), None)
                assert [answer(owner(), cls()) for _ in range(2)] == [expected] * 2


def test_a_virtual_subclass_that_is_declared_after_a_call_is_seen() -> None:
    class Shape(ABC): ...  # noqa: B024 # whatever is registered as one is one

    class Square: ...

    class Tile(Square): ...

    name = functional()
    name.register(Shape)(lambda functional, obj: "shape")
    name.register(Square)(lambda functional, obj: "square")
    assert (name()(Square()), name()(Tile())) == ("square", "square")
    Shape.register(Tile)
    assert (name()(Square()), name()(Tile())) == ("square", "shape")


def test_two_abstract_classes_that_cover_an_object_are_ambiguous() -> None:
    class Shape(ABC): ...  # noqa: B024 # whatever is registered as one is one

    class Plane(ABC): ...  # noqa: B024

    class Solid(Plane): ...

    class Cube: ...

    Shape.register(Cube)
    Solid.register(Cube)
    name = functional()
    for cls in (Shape, Plane, Solid):
        name.register(cls)(says(1))
    with pytest.raises(RuntimeError, match=r"^Ambiguous dispatch: .*Shape.* or .*Solid"):
        name()(Cube())
    name.register(Cube)(says(2))
    assert name()(Cube()) == 2


def test_the_members_of_a_union_share_a_handler() -> None:
    name = functional()

    @name.register(int | str | None)
    def _(functional: Functional, obj: int | str | None) -> object:
        return obj

    assert (name()(1), name()("a"), name()(None)) == (1, "a", None)
    assert name.get_applicable_types() == (int, str, type(None))
