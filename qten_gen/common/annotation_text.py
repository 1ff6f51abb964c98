"""The text of an annotation object, for signatures and docstrings."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from inspect import formatannotation

_PLACE = re.compile(r"[^\[\](){}|,'\"]*\.<\w+>\.")
"""The part before the name of a class in a function: `shop.model.make.<locals>.`."""

_LAYER = re.compile(r"torch\.nn\.(?:modules\.\w+|parameter)\.(?P<name>[A-Z]\w*)")
"""A class of torch.nn, under the name of the file that it is written in."""


def annotation_text(annotation: object) -> str:
    """The annotation as an expression, whatever the modules are called.

    >>> annotation_text(int | None)
    'int | None'
    """
    if isinstance(annotation, str):
        return annotation
    text = _LAYER.sub(_exported, _PLACE.sub("", formatannotation(annotation)))
    return text if _is_expression(text) else repr(text)


def _exported(found: re.Match[str]) -> str:
    """`torch.nn.Linear` for `torch.nn.modules.linear.Linear`, where that is the same class."""
    layer = getattr(sys.modules.get("torch.nn"), found["name"], None)
    is_same = f"{getattr(layer, '__module__', '')}.{found['name']}" == found[0]
    return f"torch.nn.{found['name']}" if is_same else found[0]


@lru_cache(maxsize=256)
def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
