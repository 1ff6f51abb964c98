"""Makes the changes of class statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from ..changes import (
    AddAnnotations,
    AddArguments,
    AddResult,
    AllowNone,
    Change,
    RemoveDecorator,
    RemoveKeyword,
    ReplaceBase,
    ReplaceConstructor,
)
from .constructors import declared
from .statements import BLANK, Statement, body_of, in_body, under


class ChangeClasses(cst.CSTTransformer):
    """Changes the classes of a file, by name. What is in functions and in other classes is left alone."""

    def __init__(self, changes: Mapping[str, Sequence[Change]]) -> None:
        super().__init__()
        self.changes = changes
        self.newline = "\n"

    def visit_Module(self, node: cst.Module) -> None:
        self.newline = node.default_newline

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        for change in self.changes.get(original_node.name.value, ()):
            updated_node = _changed(updated_node, change, self.newline)
        return updated_node


def _changed(cls: cst.ClassDef, change: Change, newline: str) -> cst.ClassDef:
    """A class with one change."""
    match change:
        case ReplaceBase(position, text):
            return _with_base(cls, position, text)
        case AddArguments(bases, keywords):
            return _with_arguments(cls, bases, keywords)
        case RemoveKeyword(name):
            return _without_keyword(cls, name)
        case RemoveDecorator(position):
            return cls.with_changes(decorators=[*cls.decorators[:position], *cls.decorators[position + 1 :]])
        case AllowNone(field):
            return cls.with_changes(body=cls.body.visit(_AllowNone(field)))
        case AddAnnotations(lines):
            return _with_annotations(cls, lines)
        case AddResult(method, text):
            return cls.with_changes(body=cls.body.visit(_AddResult(method, text)))
        case ReplaceConstructor():
            return declared(cls, change, newline)


def _with_base(cls: cst.ClassDef, position: int, text: str) -> cst.ClassDef:
    """Another name in a base: `Module` for `nn.Module`, and the same inside of `TensorClass["nocast"]`."""
    base = cls.bases[position]
    head: cst.CSTNode = base.value
    while isinstance(head, cst.Subscript):
        head = head.value
    name = cst.parse_expression(text).with_changes(lpar=getattr(head, "lpar", ()), rpar=getattr(head, "rpar", ()))
    new = base.with_changes(value=name if head is base.value else base.value.deep_replace(head, name))
    return cls.with_changes(bases=[*cls.bases[:position], new, *cls.bases[position + 1 :]])


def _with_arguments(cls: cst.ClassDef, bases: Sequence[str], keywords: Sequence[str]) -> cst.ClassDef:
    """Further bases behind those that are there, and further keywords before."""
    added = cst.ensure_type(cst.parse_expression(f"_({', '.join([*bases, *keywords])})"), cst.Call).args
    first, last = [*cls.bases, *added[: len(bases)]], [*added[len(bases) :], *cls.keywords]
    arguments = _separated([*first, *last], [*cls.bases, *cls.keywords])
    return cls.with_changes(bases=arguments[: len(first)], keywords=arguments[len(first) :])


def _without_keyword(cls: cst.ClassDef, name: str) -> cst.ClassDef:
    """The class statement without a keyword such as `init=False`."""
    kept = [each for each in cls.keywords if each.keyword is None or each.keyword.value != name]
    arguments = _separated([*cls.bases, *kept], [*cls.bases, *cls.keywords])
    return cls.with_changes(bases=arguments[: len(cls.bases)], keywords=arguments[len(cls.bases) :])


def _separated(arguments: Sequence[cst.Arg], before: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Arguments with commas between them. Behind the last one stands what stood behind the last one before."""
    if not arguments or not before:
        return [*arguments]
    *inner, end = arguments
    inner = [
        each.with_changes(comma=_COMMA, whitespace_after_arg=_NOTHING)
        if each is before[-1] or not isinstance(each.comma, cst.Comma)
        else each
        for each in inner
    ]
    return [*inner, end.with_changes(comma=before[-1].comma, whitespace_after_arg=before[-1].whitespace_after_arg)]


_NOTHING = cst.SimpleWhitespace("")
_COMMA = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _with_annotations(cls: cst.ClassDef, lines: Sequence[str]) -> cst.ClassDef:
    """Statements at the beginning of the class body, set apart from its documentation and its methods."""
    body = body_of(cls)
    at = 1 if len(body) > 1 and cls.get_docstring(clean=False) is not None else 0
    new: list[Statement] = [cst.parse_statement(line) for line in lines]
    new[0] = under([BLANK] if at else [], new[0])
    behind = body[at].leading_lines
    is_apart = bool(behind) and behind[0].comment is None
    first = body[at]
    if not is_apart and not (isinstance(first, cst.SimpleStatementLine) and isinstance(first.body[0], cst.AnnAssign)):
        body[at] = under([BLANK, *behind], body[at])
    return in_body(cls, [*body[:at], *new, *body[at:]])


class _OfBody(cst.CSTTransformer):
    """Goes through the statements of a class body, and not into functions and other classes."""

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False


class _AllowNone(_OfBody):
    """Adds `| None` to the annotation of a field, inside of quotes if it is in some."""

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:
        names = [each.value for each in (updated_node.target, updated_node.value) if isinstance(each, cst.Name)]
        if names != [self.field, "None"]:
            return updated_node
        written = updated_node.annotation.annotation
        none: cst.BaseExpression = cst.BinaryOperation(written, cst.BitOr(), cst.Name("None"))
        if isinstance(written, cst.SimpleString):
            none = written.with_changes(value=written.value.removesuffix(written.quote) + f" | None{written.quote}")
        return updated_node.with_deep_changes(updated_node.annotation, annotation=none)


class _AddResult(_OfBody):
    """Adds `-> Tensor` to the first method of a name."""

    def __init__(self, method: str, text: str) -> None:
        super().__init__()
        self.method = method
        self.result: cst.Annotation | None = cst.Annotation(cst.parse_expression(text))

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        if updated_node.name.value != self.method or self.result is None:
            return updated_node
        result, self.result = self.result, None
        return updated_node.with_changes(returns=result)
