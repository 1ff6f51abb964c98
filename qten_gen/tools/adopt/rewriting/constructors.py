"""Puts fields and `__post_init__` in place of a constructor, with the comments of what they come from."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import libcst as cst
from libcst.metadata import ExpressionContext, ExpressionContextProvider, MetadataWrapper

from ..changes import ReplaceConstructor
from ..declaring.pieces import CheckPiece, FieldPiece, MovedPiece
from .comments import Comments, comments_of
from .layout import wrapped
from .statements import BLANK, Statement, body_of, comment_line, comments_in, in_body, under


def declared(cls: cst.ClassDef, change: ReplaceConstructor, newline: str) -> cst.ClassDef:
    """A class with fields in place of its constructor."""
    body = _without_annotations(body_of(cls), change.annotated)
    init = next(each for each in body if isinstance(each, cst.FunctionDef) and each.name.value == "__init__")
    at = body.index(init)
    new, rest = _Writer(init, change, newline).statements(is_documented=cls.get_docstring(clean=False) is not None)
    new[0] = under([*init.leading_lines, *new[0].leading_lines], new[0])
    if init.get_docstring(clean=False) is not None and cls.get_docstring(clean=False) is not None:
        body[0] = _documented(body[0], init, change.indentations, newline)
    end, behind = [comment_line(each) for each in rest], body[at + 1 :]
    if end and behind:
        behind[0] = under([*end, *behind[0].leading_lines], behind[0])
        end = []
    return in_body(cls, [*body[:at], *new, *behind], end)


def _without_annotations(body: Sequence[Statement], names: frozenset[str]) -> list[Statement]:
    """The statements without annotations that have no value. Comments above them are kept."""
    kept: list[Statement] = []
    comments: list[str] = []
    for statement in body:
        left: Statement = statement
        if isinstance(statement, cst.SimpleStatementLine):
            parts = [each for each in statement.body if not _is_annotation(each, names)]
            if not parts:
                comments += comments_in(statement.leading_lines)
                continue
            if len(parts) < len(statement.body):
                parts[-1] = parts[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
                left = statement.with_changes(body=parts)
        above = [*left.leading_lines]
        while not kept and left is not body[0] and above and above[0].comment is None:
            del above[0]  # a body does not begin with a blank line
        kept.append(under([*map(comment_line, comments), *above], left))
        comments = []
    return kept


def _is_annotation(statement: cst.BaseSmallStatement, names: frozenset[str]) -> bool:
    return (
        isinstance(statement, cst.AnnAssign)
        and statement.value is None
        and isinstance(statement.target, cst.Name)
        and statement.target.value in names
    )


def _documented(statement: Statement, init: cst.FunctionDef, indentations: tuple[str, str], newline: str) -> Statement:
    """The documentation of the class, with that of the constructor behind it."""
    old = cst.ensure_type(cst.ensure_type(statement, cst.SimpleStatementLine).body[0], cst.Expr)
    literal, blank = cst.ensure_type(old.value, cst.SimpleString), indentations[0]
    text = _text_of(_documentation(init), newline)[3:-3].strip("\n")
    lines = _dedented(text, indentations).rstrip()
    joined = (
        f'{literal.value[:-3].rstrip()}{newline}{newline}{blank}{lines.replace(chr(10), newline)}{newline}{blank}"""'
    )
    return statement.with_deep_changes(literal, value=joined)


def _documentation(init: cst.FunctionDef) -> cst.SimpleString:
    """The documentation of a constructor that has one."""
    first = cst.ensure_type(init.body.body[0], cst.SimpleStatementLine)
    return cst.ensure_type(cst.ensure_type(first.body[0], cst.Expr).value, cst.SimpleString)


def _text_of(literal: cst.SimpleString, newline: str) -> str:
    return literal.value.replace(newline, "\n")


def _dedented(text: str, indentations: tuple[str, str]) -> str:
    """The lines of a text with the indentation of the class body in place of that of the constructor; the first has none."""
    new, old = indentations
    first, *others = text.split("\n")
    return "\n".join([first.strip(), *(new + line[len(old) :] if line.startswith(old) else line for line in others)])


class _Writer:
    """Writes the fields and `__post_init__`."""

    def __init__(self, init: cst.FunctionDef, change: ReplaceConstructor, newline: str) -> None:
        """Find out which comments belong to which piece."""
        self.init = init
        self.change = change
        self.newline = newline
        self.config = cst.PartialParserConfig(default_newline=newline)
        self.limit = change.limit - len(change.indentations[0])
        pieces, owners = change.taken.pieces, change.taken.owners
        fields = {piece.name: piece.origin for piece in pieces if isinstance(piece, FieldPiece)}
        receivers: dict[ast.AST, ast.AST] = {node: fields[name] for node, name in owners.items() if name in fields}
        receivers |= {piece.origin: piece.origin for piece in pieces}
        kept = {piece.origin for piece in pieces if isinstance(piece, MovedPiece)}
        self.comments, self.rest = comments_of(init, change.init, receivers, kept)

    def statements(self, is_documented: bool) -> tuple[list[Statement], list[str]]:
        """The statements that take the place of the constructor, and the comments behind them."""
        found: list[Statement] = []
        if not is_documented and self.init.get_docstring(clean=False) is not None:
            text = _dedented(_text_of(_documentation(self.init), self.newline), self.change.indentations)
            found.append(cst.SimpleStatementLine([cst.Expr(cst.SimpleString(text.replace("\n", self.newline)))]))
        declared = [piece for piece in self.change.taken.pieces if not isinstance(piece, MovedPiece)]
        declared.sort(key=lambda piece: not isinstance(piece.origin, ast.arg))
        for before, piece in zip([None, *declared], declared, strict=False):
            own = self.comments.pop(piece.origin, Comments())
            own.is_apart &= before is not None and not isinstance(before.origin, ast.arg)
            own.is_apart |= before is None and bool(found)
            found.append(self._declared(piece, own))
        moved = [piece for piece in self.change.taken.pieces if isinstance(piece, MovedPiece)]
        return ([*found, self._post_init(moved)], []) if moved else (found, self.rest)

    def _declared(self, piece: FieldPiece | CheckPiece, comments: Comments) -> Statement:
        """A field or check, with its comments."""
        if isinstance(piece, CheckPiece):
            line = piece.text
        else:
            line = f"{piece.name}: {piece.annotation}" + ("" if piece.value is None else f" = {piece.value}")
        lines = wrapped(line, self.limit)
        after = "  ".join(comments.after)
        above = list(comments.above)
        if after and len(f"{lines[-1]}  {after}") > self.limit:
            above, after = above + comments.after, ""
        statement = cst.parse_statement("\n".join(lines).replace("\n", self.newline), self.config)
        space = (
            cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment(after))
            if after
            else cst.TrailingWhitespace()
        )
        return under(_lines(above, comments.is_apart), statement.with_changes(trailing_whitespace=space))

    def _post_init(self, moved: Sequence[MovedPiece]) -> Statement:
        """The method that does what is no declaration."""
        steps: list[Statement] = []
        statements = dict(zip(self.change.init.body, body_of(self.init), strict=True))
        for piece in moved:
            own = self.comments[piece.origin]
            above = _lines(own.above, own.is_apart and bool(steps))
            steps.append(under(above, _reading(statements[piece.origin], piece.names)))
        method = cst.parse_statement("def __post_init__(self) -> None: ...", self.config)
        footer = [comment_line(each) for each in self.rest]
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
