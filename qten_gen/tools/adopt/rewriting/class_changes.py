"""Makes the changes of class statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from ..adoption import Change
from .statements import BLANK, Statement, body_of, in_body, under


class ChangeClasses(cst.CSTTransformer):
    """Changes the classes of a file, by name. What is in functions and in other classes is left alone."""

    def __init__(self, changes: Mapping[str, Sequence[Change]]) -> None:
        super().__init__()
        self.changes = changes

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        return False

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        for change in self.changes.get(original_node.name.value, ()):
            updated_node = change(updated_node)
        return updated_node


def with_base(cls: cst.ClassDef, position: int, text: str) -> cst.ClassDef:
    """Another name in a base: `Module` for `nn.Module`, and the same inside of `TensorClass["nocast"]`."""
    base = cls.bases[position]
    head: cst.CSTNode = base.value
    while isinstance(head, cst.Subscript):
        head = head.value
    # Parentheses around the base stay.
    name = cst.parse_expression(text).with_changes(lpar=getattr(head, "lpar", ()), rpar=getattr(head, "rpar", ()))
    new = base.with_changes(value=name if head is base.value else base.value.deep_replace(head, name))
    return cls.with_changes(bases=[*cls.bases[:position], new, *cls.bases[position + 1 :]])


def with_arguments(cls: cst.ClassDef, added: Sequence[str]) -> cst.ClassDef:
    """Further bases behind those that are there, and further keywords, such as `init=False`, before."""
    new = cst.ensure_type(cst.parse_expression(f"_({', '.join(added)})"), cst.Call).args
    bases = [*cls.bases, *(each for each in new if each.keyword is None)]
    return _with(cls, bases, [*(each for each in new if each.keyword is not None), *cls.keywords])


def _with(cls: cst.ClassDef, bases: Sequence[cst.Arg], keywords: Sequence[cst.Arg]) -> cst.ClassDef:
    """A class with other arguments. Behind the last one stands what stood behind the last one before."""
    before, arguments = [*cls.bases, *cls.keywords], [*bases, *keywords]
    if before and arguments and arguments[-1] is not before[-1]:
        last, space = before[-1], cst.SimpleWhitespace("")
        for index, each in enumerate(arguments[:-1]):
            if each is last or not isinstance(each.comma, cst.Comma):
                comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                arguments[index] = each.with_changes(comma=comma, whitespace_after_arg=space)
        end = arguments[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        arguments[-1] = end
    return cls.with_changes(bases=arguments[: len(bases)], keywords=arguments[len(bases) :])


def without_decorator(cls: cst.ClassDef, position: int) -> cst.ClassDef:
    """A class without one of its decorators."""
    return cls.with_changes(decorators=[*cls.decorators[:position], *cls.decorators[position + 1 :]])


def with_annotations(cls: cst.ClassDef, lines: Sequence[str]) -> cst.ClassDef:
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


def allowing_none(cls: cst.ClassDef, field: str) -> cst.ClassDef:
    """A class whose annotation of a field with the default None says so."""
    return cls.with_changes(body=cls.body.visit(_AllowNone(field)))


class _AllowNone(cst.CSTTransformer):
    """Adds `| None` to the annotation of a field, inside of quotes if it is in some."""

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:
        names = [each.value for each in (updated_node.target, updated_node.value) if isinstance(each, cst.Name)]
        if names != [self.field, "None"]:
            return updated_node
        written = updated_node.annotation.annotation
        none: cst.BaseExpression = cst.BinaryOperation(written, cst.BitOr(), cst.Name("None"))
        if isinstance(written, cst.SimpleString):
            none = written.with_changes(value=written.value.removesuffix(written.quote) + f" | None{written.quote}")
        return updated_node.with_deep_changes(updated_node.annotation, annotation=none)


def with_result(cls: cst.ClassDef, method: str, text: str) -> cst.ClassDef:
    """A class whose first method of a name says what it returns."""
    found = next(each for each in body_of(cls) if isinstance(each, cst.FunctionDef) and each.name.value == method)
    return cls.with_deep_changes(found, returns=cst.Annotation(cst.parse_expression(text)))
