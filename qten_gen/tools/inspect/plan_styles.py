"""The words of a sharding plan for a layer: `"colwise"` of transformers, `RowwiseParallel()` of torch, `{"tp": 0}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from ...common.suggestions import did_you_mean
from .documents import Expression

Side = Literal["column", "row"]


class Style(NamedTuple):
    """How the parameters of a layer are cut: each along one of its dimensions, counted from the last if it is negative."""

    weight: int | None = None
    """The dimension of parameters with two dimensions or more; None if every rank holds them whole."""
    bias: int | None = None
    """The dimension of each style that has one."""
    side: Side | None = None
    """Half of a pair: what a `column` gives is cut, and a `row` takes that. A layer that gathers its result has no side."""
    pieces: int = 1
    """How many tensors of equal size are one parameter, each of which is cut."""
    may_be_uneven: bool = False
    """Whether it may be cut into unequal parts, because nothing reads a part by its size."""

    def dimension(self, shape: tuple[int, ...]) -> int | None:
        """The dimension along which a parameter of a shape is cut; None if it is not."""
        chosen = self.bias if len(shape) == 1 else self.weight
        if chosen is None or not -len(shape) <= chosen < len(shape):
            return None
        return chosen % len(shape)


_COLUMN = Style(-2, -1, "column")
_ROW = Style(-1, None, "row")
_WHOLE = Style()

STYLES: Mapping[str, Style] = {
    "colwise": _COLUMN,
    "rowwise": _ROW,
    "colwise_gather_output": _COLUMN._replace(side=None, may_be_uneven=True),
    "colwise_rep": _COLUMN._replace(side=None, may_be_uneven=True),
    "rowwise_split_input": _ROW._replace(side=None),
    "rowwise_rep": _ROW._replace(side=None),
    "packed_colwise": _COLUMN._replace(pieces=2),
    "packed_rowwise": _ROW._replace(pieces=2),
    "embedding_rowwise": Style(0, may_be_uneven=True),
    "embedding_colwise": Style(1),
    "grouped_gemm": Style(0, 0),
    **dict.fromkeys(
        (
            "all_reduce",
            "ep_dispatch_experts",
            "ep_router",
            "gather",
            "local_params",
            "mla_kv_a_proj",
            "moe_identity_expert",
            "moe_tp_experts",
            "replicate",
            "replicated_with_grad_allreduce",
            "sequence_parallel",
        ),
        _WHOLE,
    ),
}
"""The styles of `ALL_PARALLEL_STYLES` in transformers."""

_CLASSES: Mapping[str, Style] = {
    "ColwiseParallel": _COLUMN,
    "RowwiseParallel": _ROW,
    "Float8ColwiseParallel": _COLUMN,
    "Float8RowwiseParallel": _ROW,
    "ExpertParallel": Style(0, 0),
}
"""The styles of `parallelize_module`, in torch and in torchtitan. Of others, such as PrepareModuleInput, every rank holds all."""


class UnknownStyle(ValueError):
    """A plan says something that nothing is known of."""


def styles(value: object, axis: str, *, is_embedding: bool) -> dict[str, Style]:
    """The styles of a plan for a layer, by the axis of the mesh: that of the plan, unless it names axes itself.

    >>> {name: style.weight for name, style in styles({"tp": 1, "ep": 0}, "tp", is_embedding=False).items()}
    {'tp': 1, 'ep': 0}

    Raises:
        UnknownStyle: It is no word of transformers, no call, no dimension, and no table of dimensions by axis.
    """
    if isinstance(value, Mapping):
        return {str(name): _style(each, is_embedding) for name, each in value.items()}
    return {axis: _style(value, is_embedding)}


def _style(value: object, is_embedding: bool) -> Style:
    if isinstance(value, int) and not isinstance(value, bool):
        return Style(value, value)
    if isinstance(value, Expression):
        return _of_call(value, is_embedding)
    if isinstance(value, str) and value in STYLES:
        return STYLES[value]
    advice = did_you_mean(str(value), STYLES, "expected a style of transformers, or a dimension")
    raise UnknownStyle(f"{value!r} is not known; {advice}")


def _of_call(text: str, is_embedding: bool) -> Style:
    """The style of a call in Python code."""
    name = re.match(r"(?:\w+\.)*(\w+)", text)
    word = "" if name is None else name[1]
    shard = re.fullmatch(r"(?:\w+\.)*Shard\((?:dim=)?(-?\d+)\)", text)
    if shard is not None:
        return Style(int(shard[1]), int(shard[1]))
    style = _CLASSES.get(word, _WHOLE)
    if is_embedding and style.side:  # torch cuts the table of an embedding the other way round
        return Style(-1) if style.side == "column" else Style(0, may_be_uneven=True)
    given = None if style.side is None else {"column": "output_layouts", "row": "input_layouts"}[style.side]
    is_half = given is None or given not in text or re.search(rf"{given}=Shard\((?:dim=)?-1\)", text) is not None
    return style if is_half else style._replace(side=None)
