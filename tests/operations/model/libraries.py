"""What differs between the two libraries that the model is compared with: how objects are made and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from qten_gen import TensorClass

from .declarations import Declaration, classes
from .plain import Plain
from .steps import Step


class Library:
    """This project."""

    base: type = TensorClass
    flags = True

    def differs(self, step: Step, plain: Plain) -> bool:
        """Whether the library does something else on purpose."""
        return False

    def construct(self, declaration: Declaration, plain: Plain) -> Any:
        """An object that holds what the model holds."""
        made = classes(self.base, declaration.source(self.flags))
        values: dict[str, Any] = dict(plain.static)
        for owner, tail in plain.tails.items():
            inner = {
                path.partition(".")[2]: tensor.clone()
                for path, tensor in plain.tensors.items()
                if path.startswith(f"{owner}.")
            }
            values[owner] = made[f"Nested{owner[1:]}"](**inner, batch_size=(*plain.batch_size, *tail))
        values |= {path: tensor.clone() for path, tensor in plain.tensors.items() if "." not in path}
        return made["Made"](**values, batch_size=plain.batch_size)

    def refuses(self, declaration: Declaration) -> bool:
        """Whether objects never change."""
        return "frozen" in declaration.flags


Condition = Callable[[Step, Plain], bool]


def _always(step: Step, plain: Plain) -> bool:
    return True


def _beyond_or_kept(step: Step, plain: Plain) -> bool:
    """A reduction of fields' own dimensions, or of everything with `keepdim`."""
    dim = step.options.get("dim")
    return dim == "feature" or (dim is None and bool(step.options.get("keepdim")))


def _smaller_mask(step: Step, plain: Plain) -> bool:
    return tuple(step.arguments[0].shape) != plain.batch_size


def _single(step: Step, plain: Plain) -> bool:
    return isinstance(step.arguments[0], Tensor) and step.arguments[0].dim() == 0


def _with_option(step: Step, plain: Plain) -> bool:
    return bool(step.options)


def _differences() -> Iterator[tuple[str, str, Condition]]:
    """The names of operations, what tensordict does, and when."""
    yield "__floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__ __pos__", "has no such operator", _always
    yield "__lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__", "has no such operator", _always
    yield "__iand__ __ior__ __ixor__", "has no such operator", _always
    yield "cumsum cumprod", "has no such method", _always
    yield "__rpow__", "raises NotImplementedError", _always
    yield "div div_", "takes no rounding_mode", _with_option
    yield "rsub", "leaves alpha out", _with_option
    yield "sub sub_", "takes bool operands, which torch refuses, where alpha is given", _with_option
    yield "norm logsumexp", "takes no dim, keepdim or reduce, or leaves dimensions of nested objects", _always
    yield "sum nansum mean nanmean std var", "keeps no dimensions there", _beyond_or_kept
    yield "amin amax", "reduces no dimensions of fields, and nested objects otherwise", _always
    yield "prod quantile", "reduces the last of several dimensions only", _always
    yield "min max cummin cummax", "makes TensorDicts of nested objects", _always
    yield "clamp addcmul addcdiv addcmul_ addcdiv_", "takes no mixture of objects and tensors", _always
    yield "float double half bfloat16 float16 float32 float64", "converts every tensor, whole numbers too", _always
    yield "clamp_min clamp_max maximum minimum", "takes a tensor without dimensions for a number", _single
    yield "clamp_min_ clamp_max_ maximum_ minimum_", "takes a tensor without dimensions for a number", _single
    yield "fill_", "fills one field: fill_(key, value)", _always
    yield "repeat", "adds no dimensions in front", _always
    yield "squeeze", "fails where no batch dimension is left", _always
    yield "atleast_3d", "puts new dimensions in front, as no function of torch does", _always
    yield (
        "where masked_fill masked_fill_",
        "lets a mask cover the first dimensions, instead of broadcasting",
        _smaller_mask,
    )
    yield "__setitem__", "writes no items where there are none", _always


DIFFERENCES = {name: (text, when) for names, text, when in _differences() for name in names.split()}
"""What tensordict does otherwise, by operation; the sequences leave it out."""


class Tensordict(Library):
    """The library that this project learns from."""

    flags = False

    def __init__(self) -> None:
        import tensordict

        self.base = tensordict.TensorClass

    def refuses(self, declaration: Declaration) -> bool:
        return False

    def differs(self, step: Step, plain: Plain) -> bool:
        return step.name in DIFFERENCES and DIFFERENCES[step.name][1](step, plain)


def assert_same(value: Any, plain: Plain, declaration: Declaration) -> None:
    """The object holds what the model holds, under the same shapes and dtypes."""
    assert tuple(value.batch_size) == plain.batch_size
    for owner, tail in plain.tails.items():
        assert tuple(getattr(value, owner).batch_size) == (*plain.batch_size, *tail), owner
    for name, static in plain.static.items():
        assert getattr(value, name) == static, name
    for path, tensor in plain.tensors.items():
        found = value
        for name in path.split("."):
            found = getattr(found, name)
        assert_equal(found, tensor, path)
    for at in range(len(declaration.fields)):
        name = f"f{at}"
        if name not in plain.tails and name not in plain.tensors and hasattr(value, name):
            assert getattr(value, name) is None, name


def assert_equal(found: Tensor, wanted: Tensor, path: str) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda text: f"{path}: {text}")
