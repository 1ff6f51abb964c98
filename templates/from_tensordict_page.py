"""The page for those who come from tensordict: every public member of its TensorClass, and where it is here.

python -m templates.from_tensordict_page > docs/from-tensordict.md
"""

from __future__ import annotations

from textwrap import fill

from qten_gen.runtime.tensorclass.operations.tensordict_alternatives import INSTEAD
from qten_gen.runtime.tensorclass.tensorclass import TensorClass

from .tensordict_parameters import MISSING, RENAMED

NOT_OF_TENSORDICT = frozenset(
    """
    clamp_ cumprod cumsum empty_like from_numpy full_like load_safetensors ones_like rand_like
    randn_like save_safetensors vmap vmap_dims zeros_like
    """.split()
)
"""Public members of TensorClass that tensordict does not have; all others are called as they are there."""

_INTRODUCTION = """\
# Migrate from tensordict

This page shows what to write in place of a member of `tensordict.TensorClass` 0.15. {count} of its public members have the same
name here and take the same parameters, but for the rows below; the others have a row each. Members that behave differently under
the same name are among the [differences](differences.md). [Which of tensordict's own tests pass](evidence.md#the-tests-of-peers).

```python
# replay/model.py
from torch import Tensor
from qten_gen import TensorClass


class Step(TensorClass):  # no decorator; flags are keywords, or in brackets
    reward: Tensor
    source: str = "env"  # no tensor: one value for the batch, which is never converted
```

The errors say the same as the first table:

```pycon
>>> import torch
>>> from replay.model import Step
>>> Step(torch.zeros(4), batch_size=4).pack
Traceback (most recent call last):
AttributeError: Step has no attribute 'pack'; use torch.stack or torch.cat, or Batch.stack and Batch.cat
```

Both libraries can be used in one program: a nested field [takes a TensorDict](interop.md#convert-to-and-from-tensordict), and
`batch.to_tensordict()` [is one](interop.md#use-objects-where-a-tensordict-is-wanted) that shares the tensors, for losses of
torchrl, for example.
"""


_PARAMETERS = """\
These parameters are missing here, in some methods or all. Python's own error names each:
"""


_OTHERWISE = "These parameters have other names here. Passed by position, they are the same: "


def same_names() -> list[str]:
    """The public members that both have."""
    return sorted(name for name in dir(TensorClass) if not name.startswith("_") and name not in NOT_OF_TENSORDICT)


def documentation() -> str:
    """The text of the page, in Markdown."""
    return "\n".join(
        [
            _INTRODUCTION.replace("{count}", str(len(same_names()))),
            f"## Replace a member\n\n| tensordict | here |\n|---|---|\n{_rows()}\n",
            f"## Replace a parameter\n\n{_PARAMETERS}\n{_parameters()}\n",
            f"## Rename a parameter\n\n{_renamed()}\n",
        ]
    )


def _rows() -> str:
    """A row for each advice, with all names that it is for."""
    names: dict[str, list[str]] = {}
    for name, advice in INSTEAD.items():
        names.setdefault(advice, []).append(name)
    return "\n".join(f"| {', '.join(f'`{name}`' for name in found)} | {advice} |" for advice, found in names.items())


def _parameters() -> str:
    """The missing parameters."""
    named = ", ".join(f"`{parameter}`" for parameter in sorted(set().union(*MISSING.values())))
    return fill(f"{named}.", 120, break_long_words=False, break_on_hyphens=False)


def _renamed() -> str:
    """Each parameter with another name, and that name."""
    names = sorted({(old, new) for found in RENAMED.values() for old, new in found.items()})
    text = _OTHERWISE + ", ".join(f"`{old}` is `{new}`" for old, new in names)
    return fill(f"{text}.", 120, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    print(documentation())
