"""Whatever way a function reads an attribute of the module, a cached value does not outlive a change of it."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType, new_class
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, param, virtual

ELSEWHERE = ModuleType("elsewhere")
exec("def size_of(module): return module.size\nclass Sizes:\n    def __call__(self, m): return m.size", vars(ELSEWHERE))
size_of: Callable[[Any], int] = vars(ELSEWHERE)["size_of"]
sizes: Callable[[Any], int] = vars(ELSEWHERE)["Sizes"]()
TABLE = {"size": size_of}


class Sized(Module):
    """Reads its size in every way that Python has."""

    size: int
    extra: object = None
    weight: nn.Parameter = param(2, initializer=nn.init.ones_)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return self.size + index

    def __iter__(self) -> Iterator[int]:
        return iter([self.size])

    def __mul__(self, other: int) -> int:
        return self.size * other

    def __bool__(self) -> bool:
        return self.size > 5

    def __contains__(self, item: int) -> bool:
        return self.size == item

    def __enter__(self) -> int:
        return self.size

    def __exit__(self, *error: object) -> None:
        pass

    def plus(self, other: int) -> int:
        return self.size + other

    one_more = functools.partialmethod(plus, 1)

    @torch.no_grad()
    def without_gradients(self) -> int:
        return self.size


def by_with(m: Any) -> float:
    with m as size:
        return float(size)


def by_match(m: Any) -> float:
    match m:
        case Sized(size=number):
            return number
        case _:
            return -1


def by_local_import(m: Any) -> float:
    from operator import index

    return index(len(m))


READS: dict[str, Callable[[Any], float]] = {
    "name": lambda m: m.size,
    "len": lambda m: len(m),
    "item": lambda m: m[0],
    "loop": lambda m: sum(number for number in m),
    "operator": lambda m: m * 1,
    "condition": lambda m: 1.0 if m else 0.0,
    "not": lambda m: float(not m),
    "in": lambda m: 3 in m,
    "with": by_with,
    "match": by_match,
    "import": by_local_import,
    "alias": lambda m: (other := m).size + 0 * len(other),
    "function elsewhere": lambda m: size_of(m),
    "module elsewhere": lambda m: ELSEWHERE.size_of(m),
    "object elsewhere": lambda m: sizes(m),
    "dict": lambda m: TABLE["size"](m),
    "partial": lambda m: functools.partial(size_of, m)(),
    "map": lambda m: next(map(size_of, [m])),
    "filter": lambda m: len(list(filter(lambda x: x.size > 5, [m]))),
    "attrgetter": lambda m: operator.attrgetter("size")(m),
    "repr": lambda m: float(repr(m).split("size=")[1].split(",")[0]),
    "closure": lambda m: (lambda: m.size)(),
    "argument": lambda m: (lambda other: other.size)(m),
    "partial method": lambda m: m.one_more(),
    "decorated by torch": lambda m: m.without_gradients(),
}


def compute(read: Callable[[Any], float]) -> Callable[..., Tensor]:
    def value(self: object, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.full((2,), float(read(self)), device=device)

    return value


def cached(read: Callable[[Any], float]) -> Callable[[int], Any]:
    """A class whose cached `value` is what a function reads."""
    body = {"value": virtual(cached=True)(compute(read)), "__module__": __name__}
    return new_class("Cached", (Sized,), exec_body=lambda namespace: namespace.update(body))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READS)
def test_a_change_is_seen(name: str) -> None:
    module = cached(READS[name])(3)
    assert module.value.tolist() == module.value.tolist() == [float(READS[name](module))] * 2
    module.size = 7
    assert module.value.tolist() == [float(READS[name](module))] * 2


@pytest.mark.parametrize(
    "decorator", [torch.no_grad(), torch.autocast("cpu", enabled=False), torch.compiler.disable, functools.cache]
)
def test_a_change_is_seen_in_a_decorated_function(decorator: Any) -> None:
    class Decorated(Sized):
        @virtual(cached=True)
        @decorator  # type: ignore[untyped-decorator] # one of several
        def value(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.full((2,), float(self.size))

    module: Any = Decorated(3)
    assert module.value.tolist() == [3, 3]
    module.size = 7
    assert module.value.tolist() == ([3, 3] if decorator is functools.cache else [7, 7])


def test_a_change_is_seen_through_getattr_of_the_class() -> None:
    class Delegating(Module):
        size: int
        weight: nn.Parameter = param(2, initializer=nn.init.ones_)

        def __getattr__(self, name: str) -> Any:  # type: ignore[override] # checkers know the declared names only
            return self.size if name == "length" else nn.Module.__getattr__(self, name)

        @virtual(cached=True)
        def value(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.full((2,), float(self.length))

    module: Any = Delegating(3)
    assert module.value.tolist() == [3, 3]
    module.size = 7
    assert module.value.tolist() == [7, 7]


def scaled(size: int) -> float:
    return math.sqrt(size)


def own_size(module: Any) -> int:
    found: int = module.size
    return found


@pytest.mark.parametrize(
    "read",
    [
        lambda m: m.size,
        lambda m: m.plus(1),
        lambda m: scaled(m.size),
        lambda m: sum(m.size for _ in range(2)),
        lambda m: (lambda: m.size)(),
        own_size,
        lambda m: own_size(m),
        lambda m: len(m),
        lambda m: m.without_gradients(),
    ],
)
def test_what_is_read_of_attributes_alone_is_kept(read: FunctionType) -> None:
    module = cached(read)(3)
    assert module.value is module.value
