"""Mends sources where a rule knows a certain or a likely way (see `Fix.is_sure`), by a codemod. Nothing else in them changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ..model.diagnostics import Fix, Span
from ..read.syntax import decode, encoding_of, parse

_OPERANDS = 4000
"""How many operators a text may have that libcst's parser descends into: it overflows the stack, which ends the process."""


class CannotRewrite(Exception):
    """Why a source stays as it is."""


def rewritten(text: str, change: Callable[[cst.Module], cst.Module]) -> str:
    """The text with a change made to its tree.

    Raises:
        CannotRewrite: libcst cannot parse the text, or it would not write the rest of it back as it was.

    >>> rewritten("x = 1  # one\\r\\n", lambda module: module.with_changes(body=[*module.body, *module.body]))
    'x = 1  # one\\r\\nx = 1  # one\\r\\n'
    """
    if text.count(" and ") + text.count(" or ") > _OPERANDS:
        raise CannotRewrite("it is too large for libcst, which rewrites it")
    content = text.removesuffix("\r")  # which libcst would drop
    rest = text[len(content) :]
    try:
        module = cst.parse_module(content)
        if module.code != content:
            raise CannotRewrite(
                "libcst, which rewrites it, would change other lines too: one may begin with a form feed"
            )
        return change(module).code + rest
    except cst.ParserSyntaxError as error:
        raise CannotRewrite(f"libcst, which rewrites it, cannot parse line {error.raw_line}") from error
    except RecursionError as error:
        raise CannotRewrite("it is nested too deeply for libcst, which rewrites it") from error


def fixed(fixes: Iterable[Fix], data: bytes) -> bytes:
    """The bytes of a source with fixes. Of fixes of one part, only the first is made.

    Raises:
        CannotRewrite: It would not be Python any more, cannot be encoded, or libcst cannot parse it.
    """
    encoding, text = encoding_of(data), decode(data, "")
    if not isinstance(text, str) or not isinstance(encoding, str):
        raise CannotRewrite("it cannot be decoded")
    new = rewritten(text, lambda module: MetadataWrapper(module, unsafe_skip_copy=True).visit(_Mending(fixes)))
    if not isinstance(parse(new, ""), ast.Module):
        raise CannotRewrite("it would not be Python any more")
    try:
        return new.encode(encoding)
    except UnicodeEncodeError as error:
        raise CannotRewrite(f"{encoding} cannot hold the new text") from error


class _Mending(cst.CSTTransformer):
    """Replaces or extends the nodes that stand where fixes are."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, fixes: Iterable[Fix]) -> None:
        super().__init__()
        self.whole: dict[CodeRange, Fix] = {}
        self.within: dict[int, list[Fix]] = {}
        for fix in fixes:
            if fix.within is None:
                self.whole.setdefault(_range(fix.span), fix)
            else:
                self.within.setdefault(fix.span.line, []).append(fix)
        self.ends = {where.end: fix for where, fix in self.whole.items()}

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """An argument gets another value."""
        # Where a tuple begins, `ast` and libcst disagree: one counts its parentheses. An argument ends with them in both.
        fix = self.whole.get(self._where(original_node.value)) or self.ends.get(self._where(original_node).end)
        if fix is None or fix.is_behind:
            return updated_node
        return updated_node.with_changes(value=cst.parse_expression(fix.text))

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def _renamed(self, original_node: cst.BaseExpression, updated_node: cst.BaseExpression) -> cst.BaseExpression:
        """Another name: of a type, or of a keyword."""
        fix = self.whole.get(self._where(original_node))
        is_name = fix is not None and not fix.is_behind and fix.text.replace(".", "").isidentifier()
        return cst.parse_expression(fix.text) if fix is not None and is_name else updated_node

    def leave_Annotation(self, original_node: cst.Annotation, updated_node: cst.Annotation) -> cst.Annotation:
        """A type that is not in quotes, where the text would not become part of the annotation."""
        fix = self.whole.get(self._where(original_node.annotation))
        written = updated_node.annotation
        if fix is None or not fix.is_behind or isinstance(written, cst.SimpleString | cst.ConcatenatedString):
            return updated_node
        text = f"{cst.Module([]).code_for_node(written)}{fix.text}"
        return updated_node.with_changes(annotation=cst.parse_expression(text))

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        """A part of a string, such as a name in a dimension."""
        where, value, end = self._where(original_node), updated_node.value, len(updated_node.value)
        # From the end, so that the columns of the others stay right.
        for fix in sorted(self.within.get(where.start.line, ()), key=lambda fix: fix.span.column, reverse=True):
            first, last = (column - 1 - where.start.column for column in (fix.span.column, fix.span.end_column))
            if 0 < first <= last <= end:
                # A fix that overlaps with one behind it is left out: `end` is where that begins.
                value, end = value[:first] + fix.text + value[last:], first
        return updated_node.with_changes(value=value)

    def _where(self, node: cst.CSTNode) -> CodeRange:
        found = self.get_metadata(PositionProvider, node)
        assert isinstance(found, CodeRange)
        return found


def _range(span: Span) -> CodeRange:
    """The position of a span, whose columns count from 1."""
    return CodeRange((span.line, span.column - 1), (span.end_line, span.end_column - 1))
