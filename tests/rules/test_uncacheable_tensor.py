"""What a cached virtual tensor reads: found in the text as in the code that runs, and refused where it can change unnoticed."""

from __future__ import annotations

from textwrap import dedent, indent
from types import FunctionType

import pytest

from qten_gen.common.object_reads import attributes_read
from qten_gen.generate.plan import plan
from qten_gen.read.module import read

HEAD = """
import torch
from qten_gen import Module, buffer, submodule, virtual
from torch import Tensor, nn

class Base(Module):
    base: int = 1
    kind = "plain"
    @virtual(cached=True)
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
    def rated(self) -> Tensor:
        return self.rate
    @virtual(cached=True)
    def mask(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        return {}
"""


def found(value: str) -> list[str]:
    return [item.message for item in plan({"model.py": HEAD.format(value).encode()}, {}).diagnostics]


@pytest.mark.parametrize(
    "value",
    [
        "torch.ones(3, dtype=dtype)",
        "torch.ones(self.helper(), self.size) * self.limit + len(self.kind)",
        "self.table + self.size",
        "torch.cat([torch.ones(self.other) for _ in range(self.size)])",
    ],
)
def test_what_is_compared_may_be_read(value: str) -> None:
    assert found(value) == []


@pytest.mark.parametrize(
    ("value", "does"),
    [
        ("self.rate * self.size", "reads rate"),
        ("self.rated() * self.size", "reads rate"),
        ("self.child.weight * self.size", "reads child"),
        ("torch.ones(self.extra_repr, self.size)", "reads extra_repr"),
        ("torch.ones(len(self), self.size)", "passes the module on as a whole"),
        ("super().table * self.size", "passes the module on as a whole"),
        ("self.rate * len(self)", "reads rate and passes it on as a whole"),
    ],
)
def test_what_can_change_unnoticed_is_refused(value: str, does: str) -> None:
    assert found(value) == [f"mask is cached, and {does}, which can change unnoticed"]


METHODS = """
    def a(self, x): return x + self.b
    def b(self): return self.c() + self.d.e(self.f)
    def c(self): return print(self)
    def d(self): return getattr(self, "x")
    def e(self): return [self.x for _ in range(self.y)]
    def f(self): return (lambda: self.x)() + self.y
    def g(self): return (lambda: self)()
    def h(self): return super().a(1)
    def k(self, y): return y.x + y.self.x
    def l(self, y): return y[self.x:self.z], f"{self.q}"
    def m(self, y): return y, self
    def n(self, y): return (y, self.x)
    def o(self, y): z = y; return self.x
    def p(self):
        def inner():
            def deeper(): return self.x
            return deeper
        return inner()() + (self,)
    def q(self): return len(self) + self.x
    def r(self): return "self", self.x
    def s(this): return this.x
    def t(): return 1
    def u(self):
        with self.ctx as c: return c + sum(self.xs) + max((self.a, self.b), key=lambda v: v + self.k)
"""


def test_the_code_of_a_method_reads_what_its_text_says() -> None:
    text = f"from qten_gen import Module, virtual\nclass Net(Module):\n{METHODS}\n    @virtual(cached=True)\n    def v(self): ..."
    names: dict[str, type] = {}
    exec(f"class Net:\n{indent(dedent(METHODS), '    ')}", names)
    source, _ = read(text.encode(), "model.py", "model")
    in_text = {method.name: {*method.reads} for method in source.classes[0].methods}
    in_code = {
        name: {*attributes_read(value)} for name, value in vars(names["Net"]).items() if isinstance(value, FunctionType)
    }
    assert in_code == {name: reads for name, reads in in_text.items() if name != "v"}
