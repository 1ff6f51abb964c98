"""Puts fields and `__post_init__` in place of a constructor, with the comments of what they come from."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import libcst as cst
from libcst.metadata import ExpressionContext, ExpressionContextProvider, MetadataWrapper

from ..declaring.pieces import CheckPiece, FieldPiece, MovedPiece, Taken
from ..source_text import Text
from .comments import Comments, comments_of
from .line_breaks import wrapped
from .statements import BLANK, Statement, body_of, comment_line, in_body, parts_of, under, without_empty


def declared(
    cls: cst.ClassDef, node: ast.FunctionDef, taken: Taken, annotated: frozenset[str], text: Text
) -> cst.ClassDef:
    """A class with fields in place of its constructor.

    Args:
        cls: The class.
        node: The constructor, as the levels know it.
        taken: What it was taken apart into.
        annotated: The fields that the class body annotates already. Their annotations go.
        text: The text of the file.
    """
    body = without_empty(_without_annotations(line, annotated) for line in body_of(cls))
    init = next(each for each in body if isinstance(each, cst.FunctionDef) and each.name.value == "__init__")
    at = body.index(init)
    new, rest = _Writer(init, node, taken, text).statements()
    if init.get_docstring(clean=False) is not None:
        documentation = _dedented(_documentation(init), node, text)
        if cls.get_docstring(clean=False) is not None:
            body[0] = _documented(body[0], documentation, node, text)
        else:
            new[0] = under([BLANK, *new[0].leading_lines], new[0])
            new.insert(0, cst.SimpleStatementLine([cst.Expr(cst.SimpleString(documentation))]))
    new[0] = under([*init.leading_lines, *new[0].leading_lines], new[0])
    end, behind = [comment_line(each) for each in rest], body[at + 1 :]
    if behind:
        behind[0] = under([*end, *behind[0].leading_lines], behind[0])
    return in_body(cls, [*body[:at], *new, *behind], [] if behind else end)


def _without_annotations(line: Statement, names: frozenset[str]) -> Statement:
    """A line without annotations that have no value; an empty one if nothing is left of it."""
    kept = [each for each in parts_of(line) if not _is_annotation(each, names)]
    if kept and len(kept) < len(parts_of(line)):  # no semicolon before nothing
        kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=kept) if len(kept) < len(parts_of(line)) else line


def _is_annotation(statement: cst.CSTNode, names: frozenset[str]) -> bool:
    return (
        isinstance(statement, cst.AnnAssign)
        and statement.value is None
        and isinstance(statement.target, cst.Name)
        and statement.target.value in names
    )


def _documented(statement: Statement, added: str, node: ast.FunctionDef, text: Text) -> Statement:
    """The documentation of the class, with that of the constructor behind it. Both stand in three double quotes."""
    old = cst.ensure_type(cst.ensure_type(statement, cst.SimpleStatementLine).body[0], cst.Expr)
    literal, blank = cst.ensure_type(old.value, cst.SimpleString), text.newline + text.indentation(node.lineno)
    lines = added[3:-3].strip("\r\n").strip()
    joined = f'{literal.value[:-3].rstrip()}{text.newline}{blank}{lines}{blank}"""'
    return statement.with_deep_changes(literal, value=joined)


def _documentation(init: cst.FunctionDef) -> str:
    """The documentation of a constructor that has one, as it is written."""
    first = cst.ensure_type(init.body.body[0], cst.SimpleStatementLine)
    return cst.ensure_type(cst.ensure_type(first.body[0], cst.Expr).value, cst.SimpleString).value


def _dedented(literal: str, node: ast.FunctionDef, text: Text) -> str:
    """A string literal whose lines have the indentation of the class body in place of that of the constructor."""
    new, old = (text.newline + text.indentation(each.lineno) for each in (node, node.body[0]))
    return literal.replace(old, new)


