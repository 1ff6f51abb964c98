"""Why a row of ours is not right in some checker."""

from __future__ import annotations

_OTHER_LIBRARY = (
    "the attribute is one of torch's: `nn.Module.__getattr__` returns `Tensor | Module` for every name,"
    " so that no checker reports `nn.LayerNorm(4).wieght`"
)

REASONS: dict[str, str] = {
    "Batch.stack([batch, point])": (
        "ty lets `Self` of a class method be any class below the one that defines it:"
        " `class R: @classmethod def stack(cls, items: Sequence[Self])`, then `A.stack([A(), B()])`"
    ),
    "attention.norm.wieght": _OTHER_LIBRARY,
    'torch.compile(attention, backend="eager")(rows)': (
        "the `__call__` of a declaration is a descriptor. Where a module is passed as a function, pyright reads what the"
        " descriptor itself takes, and ty adds the result of a handler, which may be of any type on a declaration"
    ),
}
"""By code. A row that is right everywhere again needs none."""


def reason(code: str) -> str:
    """Why a row is not right. A new one has to be looked into."""
    return REASONS.get(code, "**unknown**: look into it, and add it to tests/typing/scoreboard/reasons.py")
