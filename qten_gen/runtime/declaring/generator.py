"""The door to the generator: the one file of the runtime that imports it.

Every function imports what it calls when it is called. So `import qten_gen` loads no generator, and a program whose classes are
all fresh and of the usual kind loads nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...generate.differences import Reason as Reason
    from ...generate.in_memory_text import OwnText
    from ...model import Declaration as Declaration
    from ...model import FieldDecl as FieldDecl
    from ...model import Meaning as Meaning
    from ...model import ModuleDecl as ModuleDecl
    from ...model import ModuleField as ModuleField
    from ...model import TensorClassDecl as TensorClassDecl
    from ...model.diagnostics import Diagnostic as Diagnostic
    from ...reflection import ClassStatement as ClassStatement
    from ...rules.rule_input import Project, RunningStatement
    from .class_scope import Scope


def statement_class() -> type[ClassStatement]:
    """The record of a class statement that the readers take."""
    from ...reflection import ClassStatement

    return ClassStatement


def read_tensorclass(statement: ClassStatement) -> TensorClassDecl:
    """The declaration that a TensorClass statement makes, mistakes included: `refuse` and `render` report those."""
    from ...reflection import read_tensorclass

    return read_tensorclass(statement)


def read_module(statement: ClassStatement) -> ModuleDecl:
    """The declaration that a Module statement makes, mistakes included: `refuse` and `render` report those."""
    from ...reflection import read_module

    return read_module(statement)


def config_schema(cls: type) -> dict[str, Any]:
    """The JSON schema of the constructor arguments of a class of modules."""
    from ...generate.config_schema import config_schema
    from ...model import ModuleDecl

    declaration = getattr(cls, "_declaration", None)
    if not isinstance(declaration, ModuleDecl):
        raise TypeError(f"{cls.__name__} declares nothing, so it has no schema")
    return config_schema(declaration)


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that differ when another class would be generated."""
    from ...model import fingerprint

    return fingerprint(declaration)


def structure(node: object) -> tuple[object, ...]:
    """The attributes of a record of the model that fingerprints cover."""
    from ...model import structure

    found = structure(node)
    assert isinstance(found, tuple)
    return found


def render(declaration: Declaration, statement: ClassStatement, module: str, scope: Scope) -> str:
    """The generated Python of the class that a statement declares, in the text of `module`.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    from ...generate.in_memory import render

    return render(declaration, *_known(declaration, statement), lambda: _own_text(module, scope))


def refuse(declaration: Declaration, statement: ClassStatement, module: str, scope: Scope) -> None:
    """Check the declaration of a statement, as `render` does.

    Raises:
        DeclarationError: the declaration breaks a rule; the message lists all findings.
    """
    from ...generate.in_memory import refuse

    refuse(declaration, *_known(declaration, statement), lambda: _own_text(module, scope))


def _own_text(module: str, scope: Scope) -> OwnText | None:
    """The text around a class statement; None where nobody knows it."""
    from ...generate.in_memory_text import OwnText

    text = scope.text
    return OwnText(module, scope.filename, text) if text else None


def _known(declaration: Declaration, statement: ClassStatement) -> tuple[Project, RunningStatement]:
    """The facts about a statement, beside its declaration, that the rules use."""
    from ...reflection import (
        assigned_values,
        attributes,
        check_sources,
        constructors,
        field_sources,
        method_sources,
        mixins,
    )
    from ...rules.rule_input import Project, RunningStatement

    known = {**statement.children(), **dict(statement.parents)}
    project = Project(known, nested=statement.declared)
    keywords = tuple((name, repr(value)) for name, value in {**statement.options, **statement.passed}.items())
    said = field_sources(statement), attributes(statement), mixins(statement)
    functions = method_sources(statement), constructors(statement), assigned_values(statement)
    return project, RunningStatement(*said, keywords, *functions, check_sources(statement))


def known_tensorclass(name: str) -> Meaning:
    """The meaning of the name of a TensorClass."""
    from ...model import Meaning, TypeExpr

    return Meaning(TypeExpr(name), frozenset({name}))


def meaning_in_text(name: str, module: str, path: str, text: str) -> Meaning | None:
    """The meaning of a qualified name as a type, from the text of the module that defines it; nothing is imported.

    `text` is that of `module`, which runs; it is empty where nobody knows it.
    """
    from ...generate.in_memory_text import OwnText, meaning

    return meaning(name, OwnText(module, path, text) if text else None)


def why_not_generated(declaration: Declaration, module: str, path: str, text: str) -> Reason | None:
    """Why the command would not generate this declaration, and what to write instead; None where it would."""
    from ...generate.differences import why_not_generated
    from ...generate.in_memory_text import OwnText

    return why_not_generated(declaration, OwnText(module, path, text)) if text else None


def refuse_specifier(cls: type, name: str, specifier: str) -> None:
    """Refuse a specifier in a class that is not a declaration.

    Raises:
        DeclarationError: always; the message says what the rule says.
    """
    from ...model.diagnostics import DeclarationError, Diagnostic
    from ...rules.misplaced_specifier import KIND, problem

    message, help = problem(cls.__name__, name, specifier)
    raise DeclarationError.of(cls.__name__, [Diagnostic(KIND, message, help=help)])
