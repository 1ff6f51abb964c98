"""What the bytecode of a virtual tensor's function says: the names in it, and whether it passes the module on."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType


def names_of(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in code, and in that of the functions inside it."""
    yield from code.co_names
    for inner in _inside(code):
        yield from names_of(inner)


def passes_on(code: CodeType) -> bool:
    """Whether a function does anything with its first argument but read or write an attribute of it.

    Then what gets the argument may read any attribute: `len(self)`, `table(self)`, `self * 2`, `for x in self`.
    """
    receiver = _first_argument(code)
    return receiver is not None and _passes_on(code, receiver)


def imports_or_matches(code: CodeType) -> bool:
    """Whether a function has an import or a `match` statement, which read what its names do not say."""
    here = any(i.opname == "IMPORT_NAME" or i.opname.startswith("MATCH_") for i in dis.get_instructions(code))
    return here or any(map(imports_or_matches, _inside(code)))


def _first_argument(code: CodeType) -> str | None:
    if code.co_argcount:
        return code.co_varnames[0]
    return code.co_varnames[code.co_kwonlyargcount] if code.co_flags & inspect.CO_VARARGS else None


def _passes_on(code: CodeType, name: str) -> bool:
    """Whether code uses a variable other than for its attributes. Versions of Python differ in the instructions that load one."""
    is_cell = name in code.co_cellvars or name in code.co_freevars
    for instruction, following in pairwise(dis.get_instructions(code)):
        loaded = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        operation = instruction.opname
        if "LOAD_" not in operation or name not in loaded or operation.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            continue
        if operation == "LOAD_CLOSURE" or (is_cell and "LOAD_FAST" in operation):
            continue  # the variable itself, for a function inside, which is looked at below
        if not operation.startswith(("LOAD_FAST", "LOAD_DEREF", "STORE_FAST_LOAD_FAST", "LOAD_CLASSDEREF")):
            continue
        if name in loaded[:-1] and operation.startswith("LOAD_"):
            return True
        if loaded[-1] == name and following.opname not in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "STORE_ATTR"):
            return True
    return any(name in inner.co_freevars and _passes_on(inner, name) for inner in _inside(code))


def _inside(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))
