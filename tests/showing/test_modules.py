"""Declared modules in a notebook: the tree that `_repr_html_` gives, and what it must not do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from qten_gen import Module, ModuleList, buffer, deferred_init, fake_mode, param, submodule, virtual
from qten_gen.runtime.showing.numbers import TIMES
from tests import fresh_process

from .parsed import Parsed
from .test_objects import no_operations


class Block(Module):
    dim: int
    weight: nn.Parameter = param("dim", "dim", initializer=nn.init.ones_)
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "dim")
    act: nn.GELU = submodule(nn.GELU)


class Net(Module):
    dim: int
    depth: int
    name: str = "net"
    blocks: ModuleList[Block] = submodule(Block, "dim", repeat="depth")
    mask: Tensor = buffer("dim", initializer=nn.init.zeros_, persistent=False)
    head: nn.Linear = submodule(nn.Linear, "dim", 10)

    @virtual
    def never(self, dtype: torch.dtype, device: torch.device) -> Tensor:
        raise AssertionError("a virtual tensor is computed")


class Spoken(Module):
    def __repr__(self) -> str:
        return "spoken"


def test_the_tree_has_every_module_and_every_tensor() -> None:
    shown = Parsed(Net(4, 2)._repr_html_())
    assert shown.fields["mask"] == ("[4]", "float32", "cpu", "", "16 B")
    assert ("weight", "[4, 4]", "float32", "cpu", "16", "64 B") in shown.rows
    assert ("weight", "[10, 4]", "float32", "cpu", "40", "160 B") in shown.rows
    assert f"blocks.0-1 2 {TIMES} Block, 48 parameters, 192 B" in shown.summaries
    assert "head Linear(in_features=4, out_features=10, bias=True), 50 parameters, 200 B" in shown.summaries
    assert "mask (buffer, not saved)" in {row[0] for row in shown.rows}


def test_the_heading_says_the_arguments_and_the_totals() -> None:
    html = Net(4, 2, name="<b>")._repr_html_() or ""
    assert "<b>Net(dim=4, depth=2, name=&#x27;&lt;b&gt;&#x27;)</b>" in html
    assert "98 parameters, 408 B, float32, cpu" in html
    assert "in evaluation mode" in (Net(4, 2).eval()._repr_html_() or "")


def test_modules_that_nest_unequal_ones_are_bounded() -> None:
    class Many(Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(1, size + 1) for size in range(1000))

    html = Many()._repr_html_() or ""
    assert "975 more" in Parsed(html).summaries
    assert "more are not shown" in html
    assert len(html) < 100_000


def test_equal_blocks_are_one_line() -> None:
    html = Net(2, 1000)._repr_html_() or ""
    assert f"blocks.0-999 1000 {TIMES} Block, 8,000 parameters, 31.2 KiB" in Parsed(html).summaries
    assert len(html) < 8000


@pytest.mark.parametrize("kind", ["deferred", "on meta", "fake", "fake cuda", "lazy"])
def test_modules_without_values_are_shown(kind: str) -> None:
    module: Any
    match kind:
        case "deferred":
            module = deferred_init(Net, 4, 2)
        case "on meta":
            module = Net.on_meta(4, 2)
        case "lazy":
            module = Net(4, 2)
            module.head = nn.LazyLinear(10)
        case _:
            with fake_mode(fake_cuda=True):
                module = Net(4, 2, device="cuda" if kind == "fake cuda" else "cpu")
    with no_operations():
        shown = Parsed(module._repr_html_())
    device = {"on meta": "meta", "fake cuda": "cuda:0"}.get(kind, "cpu")
    assert shown.fields["mask"] == ("[4]", "float32", device, "", "16 B")
    assert ("weight (uninitialised)" in {row[0] for row in shown.rows}) == (kind == "lazy")


def test_ties_and_shared_modules_are_named() -> None:
    net = Net(10, 1)
    net.head.weight = nn.Parameter(torch.ones(10, 10))
    net.blocks[0].weight = net.head.weight
    shown = Parsed(net._repr_html_())
    assert "weight (tied to blocks.0.weight)" in {row[0] for row in shown.rows}


def test_a_module_that_says_itself_how_it_looks_is_left_alone() -> None:
    assert Spoken()._repr_html_() is None


def test_what_a_child_says_of_itself_may_raise_or_be_long() -> None:
    class Loud(nn.Module):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

        def extra_repr(self) -> str:
            if not self.text:
                raise ValueError("no")
            return self.text

    class Holder(Module):
        def __init__(self) -> None:
            super().__init__()
            self.quiet = Loud("")
            self.long = Loud("x" * 5000)

    html = Holder()._repr_html_() or ""
    assert "Loud()" in html and len(html) < 4000


def test_a_tree_that_nests_too_deep_is_shown_as_text() -> None:
    inner: nn.Module = nn.Identity()
    for _ in range(2000):
        inner = nn.Sequential(inner)
    net = Net(1, 1)
    net.head = inner  # type: ignore[assignment] # any module may stand there at run time
    assert net._repr_html_() is None


def test_nothing_of_this_is_imported_before_something_is_shown() -> None:
    program = (
        "import sys, torch\nfrom qten_gen import Module, TensorClass, LazyStack, PerItem\n"
        "class Point(TensorClass):\n    xy: torch.Tensor\n"
        "point = Point(torch.ones(1))\nrepr(point)\n"
        "found = [name for name in sys.modules if '.showing' in name or '.outline' in name or 'as_html' in name]\n"
        "print(found)\nprint('Point' in point._repr_html_())"
    )
    done = fresh_process.run("-W", "ignore", "-c", program)
    assert done.stdout.splitlines() == ["[]", "True"], done.stderr