class _Writer:
    """Writes the fields and `__post_init__`."""

    def __init__(self, init: cst.FunctionDef, node: ast.FunctionDef, taken: Taken, text: Text) -> None:
        """Find out how long lines may be, and which comments belong to which piece."""
        self.init = init
        self.node = node
        self.pieces = taken.pieces
        self.annotated = taken.annotated
        self.newline = text.newline
        longest = max(map(len, text.lines))
        # 88, 100 and 120 are what formatters are set to; what the file has already shows which.
        self.limit = (120 if longest > 100 else 100 if longest > 88 else 88) - len(text.indentation(node.lineno))
        fields = {piece.name: piece.origin for piece in self.pieces if isinstance(piece, FieldPiece)}
        receivers = {part: fields[name] for part, name in taken.owners.items() if name in fields}
        receivers |= {piece.origin: piece.origin for piece in self.pieces}
        kept = {piece.origin for piece in self.pieces if isinstance(piece, MovedPiece)}
        self.comments, self.rest = comments_of(init, node, receivers, kept)

    def statements(self) -> tuple[list[Statement], list[str]]:
        """The statements that take the place of the constructor, and the comments behind them."""
        found: list[Statement] = []
        declared = [piece for piece in self.pieces if not isinstance(piece, MovedPiece)]
        declared.sort(key=lambda piece: not isinstance(piece.origin, ast.arg))
        for before, piece in zip([None, *declared], declared, strict=False):
            own = self.comments.pop(piece.origin, Comments())
            own.is_apart &= before is not None and not isinstance(before.origin, ast.arg)
            found.append(self._declared(piece, own))
        moved = [piece for piece in self.pieces if isinstance(piece, MovedPiece)]
        return ([*found, self._post_init(moved)], []) if moved else (found, self.rest)

    def _declared(self, piece: FieldPiece | CheckPiece, comments: Comments) -> Statement:
        """A field or check, with its comments."""
        if isinstance(piece, CheckPiece):
            line = piece.text
        else:
            line = f"{piece.name}: {piece.annotation}" + ("" if piece.value is None else f" = {piece.value}")
        lines = wrapped(line, self.limit)
        after = "".join(f"  {comment}" for comment in comments.after)
        above = list(comments.above)
        if len(lines[-1] + after) > self.limit:
            above, after = above + comments.after, ""
        text = "\n".join(lines).replace("\n", self.newline) + after
        statement = cst.parse_statement(text, cst.PartialParserConfig(default_newline=self.newline))
        return under(_lines(above, comments.is_apart), statement)

    def _post_init(self, moved: Sequence[MovedPiece]) -> Statement:
        """The method that does what is no declaration."""
        steps: list[Statement] = [cst.parse_statement(f"self.{name}: {text}") for name, text in self.annotated.items()]
        statements = dict(zip(self.node.body, body_of(self.init), strict=True))
        for piece in moved:
            own = self.comments.get(piece.origin, Comments())  # a field may have taken them
            above = _lines(own.above, own.is_apart and bool(steps))
            steps += [cst.parse_statement(line) for line in piece.before]
            steps.append(under(above, _reading(statements[piece.origin], piece.names)))
        method = cst.parse_statement("def __post_init__(self) -> None: ...")
        footer = [comment_line(each) for each in self.rest]
        # The comment of the head has gone to the first part.
        body = self.init.body.with_changes(body=steps, footer=footer, header=cst.TrailingWhitespace())
        return under([BLANK], method.with_changes(body=body))


def _lines(comments: Sequence[str], is_apart: bool) -> list[cst.EmptyLine]:
    """The lines above a statement."""
    return [*([BLANK] if is_apart else []), *map(comment_line, comments)]


def _reading(statement: Statement, names: Mapping[str, str]) -> Statement:
    """A statement that reads expressions in place of names, such as `self.dim` in place of `dim`."""
    if not names:
        return statement
    module = MetadataWrapper(cst.Module([statement]), unsafe_skip_copy=True).visit(_Reading(names))
    return module.body[0]


class _Reading(cst.CSTTransformer):
    """Replaces names where they are read."""

    METADATA_DEPENDENCIES = (ExpressionContextProvider,)

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """The name of a keyword argument is read nowhere, though libcst says so."""
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        is_read = self.get_metadata(ExpressionContextProvider, original_node, None) is ExpressionContext.LOAD
        text = self.names.get(original_node.value) if is_read else None
        return updated_node if text is None else cst.parse_expression(text)
