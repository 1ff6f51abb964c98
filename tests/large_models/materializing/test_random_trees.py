"""Random trees of modules: `materialize` gives what plain torch gives where each method runs under the seed of its module."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from qten_gen import Module, buffer, param, submodule
from qten_gen.large_models.materializing.survey import method_of
from qten_gen.runtime.module.stand_in import seeded

from .declared import Block, assert_same


class Leaf(Module):
    """Draws, constants, and a tie within."""

    weight: nn.Parameter = param(3, 4, initializer=nn.init.orthogonal_)
    twin: nn.Parameter = param(tie="weight")
    steps: Tensor = buffer(3, dtype=torch.int64, initializer=lambda x: x.random_(9))
    scales: nn.ParameterList = param(2, "index+1", repeat=2, initializer=nn.init.normal_)
    gains: nn.ParameterDict = param(2, keys=("a", "b"), initializer=nn.init.uniform_)
    mask: Tensor = buffer(5, dtype=torch.bool, persistent=False, initializer=lambda x: x.bernoulli_(0.5))


class Writer(Module):
    """Writes into the layers of torch below it, after they are initialised."""

    inner: nn.Sequential = submodule(lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
    scale: nn.Parameter = param(2, initializer=nn.init.uniform_)

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            for parameter in self.inner.parameters():
                parameter.mul_(2).add_(torch.rand(()))


KINDS: dict[str, Callable[[], nn.Module]] = {
    "Linear": lambda: nn.Linear(3, 2),
    "LSTM": lambda: nn.LSTM(2, 3),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
    "Transformer layers": lambda: nn.TransformerEncoderLayer(4, 2, 8),
    "Transformer": lambda: nn.Transformer(4, 2, 1, 1, 8, batch_first=True),
    "Embedding": lambda: nn.Embedding(5, 3, padding_idx=1),
    "statistics": lambda: nn.Sequential(nn.BatchNorm1d(3), nn.LayerNorm(2)),
    "Block": lambda: Block(4, layer=1),
    "Leaf": Leaf,
    "Writer": Writer,
}


class Tree(Module):
    """Children of kinds, and trees."""

    kinds: list[str]
    below: list[object]
    parts: nn.ModuleList = submodule(lambda kinds: nn.ModuleList([KINDS[kind]() for kind in kinds]), "kinds")
    trees: nn.ModuleList = submodule(lambda below: nn.ModuleList([Tree(*each) for each in below]), "below")
    own: nn.Parameter = param(2, initializer=nn.init.normal_)


def by_torch(root: nn.Module, seed: int, path: str = "") -> None:
    """Initialise an eager tree again, each module after its children."""
    for name, child in root.named_children():
        by_torch(child, seed, f"{path}{name}.")
    method = method_of(root)
    if method is not None:
        with seeded(seed, path.removesuffix(".")):
            getattr(root, method)()


def trees() -> st.SearchStrategy[tuple[list[str], list[object]]]:
    kinds = st.lists(st.sampled_from(sorted(KINDS)), max_size=3)
    return st.recursive(
        st.tuples(kinds, st.just([])), lambda below: st.tuples(kinds, st.lists(below, max_size=2)), max_leaves=4
    )


@given(trees(), st.integers(0, 2**40), st.booleans())
@settings(max_examples=25)
def test_a_tree_has_the_values_of_plain_torch(
    tree: tuple[list[str], list[object]], seed: int, is_in_parts: bool
) -> None:
    expected = Tree(*tree)
    by_torch(expected, seed)
    found = Tree.on_meta(*tree)
    for name, part in reversed(list(_declared(found))) if is_in_parts else ():
        part.materialize("cpu", seed=seed, prefix=name)
    assert_same(found.materialize("cpu", seed=seed), expected)


def _declared(root: Module) -> Iterator[tuple[str, Module]]:
    return ((name, part) for name, part in root.named_modules() if isinstance(part, Module) and name)
