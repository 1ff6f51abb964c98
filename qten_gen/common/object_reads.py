"""The attributes of its object that a method reads, from the code of its function.

`read.own_state.mentions` finds the same in the text. Whatever else is done with the object, such as passing it on, counts as
reading it as a whole.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

WHOLE = ""
"""Stands for the object itself among what is read: anything may be read of it."""

_BY_CLOSURE = ("LOAD_CLOSURE", "LOAD_FAST", "LOAD_FAST_BORROW")
"""How Python passes a variable on to a function inside, whose code is looked at too."""
_FILLER = ("CACHE", "EXTENDED_ARG", "NOP", "PUSH_NULL")


@lru_cache(maxsize=1000)
def attributes_read(function: FunctionType) -> tuple[str, ...]:
    """The attributes of its first argument that a function reads, each once; `WHOLE` stands for anything else done with it."""
    code = function.__code__
    if code.co_argcount == 0:
        return (WHOLE,) if code.co_flags & 4 else ()  # it takes `*args`
    return tuple(dict.fromkeys(_reads(code, code.co_varnames[0])))


def _reads(code: CodeType, owner: str) -> Iterator[str]:
    """What follows each step that loads the object: a step that reads an attribute, or anything else."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in _FILLER]
    is_shared = owner in code.co_cellvars or owner in code.co_freevars
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        # Python puts two steps into one: LOAD_FAST_LOAD_FAST has two names.
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if owner not in names or not step.opname.startswith(
            ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "STORE_", "DELETE_")
        ):
            continue
        if step.opname in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL"):
            continue  # of another object
        if is_shared and step.opname in _BY_CLOSURE:
            continue
        is_last = names[-1] == owner and names.count(owner) == 1 and "LOAD" in step.opname
        reads = is_last and following is not None and following.opname in ("LOAD_ATTR", "LOAD_METHOD")
        yield following.argval if reads and following is not None else WHOLE
    if "super" in code.co_names:  # it finds the object by itself
        yield WHOLE
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and owner in inner.co_freevars:
            yield from _reads(inner, owner)
