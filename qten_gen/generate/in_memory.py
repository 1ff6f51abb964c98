"""Checks what a class statement declares in a running program, before its generated class is used or rendered in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model import ClassSource, Declaration
from ..model.diagnostics import DeclarationError
from ..rules import check_declaration
from ..rules.rule_input import Project

if TYPE_CHECKING:
    from .in_memory_text import OwnText


def refuse(declaration: Declaration, source: ClassSource, project: Project, own: Callable[[], OwnText | None]) -> None:
    """Check a declaration by the rules of the command.

    Args:
        declaration: The declaration that the class statement makes.
        source: The statement.
        project: What the rules know besides.
        own: The text around the class statement, which may suppress errors. It is asked for only if there are some.

    Raises:
        DeclarationError: it breaks a rule; the message lists all findings.
    """
    findings = [item for item in check_declaration(declaration, source, project) if item.is_error]
    if any(item.kind.is_suppressible for item in findings):
        text = own()
        if text is not None:
            from .suppression import accepted

            findings = accepted(findings, text.text, declaration.name)
    if findings:
        raise DeclarationError.of(declaration.name, findings)
