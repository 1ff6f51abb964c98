"""The fields that a cached virtual tensor reads: found in the text, reported, and written by the fix."""

from __future__ import annotations

from textwrap import dedent

import pytest

from qten_gen.generate.fixing import fixed
from qten_gen.generate.plan import plan

HEAD = """
import torch
from qten_gen import Module, buffer, submodule, virtual
from torch import Tensor, nn

class Base(Module):
    base: int = 1
    @virtual(cached=True, sources=("base",))
    def table(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return torch.ones(self.base)

class Net(Base):
    size: int = 2
    other: int = 2
    limit = 3
    rate: Tensor = buffer("size", initializer=nn.init.ones_)
    child: nn.Linear = submodule(nn.Linear, 2, 2)
    def helper(self) -> int:
        return self.other if self.training else self.helper()
    @virtual({})
    def mask(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return {}
"""


def found(arguments: str, value: str) -> tuple[list[str], str | None]:
    """The findings about a virtual tensor, and the arguments of the decorator after they are fixed; None without a fix."""
    source = {"model.py": HEAD.format(arguments, value).encode()}
    diagnostics = plan(source, {}).diagnostics
    new = fixed(diagnostics, source).get("model.py")
    mended = new.decode().rpartition("@virtual(")[2].partition(")\n")[0] if isinstance(new, bytes) else None
    return [f"{item.message}; {'; '.join((item.help, *item.notes))}" for item in diagnostics], mended


@pytest.mark.parametrize(
    ("value", "sources"),
    [
        ("torch.ones(3, dtype=dtype)", "()"),
        ("torch.ones(self.size)", '("size",)'),
        ("torch.ones(self.size) * self.limit", '("size",)'),
        ("torch.ones(self.helper(), self.size)", '("size", "other")'),
        ("self.table + self.size", '("size", "base")'),
        ("torch.cat([torch.ones(self.other) for _ in range(self.size)])", '("other", "size")'),
    ],
)
def test_the_fix_names_what_is_read(value: str, sources: str) -> None:
    said, mended = found("cached=True", value)
    assert said == [f"mask is cached, and does not name the fields that it reads; write sources={sources}"]
    assert mended == f"cached=True, sources={sources}"
    assert found(mended or "", value) == ([], None)


def test_the_fix_adds_what_the_sources_leave_out() -> None:
    said, mended = found('cached="may_be_stale", cast=True, sources=("size",)', "self.rate * self.size")
    assert said == ['mask reads rate, which its sources leave out; write sources=("size", "rate")']
    assert mended == 'cached="may_be_stale", cast=True, sources=("size", "rate")'


def test_what_trusts_counters_is_mended_with_its_tensors() -> None:
    assert found('cached="may_be_stale"', "self.rate + 1")[1] == 'cached="may_be_stale", sources=("rate",)'


def test_a_tensor_that_is_read_leaves_the_choice_to_the_author() -> None:
    (said,), mended = found("cached=True", "self.rate * self.size")
    assert said.endswith('; leave cached out, or write cached="may_be_stale", sources=("rate", "size")')
    assert mended is None


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("self.child.weight * self.size", "child"),
        ("torch.ones(len(self), self.size)", "self as a whole"),
        ("super().table * self.size", "self as a whole"),
        ("torch.ones(self.extra_repr, self.size)", "extra_repr"),
    ],
)
def test_there_is_no_fix_where_something_else_is_read(value: str, names: str) -> None:
    (said,), mended = found("cached=True", value)
    assert said.endswith(
        f'; write sources=("size",), with every field that it reads; {names} may depend on further fields'
    )
    assert mended is None
    assert found('cached=True, sources=("size",)', value) == ([], None), "the author knows"


def test_a_class_with_its_own_constructor_names_what_that_assigns() -> None:
    text = """
    import torch
    from qten_gen import Module, virtual
    from torch import Tensor

    class Written(Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size
        @virtual(cached=True)
        def ramp(self, dtype: torch.dtype, device: torch.device) -> Tensor:
            return torch.arange(self.size)
    """
    source = {"model.py": dedent(text).encode()}
    new = fixed(plan(source, {}).diagnostics, source)["model.py"]
    assert isinstance(new, bytes)
    assert b'@virtual(cached=True, sources=("size",))' in new
    assert plan({"model.py": new}, {}).diagnostics == ()
