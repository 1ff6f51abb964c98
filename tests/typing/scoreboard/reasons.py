"""Why a row of ours is not right in some checker."""

from __future__ import annotations

import re

_OTHER_LIBRARY = (
    "the attribute is one of torch's: `nn.Module.__getattr__` returns `Tensor | Module` for every name,"
    " so that no checker reports `nn.LayerNorm(4).wieght`"
)

_KEY = "names in strings are any string to a checker, and what is read by one is Any: `batch.tokens` has the exact type"
REASONS: dict[str, str] = {
    "Batch.stack([batch, point])": (
        "ty lets `Self` of a class method be any class below the one that defines it:"
        " `class R: @classmethod def stack(cls, items: Sequence[Self])`, then `A.stack([A(), B()])`"
    ),
    "attention.norm.wieght": _OTHER_LIBRARY,
    'attention.state_dict()["qkv"]': _KEY,
    'attention.get_submodule("norm")': _KEY,
    'attention.get_buffer("scael")': _KEY,
    'attention.get_submodule("nrom")': _KEY,
    'batch.to_dict()["point"]["weight"]': _KEY,
    "batch.replace(tokns=x)": "the keywords of `replace` are any to a checker that does not know `__replace__` of Python 3.13",
}
"""By code. A row that is right everywhere again needs none."""


def reason(code: str) -> str:
    """Why a row is not right. A new one has to be looked into."""
    if re.match(r"batch\.(get|set|update|select)\(", code):
        return _KEY
    return REASONS.get(code, "**unknown**: look into it, and add it to tests/typing/scoreboard/reasons.py")
