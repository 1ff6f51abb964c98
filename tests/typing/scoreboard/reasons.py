"""Why a row of ours is not right in some checker."""

from __future__ import annotations

_ASSIGNED = (
    "ty does not bind a function that a class body assigns: `def f(self: T) -> T: ...`, then `class A: g = f`,"
    " and `A().g()` is Unknown"
)
_OTHER_LIBRARY = (
    "the attribute is one of torch's: `nn.Module.__getattr__` returns `Tensor | Module` for every name,"
    " so that no checker reports `nn.LayerNorm(4).wieght`"
)
_DOTTED = (
    "names of children's tensors are dotted paths, `norm.weight`, so an overload takes any `str`:"
    ' `def get(name: Literal["a"])` beside `def get(name: str)` accepts every name'
)

REASONS: dict[str, str] = {
    "batch[0]": _ASSIGNED,
    "batch[torch.tensor([True, False])]": _ASSIGNED,
    'batch.to("cpu")': _ASSIGNED,
    "batch.apply(torch.neg)": _ASSIGNED,
    "batch.replace(tokens=x)": _ASSIGNED,
    'batch.set("tokens", x)': _ASSIGNED,
    "Batch.stack([batch, point])": (
        "ty lets `Self` of a class method be any class below the one that defines it:"
        " `class R: @classmethod def stack(cls, items: Sequence[Self])`, then `A.stack([A(), B()])`"
    ),
    "attention.norm.wieght": _OTHER_LIBRARY,
    'attention.get_buffer("scael")': _DOTTED,
    'attention.get_submodule("nrom")': _DOTTED,
}
"""By code. A row that is right everywhere again needs none."""


def reason(code: str) -> str:
    """Why a row is not right. A new one has to be looked into."""
    return REASONS.get(code, "**unknown**: look into it, and add it to tests/typing/scoreboard/reasons.py")
