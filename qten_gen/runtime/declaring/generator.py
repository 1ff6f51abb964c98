"""The door to the generator: the one file of the runtime that imports it.

It is imported where the generator is needed, and never when `qten_gen` is. So a program whose classes are all fresh and of the
usual kind loads nothing of the generator. The functions import what only they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model import Declaration as Declaration
from ...model import FieldDecl as FieldDecl
from ...model import Meaning as Meaning
from ...model import ModuleDecl as ModuleDecl
from ...model import ModuleField as ModuleField
from ...model import TypeExpr
from ...model import fingerprint as fingerprint
from ...model import structure as structure
from ...reflection import ClassStatement as ClassStatement
from ...reflection import read_module, read_tensorclass

if TYPE_CHECKING:
    from ...generate.in_memory_text import OwnText
    from .class_scope import Scope


def read(statement: ClassStatement, *, nests: bool) -> Declaration:
    """The declaration of a TensorClass or Module, mistakes included: `refuse` reports those."""
    return read_tensorclass(statement) if nests else read_module(statement)


def render(declaration: Declaration) -> str:
    """The generated Python of the class that a declaration without mistakes gives."""
    from ...generate.outputs import render_class

    return render_class(declaration)


def refuse(declaration: Declaration, statement: ClassStatement, module: str, scope: Scope) -> None:
    """Check the declaration of a statement in the text of `module` by the rules.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    from ...model.diagnostics import DeclarationError
    from ...reflection import class_source, mixins
    from ...rules import Facts, check_declaration

    known = {**statement.children(), **dict(statement.parents)}
    facts = Facts(known, nested=statement.declared, mixins=mixins(statement))
    found = [item for item in check_declaration(declaration, class_source(statement), facts) if item.is_error]
    text = own_text(module, scope) if any(item.kind.is_suppressible for item in found) else None
    if text is not None:
        from ...generate.suppression import accepted

        found = accepted(found, text.text, declaration.name)
    if found:
        raise DeclarationError.of(declaration.name, found)


def own_text(module: str, scope: Scope) -> OwnText | None:
    """The text around a class statement of `module`; None where nobody knows it."""
    from ...generate.in_memory_text import OwnText

    text = scope.text
    return OwnText(module, scope.filename, text) if text else None


def known_tensorclass(name: str) -> Meaning:
    """The meaning of the name of a TensorClass."""
    return Meaning(TypeExpr(name), frozenset({name}))


def meaning_in_text(name: str, module: str, scope: Scope) -> Meaning | None:
    """The meaning of a qualified name as a type, from the text of the module that defines it; nothing is imported.

    The text of `module`, which runs, is the one around the class statement.
    """
    from ...generate.in_memory_text import meaning

    return meaning(name, own_text(module, scope))


def refuse_specifier(cls: type, name: str, specifier: str) -> None:
    """Refuse a specifier in a class that is not a declaration.

    Raises:
        DeclarationError: always; the message says what the rule says.
    """
    from ...model.diagnostics import MISPLACED_SPECIFIER, DeclarationError, Diagnostic
    from ...rules.specifiers import problem

    message, help = problem(cls.__name__, name, specifier)
    raise DeclarationError.of(cls.__name__, [Diagnostic(MISPLACED_SPECIFIER, message, help=help)])
