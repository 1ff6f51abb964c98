"""What `Functional` promises beyond one look-up: inheritance, late registrations, threads, words of errors."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from unittest.mock import Mock, create_autospec

import pytest
import torch
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


def says(word: str) -> Callable[[object, object], str]:
    """A handler that tells which one it is."""

    def handler(functional: object, obj: object) -> str:
        return word

    return handler


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


def test_an_object_has_the_handler_for_what_it_is_an_instance_of() -> None:
    name = functional()
    for registered in (object, Shape, Tensor, nn.Parameter, nn.Buffer):
        name.register(registered)(says(registered.__name__))
    square, marked = Square(), torch.ones(2).as_subclass(Marked)
    given = {
        "Shape": [square, Mock(spec=Shape), weakref.proxy(square), create_autospec(Square, instance=True)],
        "Tensor": [torch.ones(2), marked],
        "Parameter": [nn.Parameter(torch.ones(2)), nn.Parameter(marked)],
        "Buffer": [nn.Buffer(torch.ones(2)), nn.Buffer(marked)],
        "object": [weakref.proxy(marked.__class__), Mock(), 3],
    }
    made, pairs = name(), [(each, word) for word, all_given in given.items() for each in all_given]
    for each, word in pairs * 2 + pairs[::-1]:
        assert made.allows(each)
        assert made(each) == made.invoke(each) == word
    assert {Square, int} <= name._resolved.keys()
    assert not {Tensor, Marked, weakref.ProxyType} & name._resolved.keys()


def test_a_class_among_the_bases_comes_before_one_that_only_isinstance_knows() -> None:
    name = functional()
    name.register(nn.Parameter)(says("parameter"))
    name.register(Marked)(says("marked"))
    name.register(Mock)(says("mock"))
    name.register(Shape)(says("shape"))
    assert name()(nn.Parameter(torch.ones(2).as_subclass(Marked))) == "marked"
    assert name()(Mock(spec=Shape)) == "shape"
    assert name()(Mock()) == "mock"
    assert not name().allows(torch.ones(2))


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


def test_threads_that_register_at_once_lose_nothing() -> None:
    name = functional()
    types = [type(f"T{number}", (), {}) for number in range(60)]
    start = threading.Barrier(6)

    def register(part: int) -> None:
        start.wait()
        for obj_type in types[part::6]:
            name.register(obj_type)(says(obj_type.__name__))

    threads = [threading.Thread(target=register, args=(part,)) for part in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [name()(obj_type()) for obj_type in types] == [obj_type.__name__ for obj_type in types]


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


def test_every_hook_runs_around_a_handler() -> None:
    linear, seen = linear_class(), list[str]()
    linear.register(str)(lambda module, text: module.weight.sum())
    module = linear(2)
    module.register_forward_pre_hook(lambda module, args: seen.append(f"before {args[0]}"))
    module.register_forward_hook(lambda module, args, out: seen.append(f"after {out.item()}"))
    module.register_full_backward_hook(lambda module, grads, outs: seen.append("back"))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        nn.Module.__call__(module, "a").backward()
    assert seen == ["before a", "after 2.0", "back"]


def test_a_functional_that_is_called_by_super_has_its_own_handlers() -> None:
    class Count(Functional):
        pass

    class Noted(Count):
        def __call__(self, obj: object, /, **keywords: object) -> object:
            return super().__call__(obj, **keywords)

    Count.register(Shape)(says("count"))
    Noted.register(Shape)(says("noted"))
    assert (Count()(Shape()), Noted()(Shape())) == ("count", "noted")
