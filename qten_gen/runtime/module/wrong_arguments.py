"""The errors of constructors that cannot compute with their arguments: which class and argument, expected and got."""

from __future__ import annotations

import ast
import linecache
from inspect import formatannotation, unwrap
from itertools import islice
from types import FrameType, TracebackType
from typing import SupportsFloat

from .construction import paths, shown

_REPEATED = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
"""The types of errors whose message is all that they hold. Of others, such as those for memory, callers read more."""


def explained(cls: type, error: Exception) -> Exception | None:
    """The error to raise in place of one from a generated constructor; None where it is not about the arguments."""
    constructor = _generated_constructor(cls, error)
    if type(error) not in _REPEATED or constructor is None:
        return None
    frame, owner = constructor.tb_frame, cls.__name__
    for name, annotation in cls.__init__.__annotations__.items():  # type: ignore[misc] # of the class that failed
        expected = formatannotation(annotation)
        if name in frame.f_locals and not _fits(frame.f_locals[name], expected):
            return TypeError(f"{owner}.{name}: expected {expected}, got {shown(name, frame.f_locals)}")
    inner = constructor.tb_next
    if inner is not None and not inner.tb_frame.f_globals["__name__"].startswith("torch."):
        return None  # from user code, or an error of ours that names the class
    expression = _running(frame, constructor.tb_lasti)
    if expression.startswith("raise "):  # a check, whose error says all of this
        return None
    values = {name: value for name, value in frame.f_locals.items() if name != "self" and value is not None}
    got = [f"{path} = {shown(path, values)}" for path in paths(expression, values)]
    return type(error)(f"{owner}: cannot compute {expression} of {', '.join(got)}: {error}") if got else None


def _generated_constructor(cls: type, error: Exception) -> TracebackType | None:
    """The entry in an error's traceback of the generated constructor of a class; None where the error is not from there."""
    generated = (vars(base) for base in cls.__mro__ if "_fingerprint" in vars(base))
    codes = [unwrap(each["__init__"]).__code__ for each in generated if "__init__" in each]
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code not in codes:
        entry = entry.tb_next
    return entry


def _running(frame: FrameType, instruction: int) -> str:
    """The expression of a frame that an instruction evaluates; empty where its source is not there."""
    line, last, start, end = next(islice(frame.f_code.co_positions(), instruction // 2, None))
    lines = linecache.getlines(frame.f_code.co_filename)[(line or 1) - 1 : last]
    if not lines or start is None or end is None:
        return ""
    lines[-1] = lines[-1].encode()[:end].decode()
    lines[0] = lines[0].encode()[start:].decode()
    try:
        return ast.unparse(ast.parse("".join(lines).strip()))
    except SyntaxError:
        return ""


def _fits(value: object, annotation: str) -> bool:
    """True if a value may be of an annotated type. Of a type that is not a plain builtin one, any value may be."""
    name, _, inside = annotation.replace("typing.", "").partition("[")
    if " | " in name or "] | " in inside:
        return any(_fits(value, each) for each in annotation.split(" | "))
    match name:
        case "int":
            return hasattr(value, "__index__")
        case "float":
            return isinstance(value, SupportsFloat) or hasattr(value, "__index__")
        case "str" | "None":
            return isinstance(value, str) if name == "str" else value is None
        case "list" | "tuple":
            sizes = set(inside.rstrip("]").split(", ")) - {"..."} == {"int"}
            return isinstance(value, list | tuple) and (not sizes or all(_fits(item, "int") for item in value))
    return True
