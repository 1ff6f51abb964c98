"""Raises the version of a class in its source, and writes what `migrate` has to do with older state dicts."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from libcst import matchers as m
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand
from libcst.codemod.visitors import AddImportsVisitor

from ...generate.rewriting import CannotRewrite, rewritten

__all__ = ["CannotRewrite", "with_migration"]

_MIGRATE = """
@classmethod
def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
    pass
"""


def with_migration(text: str, name: str, version: int, lines: Sequence[str]) -> str | None:
    """The source with the version of a class raised and the statements at the end of its `migrate`.

    None if the source has no class of that name on its top level.

    Raises:
        CannotRewrite: libcst cannot parse the source.
    """
    command = _Migrate(CodemodContext(), name, version, lines)
    made = rewritten(text, command.transform_module)
    return made if command.is_done else None


class _Migrate(VisitorBasedCodemodCommand):
    DESCRIPTION = "Raise the version of a class, and migrate older state dicts."

    def __init__(self, context: CodemodContext, name: str, version: int, lines: Sequence[str]) -> None:
        super().__init__(context)
        self.name = name
        self.version = version
        self.lines = lines
        self.is_done = False
        self._depth = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return bool(self._depth)  # what is in a function of its own is not on the top level

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self._depth += 1

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        self._depth -= 1
        if self._depth or original_node.name.value != self.name or not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        self.is_done = True
        body = _with_version(list(updated_node.body.body), self.version)
        if not any(isinstance(each, cst.FunctionDef) and each.name.value == "migrate" for each in body):
            body.append(cst.parse_statement(_MIGRATE).with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
            AddImportsVisitor.add_needed_import(self.context, "torch", "Tensor")
        body = [self._extended(each) for each in body]
        return updated_node.with_changes(body=updated_node.body.with_changes(body=body))

    def _extended(self, statement: cst.BaseStatement) -> cst.BaseStatement:
        """`migrate` with the statements at its end; any other statement as it is."""
        if not isinstance(statement, cst.FunctionDef) or statement.name.value != "migrate":
            return statement
        if not isinstance(statement.body, cst.IndentedBlock):
            return statement
        block = cst.parse_statement("\n".join(self.lines))
        is_empty = m.SimpleStatementLine([m.Pass()])
        kept = [each for each in statement.body.body if not m.matches(each, is_empty)]
        return statement.with_changes(body=statement.body.with_changes(body=[*kept, block]))


def _with_version(body: list[cst.BaseStatement], version: int) -> list[cst.BaseStatement]:
    """The body of a class with another version, in the place of the old one or below the docstring."""
    for index, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        raising = _Version(version)
        made = statement.visit(raising)
        if raising.is_done and isinstance(made, cst.BaseStatement):
            return [*body[:index], made, *body[index + 1 :]]
    docstring = m.SimpleStatementLine([m.Expr(m.SimpleString() | m.ConcatenatedString())])
    start = 1 if body and m.matches(body[0], docstring) else 0
    line = cst.parse_statement(f"version = {version}\n")
    if start:
        line = line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return [*body[:start], line, *body[start:]]


class _Version(m.MatcherDecoratableTransformer):
    """Replaces the value of `version = 1` or `version: ClassVar[int] = 1`."""

    def __init__(self, version: int) -> None:
        super().__init__()
        self._value = cst.Integer(str(version))
        self.is_done = False

    @m.leave(m.Assign(targets=[m.AssignTarget(m.Name("version"))]))
    def assigned(self, _: cst.Assign, updated: cst.Assign) -> cst.Assign:
        self.is_done = True
        return updated.with_changes(value=self._value)

    @m.leave(m.AnnAssign(target=m.Name("version")))
    def annotated(self, _: cst.AnnAssign, updated: cst.AnnAssign) -> cst.AnnAssign:
        self.is_done = True
        return updated.with_changes(value=self._value)
