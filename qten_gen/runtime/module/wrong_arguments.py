"""The errors of constructors that cannot compute with their arguments: which class and argument, expected and got."""

from __future__ import annotations

import ast
import linecache
from inspect import formatannotation, unwrap
from itertools import islice, takewhile
from types import TracebackType
from typing import SupportsFloat

from .construction import mentioned, shown

_CALLED_BY_GENERATED_CODE = tuple(
    f"{__package__}.{name}" for name in ("construction", "initialisation", "registration", "ties")
)
"""The modules whose functions carry out one expression of a constructor."""


def explained(cls: type, error: Exception) -> Exception | None:
    """The error to raise in place of one from a generated constructor; None where that one says enough."""
    entries = _from_constructor(cls, error)
    if not entries or type(error).__module__ != "builtins" or len(error.args) != 1:
        return None  # of other types, such as those for memory, callers read more than the message
    owner, taken = cls.__name__, entries[0].tb_frame.f_locals
    for name, annotation in cls.__init__.__annotations__.items():  # type: ignore[misc] # of the class that failed
        expected = formatannotation(annotation)
        if name in taken and not _fits(taken[name], expected):
            return TypeError(f"{owner}.{name}: expected {expected}, got {shown(taken[name])}")
    file = entries[0].tb_frame.f_code.co_filename  # of its comprehensions and of `reset_parameters` too
    *_, last = takewhile(lambda each: each.tb_frame.f_code.co_filename == file, entries)
    called = (each.tb_frame.f_globals["__name__"] for each in entries[entries.index(last) + 1 :])
    source = next((name for name in called if name not in _CALLED_BY_GENERATED_CODE), "torch.")
    named = tuple(f"{base.__name__}{end}" for base in cls.__mro__ for end in ".:")
    expression = _running(last)
    if not expression or not source.startswith("torch.") or str(error).startswith(named):
        return None  # from user code, or an error of ours that names the class, such as the one of a check
    values = {name: value for name, value in last.tb_frame.f_locals.items() if name != "self" and value is not None}
    got = mentioned(expression, values)
    kind = ValueError if isinstance(error, KeyError) else type(error)  # a KeyError would quote the text
    return kind(f"{owner}: cannot compute {_as_declared(expression)}{got and f' of {got}'}: {error.args[0]}")


def _from_constructor(cls: type, error: Exception) -> list[TracebackType]:
    """The entries of an error's traceback from the generated constructor of a class on; none where it is not from there."""
    generated = (vars(base) for base in cls.__mro__ if "_fingerprint" in vars(base))
    codes = [unwrap(each["__init__"]).__code__ for each in generated if "__init__" in each]
    entries: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        if entries or entry.tb_frame.f_code in codes:
            entries.append(entry)
        entry = entry.tb_next
    return entries


def _running(entry: TracebackType) -> str:
    """The expression that an entry of a traceback was evaluating; empty where its source is not there."""
    code = entry.tb_frame.f_code
    line, last, start, end = next(islice(code.co_positions(), entry.tb_lasti // 2, None))
    lines = linecache.getlines(code.co_filename)
    if not lines or line is None or last is None or start is None or end is None:
        return ""
    place = ast.expr(lineno=line, end_lineno=last, col_offset=start, end_col_offset=end)
    try:
        return ast.unparse(ast.parse(ast.get_source_segment("".join(lines), place) or ""))
    except SyntaxError:
        return ""


def _as_declared(expression: str) -> str:
    """An expression of generated code in the words of a declaration: without aliases, and what each call passes on."""
    return ast.unparse(_InWords().visit(ast.parse(expression, mode="eval")))


class _InWords(ast.NodeTransformer):
    """Gives the names of generated code their names in a declaration: `nn.Linear` for `_nn.Linear`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name({"_nn": "nn", "_torch": "torch", "_name": "key"}.get(node.id, node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in ("_rt", "_features"):
            return ast.Name("nn.init" if node.attr == "init" else node.attr)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call without `device` and `dtype`; in place of one of our functions, the specifier that asked for it."""
        self.generic_visit(node)
        node.keywords = [each for each in node.keywords if ast.unparse(each) not in ("device=device", "dtype=dtype")]
        match ast.unparse(node.func):
            case "register_value" | "register_parameter_value" as register:
                kind = "buffer" if register == "register_value" else "param"
                return ast.Call(ast.Name(kind), [], [ast.keyword("value", node.args[2])])
            case "construct":
                node.func, *node.args = node.args
            case "chosen":
                return ast.Call(ast.Name("choice"), [node.args[3]], [])
            case "tied_parameter":
                return ast.Call(ast.Name("param"), [], [ast.keyword("tie", node.args[1])])
            case "from_declaration":
                return ast.Name(str(ast.literal_eval(node.args[1])))
        return node


def _fits(value: object, annotation: str) -> bool:
    """True if a value may be of an annotated type. Of a type that is not a plain builtin one, any value may be."""
    name, _, inside = annotation.replace("typing.", "").partition("[")
    if " | " in name or "] | " in inside:
        return any(_fits(value, each) for each in annotation.split(" | "))
    match name:
        case "int" | "float":
            return hasattr(value, "__index__") or (name == "float" and isinstance(value, SupportsFloat))
        case "str" | "None":
            return isinstance(value, str) if name == "str" else value is None
        case "type":
            return callable(value)
        case "list" | "tuple":
            sizes = set(inside.rstrip("]").split(", ")) - {"..."} == {"int"}
            return isinstance(value, list | tuple) and (not sizes or all(_fits(item, "int") for item in value))
    return True
