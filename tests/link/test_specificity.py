"""The order of the handlers of a class: no type stands before one that is below it."""

from __future__ import annotations

import pytest

from qten_gen.link.declare import order


def key(name: str, mro: tuple[str, ...] = (), bases: tuple[str, ...] = ()) -> tuple[int, int]:
    return order(name, (name, *mro), bases)


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (key("builtins.bool"), key("builtins.int")),
        (key("builtins.int"), key("builtins.float")),
        (key("builtins.float"), key("builtins.complex")),
        (key("builtins.KeyError"), key("builtins.LookupError")),
        (key("builtins.dict"), key("collections.abc.Mapping")),
        (key("typing.Sequence"), key("collections.abc.Iterable")),
        (key("builtins.int"), key("numbers.Integral")),
        (key("numbers.Integral"), key("numbers.Number")),
        (key("collections.abc.Sized"), key("builtins.object")),
        (key("torch.nn.Parameter"), key("torch.Tensor")),
        (key("torch.nn.Linear"), key("torch.nn.Module")),
        (key("shop.Leaf", ("shop.Root",), ("shop.Root",)), key("shop.Root")),
        (key("shop.Door"), key("shop.Closable", ("typing.Protocol",), ("typing.Protocol",))),
        (key("shop.Door", ("shop.Base", "abc.ABC"), ("shop.Base",)), key("shop.Base", ("abc.ABC",), ("abc.ABC",))),
        (key("shop.Closable", ("typing.Protocol",), ("typing.Protocol",)), key("builtins.object")),
    ],
)
def test_the_type_below_comes_first(below: tuple[int, int], above: tuple[int, int]) -> None:
    assert below < above
