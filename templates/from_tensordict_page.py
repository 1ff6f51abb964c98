"""The page for those who come from tensordict: every public member of its TensorClass, and where it is here.

python -m templates.from_tensordict_page > docs/from-tensordict.md
"""

from __future__ import annotations

from textwrap import fill

from qten_gen.runtime.tensorclass.core.tensordict_keywords import INSTEAD as INSTEAD_OF_PARAMETERS
from qten_gen.runtime.tensorclass.core.tensordict_keywords import RENAMED
from qten_gen.runtime.tensorclass.operations.tensordict_alternatives import INSTEAD, NOT_OF_TENSORDICT
from qten_gen.runtime.tensorclass.tensorclass import TensorClass

_INTRODUCTION = """\
# Migrate from tensordict

This page shows what to write here for every public member of `tensordict.TensorClass` 0.15. Most members have the same name and
take the same parameters. Each of the others has a row in a table below.

The errors say the same as the tables. `batch.pack` raises AttributeError with the text of its row, and
`batch.sum(key_transform=str)` raises TypeError with the text of the row in [replace a parameter](#replace-a-parameter). Members
that have the same name but behave differently are among the [intentional differences](differences.md).

Declare a class in the same way: `class Batch(TensorClass)` with annotated fields, and flags as keywords or in brackets. There is
no decorator `tensorclass`. A field that is not annotated as a tensor, a TensorClass or a TensorDict holds a static value, which
is never converted.

Both libraries can be used in one program: a field [can hold a TensorDict](interop.md#keep-a-tensordict-in-a-field), and
`batch.as_tensordict()` [is one](interop.md#use-objects-where-a-tensordict-is-wanted) that writes into the object.
With torchrl 0.14.1, `ClipPPOLoss` and `DQNLoss` on `as_tensordict()` give the same losses and gradients, bit for bit, as on a
TensorDict. A loop of 64 steps that calls `update_` on slices of the view of a preallocated object writes into its memory.
"""


_PARAMETERS = """\
| methods | parameter | here |
|---|---|---|"""

_OTHERWISE = """\
These parameters have other names here. Passed by position, they are the same.

| methods | tensordict | here |
|---|---|---|"""


_SUITE = """\
`make peers CHECKOUT=path/to/tensordict` runs tensordict's own `test/tensorclass/test_tensorclass.py` with classes of this
project. It turns `@tensorclass` into a base class, and `x: T = None` into `x: T | None = None`. These are the results of the
tests that pass with tensordict 0.15.3:

| result | tests | what they are about |
|---|---|---|
| pass | 50 | |
| differs by decision | 25 | keeps a TensorDict in a field of another annotation, or objects in a TensorDict |
| differs by decision | 16 | reads private attributes or files of tensordict |
| differs by decision | 16 | gives a field a value of another type than its annotation says |
| differs by decision | 11 | uses a member that the tables above replace |
| differs by decision | 8 | assigns items of another shape or class |
| differs by decision | 7 | expects other errors, or other forms of a state dict |
| differs by decision | 5 | shadows `batch_size` |
| differs by decision | 4 | has static values that differ per item |
| differs by decision | 4 | decorates a class with `dataclass` |
| differs by decision | 3 | has a class that requires another object of itself |
| differs by decision | 2 | gets None for a field that is not there |
| differs by decision | 1 | has a default that does not fit the batch size |
| differs by decision | 1 | has a field with a name that is reserved here |
| differs by decision | 1 | makes a class with tensordict's `from_dataclass` |
| differs by decision | 1 | uses a frozen object as a key of a dict |
| differs by decision | 1 | expects a gradient of None beside others |
| differs by decision | 1 | expects `len` 0 without batch dimensions |
| differs by decision | 1 | expects a constructor without `lock` |
| differs by decision | 1 | expects `names` to be a list |"""


def same_names() -> list[str]:
    """The public members that both have."""
    return sorted(name for name in dir(TensorClass) if not name.startswith("_") and name not in NOT_OF_TENSORDICT)


def documentation() -> str:
    """The text of the page, in Markdown."""
    names = same_names()
    return "\n".join(
        [
            _INTRODUCTION,
            f"## Keep these names\n\n{fill(', '.join(f'`{name}`' for name in names), 120)}\n",
            f"## Replace a member\n\n| tensordict | here |\n|---|---|\n{_rows()}\n",
            f"## Replace a parameter\n\n{_PARAMETERS}\n{_parameter_rows()}\n",
            f"## Rename a parameter\n\n{_OTHERWISE}\n{_renamed_rows()}\n",
            f"## See which of tensordict's tests pass\n\n{_SUITE}\n",
            f"## Use what tensordict does not have\n\n{fill(', '.join(f'`{name}`' for name in sorted(NOT_OF_TENSORDICT)), 120)}",
        ]
    )


def _rows() -> str:
    """A row for each advice, with all names that it is for."""
    names: dict[str, list[str]] = {}
    for name, advice in INSTEAD.items():
        names.setdefault(advice, []).append(name)
    return "\n".join(f"| {', '.join(f'`{name}`' for name in found)} | {advice} |" for advice, found in names.items())


def _parameter_rows() -> str:
    """A row for each advice about a parameter, with all methods that it is for."""
    methods: dict[tuple[str, str], list[str]] = {}
    for method, advice in sorted(INSTEAD_OF_PARAMETERS.items()):
        for parameter, text in advice.items():
            if parameter not in RENAMED.get(method, {}):
                methods.setdefault((parameter, text), []).append(method)
    return "\n".join(
        f"| {', '.join(f'`{method}`' for method in found)} | `{parameter}` | {text.replace('|', chr(92) + '|')} |"
        for (parameter, text), found in sorted(methods.items())
    )


def _renamed_rows() -> str:
    methods: dict[tuple[str, str], list[str]] = {}
    for method, names in sorted(RENAMED.items()):
        for old, new in names.items():
            methods.setdefault((old, new), []).append(method)
    return "\n".join(
        f"| {', '.join(f'`{method}`' for method in found)} | `{old}` | `{new}` |"
        for (old, new), found in sorted(methods.items())
    )


if __name__ == "__main__":
    print(documentation())
