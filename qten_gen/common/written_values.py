"""Whether a Python object is what a text in generated code means: a literal, a public name of torch, a partial of one."""

from __future__ import annotations

import sys
from functools import partial

from .literals import literal_of

_MISSING = object()
_TORCH_HOMES = ("torch", "torch.nn", "torch.nn.init", "torch.nn.functional")


def written_as(value: object, text: str) -> bool:
    """Whether `text`, as written in generated code, means this value.

    >>> written_as("train", "'train'")
    True
    """
    if text.startswith("functools.partial("):
        found = partial_of_torch(value)
        return found is not None and partial_text(*found) == text
    if not text.startswith("torch."):
        return literal_of(value) == text
    resolved: object = sys.modules["torch"]
    for part in text.split(".")[1:]:
        resolved = getattr(resolved, part, _MISSING)
    return resolved is value


def torch_name(value: object) -> str | None:
    """The public name of a torch object in one of `_TORCH_HOMES`; None if it is in none of them."""
    plain = getattr(value, "__name__", None) or str(value).removeprefix("torch.")
    if not isinstance(plain, str) or not plain.isidentifier():
        return None
    for home in _TORCH_HOMES:
        if getattr(sys.modules.get(home), plain, None) is value:
            return f"{home}.{plain}"
    return None


def partial_of_torch(value: object) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The function and keywords of a `functools.partial` of a torch function with literal keywords; None for anything else."""
    if type(value) is not partial or value.args:
        return None
    name, keywords = torch_name(value.func), [(key, literal_of(given)) for key, given in value.keywords.items()]
    written = tuple((key, given) for key, given in keywords if given is not None)
    return None if name is None or len(written) < len(keywords) else (name, written)


def partial_text(function: str, keywords: tuple[tuple[str, str], ...]) -> str:
    """The canonical text of such a partial: `functools.partial(torch.nn.init.normal_, std=0.02)`."""
    return f"functools.partial({', '.join([function, *(f'{name}={given}' for name, given in keywords)])})"
