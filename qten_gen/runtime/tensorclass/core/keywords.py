"""The error of a keyword that a method does not take, with what to write instead where tensordict takes it.

A method that has such keywords ends in `**refused: Never`: checkers refuse the call, and so does the method.
"""

from __future__ import annotations

from collections.abc import Container, Mapping


def unexpected(owner: object, method: str, given: Mapping[str, object]) -> TypeError:
    """The error about the keywords `given` of a call of `method`, to be raised.

    Args:
        owner: The object, or the class of a class method.
    """
    from .tensordict_keywords import INSTEAD  # most programs never need it

    cls = owner if isinstance(owner, type) else type(owner)
    advice = INSTEAD.get(method, {})
    name = next((name for name in given if name in advice), next(iter(given)))
    if name in advice:
        return TypeError(f"{cls.__name__}.{method}() does not take {name}=; {advice[name]}")
    return TypeError(f"{cls.__name__}.{method}() got an unexpected keyword argument {name!r}")


def takes(method: str, given: Mapping[str, object], fields: Container[str]) -> bool:
    """Whether keywords that stand for fields are none of those that tensordict's method takes under names of no field."""
    if all(name in fields for name in given):
        return True
    from .tensordict_keywords import INSTEAD

    return INSTEAD.get(method, {}).keys().isdisjoint(given)
