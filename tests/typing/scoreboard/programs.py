"""The rows as programs, one for each column: to be checked, and, of ours, to be run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .rows import OURS, PEERS, ROWS, Row

HEADING = """\
# Made of tests/typing/scoreboard/rows.py.
from __future__ import annotations

from typing import assert_type

import torch
from torch import Tensor, nn

x = torch.ones(2, 3)
rows = torch.ones(2, 4)
"""

_OURS = """
from shop.model import Attention, Batch, Point

point = Point(torch.ones(2, 2), torch.ones(2), batch_size=2)
batch = Batch(x, point, batch_size=2)
attention = Attention(4)
"""

PRELUDES = {
    OURS: _OURS,
    "nn.Module": """
class Plain(nn.Module):
    def __init__(self, dim: int, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Parameter(torch.ones(3 * dim, dim))
        self.register_buffer("scale", torch.ones(heads))
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.norm(x))


plain = Plain(4)
""",
    "tensordict": """
from tensordict import TensorClass


class TdPoint(TensorClass):
    position: Tensor
    weight: Tensor


class TdBatch(TensorClass):
    tokens: Tensor
    point: TdPoint
    mask: Tensor | None = None
    source: str = "train"


td_point = TdPoint(torch.ones(2, 2), torch.ones(2), batch_size=[2])
td = TdBatch(x, td_point, batch_size=[2])
""",
    "TypedTensorDict": """
from tensordict import TypedTensorDict


class TtPoint(TypedTensorDict):
    position: Tensor
    weight: Tensor


class TtBatch(TypedTensorDict):
    tokens: Tensor
    point: TtPoint
    mask: Tensor | None = None


tt_point = TtPoint(position=torch.ones(2, 2), weight=torch.ones(2), batch_size=[2])
tt = TtBatch(tokens=x, point=tt_point, batch_size=[2])
""",
    "jaxtyping": """
from dataclasses import dataclass
from jaxtyping import Bool, Float


@dataclass
class Jx:
    tokens: Float[Tensor, "batch words"]
    mask: Bool[Tensor, "batch"] | None = None
    source: str = "train"


jx = Jx(x)
""",
}


@dataclass(frozen=True)
class Line:
    """A row in a column: the line of the program that it is on, and what has to happen there."""

    row: Row
    code: str
    type: str
    number: int


def of_column(row: Row, column: str) -> tuple[str, str] | None:
    """The code and the type of a row in a column; the type is empty for a mistake. None where the column does not have it."""
    if column == "TypedTensorDict":
        found = of_column(row, "tensordict")
        return (
            None
            if found is None or "source" in found[0]
            else (_typed_tensordict(found[0]), _typed_tensordict(found[1]))
        )
    if column in PEERS:
        code = row.peers.get(column, "")
        return (code, row.peer_type.get(column, row.type)) if code else None
    return row.code, row.type


def _typed_tensordict(code: str) -> str:
    """The code of tensordict's class with its TypedTensorDict, whose constructor takes keywords only."""
    keywords = re.sub(r"TdBatch\(([^,)]+)", r"TdBatch(tokens=\1", code)
    keywords = re.sub(r"(TdBatch\([^)]*), td_point", r"\1, point=td_point", keywords)
    return re.sub(r"\btd", "tt", keywords).replace("Td", "Tt")


def program(column: str) -> tuple[str, list[Line]]:
    """The program of a column, and its rows: each is a function, so that no row changes what another one sees."""
    text = f"{HEADING}{PRELUDES[column]}"
    lines: list[Line] = []
    for index, row in enumerate(ROWS):
        found = of_column(row, column)
        if found is not None:
            code, type_ = found
            text += f"\n\ndef row_{index}() -> None:\n    "
            lines.append(Line(row, code, type_, text.count("\n") + 1))
            text += f"assert_type({code}, {type_})\n" if type_ else f"{code}\n"
    return text, lines
