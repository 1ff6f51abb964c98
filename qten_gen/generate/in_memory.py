"""Generates a class in a running program, if no file was generated for its declaration.

The runtime imports this module by name, when such a class is declared. It uses the same templates and rules as the command.
"""

from __future__ import annotations

from ..model import Declaration
from ..model.diagnostics import DeclarationError
from ..rules import check_declaration
from ..rules.context import Project, RunningStatement
from .render import render_class


def render(declaration: Declaration, project: Project, statement: RunningStatement) -> str:
    """Generate the Python code of one class. `project` and `statement` are what the rules know beside the declaration.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    refuse(declaration, project, statement)
    return render_class(declaration)


def refuse(declaration: Declaration, project: Project, statement: RunningStatement) -> None:
    """Check a declaration.

    Raises:
        DeclarationError: it breaks a rule; the message lists all findings.
    """
    findings = [item for item in check_declaration(declaration, project, statement) if item.is_error]
    if findings:
        raise DeclarationError.of(declaration.name, findings)
