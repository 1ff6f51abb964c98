"""What differs between the two libraries that the model is compared with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from qten_gen import TensorClass

from . import declarations, object_steps
from .contents import arguments, read
from .declarations import Declaration, classes
from .plain import Plain
from .steps import Step


class Library:
    """This project."""

    base: type = TensorClass
    flags = True

    def has(self, name: str) -> bool:
        """Whether the library has such a step."""
        return True

    def differs(self, step: Step, plain: Plain) -> bool:
        """Whether the library does something else on purpose."""
        return False

    def calls(self, step: Callable[[Any, Any], Any], value: Any, second: Any) -> Any:
        """Do a step with an object, and perhaps a second one."""
        return step(value, second)

    def construct(self, declaration: Declaration, plain: Plain) -> Any:
        """An object that holds what the model holds."""
        name, made = classes(self.base, "\n".join(declaration.cls.statements("Made", self.flags)))
        # Pickles find a class by its module and name.
        vars(sys.modules[declarations.__name__]).update(made)
        made_of = arguments(plain, declaration.cls, made, name)
        return made[name](**made_of, lock=declaration.lock)

    def refuses(self, declaration: Declaration) -> bool:
        """Whether the tensors of an object cannot be written to."""
        return declaration.is_frozen

    def method(self, value: Any, name: str) -> Callable[..., Any]:
        """A method of an object, which may have a field of the same name; or the function of torch where there is none."""
        if not hasattr(TensorClass, name):
            return partial(getattr(torch, name), value)
        # Compiled code looks for a method that is bound by hand under the name of its function.
        is_field = name in type(value)._fields
        found: Callable[..., Any] = getattr(TensorClass, name).__get__(value) if is_field else getattr(value, name)
        return found


class OnAnotherDevice(Library):
    """This project, where new tensors are made on another device unless somebody says where."""

    def calls(self, step: Callable[[Any, Any], Any], value: Any, second: Any) -> Any:
        with torch.device("meta"):
            return step(value, second)


class Compiled(Library):
    """This project in graphs."""

    def calls(self, step: Callable[[Any, Any], Any], value: Any, second: Any) -> Any:
        torch.compiler.reset()
        compiled: Callable[[Any, Any], Any] = torch.compile(step, backend="eager")
        return compiled(value, second)


class Exported(Library):
    """This project in programs of `torch.export`."""

    def calls(self, step: Callable[[Any, Any], Any], value: Any, second: Any) -> Any:
        module = torch.nn.Module()
        module.__dict__["forward"] = step
        program: Any = torch.export.export(module, (value, second), strict=False)
        return program.module()(value, second)


Condition = Callable[[Step, Plain], bool]


def _always(step: Step, plain: Plain) -> bool:
    return True


def _smaller_mask(step: Step, plain: Plain) -> bool:
    return tuple(step.arguments[0].shape) != plain.batch_size


def _single(step: Step, plain: Plain) -> bool:
    return isinstance(step.arguments[0], Tensor) and step.arguments[0].dim() == 0


def _unusual_index(step: Step, plain: Plain) -> bool:
    """An index that is no position, slice, None or mask, or is beyond the batch dimensions, or is none at all."""
    index = step.arguments[0]
    parts = index if isinstance(index, tuple) else (index,)
    used = sum(part.dim() if isinstance(part, Tensor) else part is not None and part is not ... for part in parts)
    return (
        used > plain.n
        or parts == ()
        or any(isinstance(part, (list, range)) or (isinstance(part, Tensor) and not part.dim()) for part in parts)
    )


def _differences() -> Iterator[tuple[str, str, Condition]]:
    """The names of operations, what tensordict does, and when."""
    yield "__floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ __pos__", "has no such operator", _always
    yield "__lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__", "has no such operator", _always
    yield "__iand__ __ior__ __ixor__", "has no such operator", _always
    yield "__rpow__", "raises NotImplementedError", _always
    yield "__add__ __radd__ __sub__ __rsub__ __pow__", "takes a tensor without dimensions for a number", _single
    yield "float double half bfloat16 float16 float32 float64", "converts every tensor, whole numbers too", _always
    yield "fill_", "fills one field: fill_(key, value)", _always
    yield "repeat", "adds no dimensions in front", _always
    yield "squeeze", "fails where no batch dimension is left", _always
    yield "where masked_fill masked_fill_", "lets a mask cover the first dimensions, not broadcast", _smaller_mask
    yield "__getitem__", "indexes fields' own dimensions, and knows fewer forms", _unusual_index
    yield "__setitem__", "writes no items where there are none, and broadcasts otherwise", _always


DIFFERENCES = {name: (text, when) for names, text, when in _differences() for name in names.split()}
"""What tensordict does otherwise, by operation; the sequences leave it out."""


class Tensordict(Library):
    """The library that this project learns from."""

    flags = False

    def __init__(self) -> None:
        import tensordict

        self.base = tensordict.TensorClass

    def has(self, name: str) -> bool:
        """Functions of torch take no TensorClass of tensordict, whose methods are others."""
        return name in ("pickle", "copy", "deepcopy", "set", "tree") or (
            name not in object_steps.BY_NAME and hasattr(TensorClass, name)
        )

    def differs(self, step: Step, plain: Plain) -> bool:
        return step.name in DIFFERENCES and DIFFERENCES[step.name][1](step, plain)

    def method(self, value: Any, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(value, name)
        return found


def assert_same(value: Any, plain: Plain, declaration: Declaration) -> None:
    """The object holds what the model holds, under the same shapes, dtypes and names."""
    found = read(value, declaration)
    assert found.batch_size == plain.batch_size
    assert found.static == plain.static
    assert found.tails == plain.tails
    assert found.locked == plain.locked
    if plain.names is None:
        plain.names = found.names
    else:
        assert found.names == {at: names for at, names in plain.names.items() if any(names)}
    assert found.ragged.keys() == plain.ragged.keys()
    for path, items in plain.ragged.items():
        assert found.ragged[path].shape == items.shape
        for at, rows in enumerate(items.rows):
            assert_equal(found.ragged[path].rows[at], rows, f"{'.'.join(map(str, path))}, item {at}")
    pairs = (found.tensors, plain.tensors), (found.unbatched, plain.unbatched), (found.items, plain.items)
    for mine, wanted in pairs:
        assert mine.keys() == wanted.keys()
        for path, tensor in wanted.items():
            assert_equal(mine[path], tensor, ".".join(map(str, path)))


def assert_equal(found: Tensor, wanted: Tensor, path: str) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda text: f"{path}: {text}")
