"""The rules that check declarations, one file each.

A rule file contains a docstring (what the rule reports, and why that is bad), the `KIND` of its diagnostics (code, name,
severity), an `EXAMPLE`, and a `check`. The example is a mistake and its correction, as a difference; it is the test of the rule
and, with the docstring, its documentation. A rule reports all findings and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Protocol, cast

from ..common.records import replace
from ..model import Declaration, FileDecl
from ..model.diagnostics import Diagnostic, Kind
from . import (  # noqa: F401 # the tables below find them
    cached_method,
    colliding_name,
    conditional_field,
    duplicate_class,
    dynamic_declaration,
    early_value,
    field_after_default,
    foreign_output,
    hidden_method,
    hidden_type,
    ignored_specifier,
    implicit_namespace_package,
    implicit_tensor_conversion,
    incompatible_decorator,
    incompatible_flags,
    incompatible_override,
    incomplete_sources,
    inconsistent_bases,
    invalid_alias,
    invalid_choice,
    invalid_default,
    invalid_dimension,
    invalid_initializer,
    invalid_module_name,
    invalid_repeat,
    invalid_specifier_argument,
    invalid_submodule_argument,
    invalid_suppression,
    misplaced_specifier,
    missing_annotation,
    missing_init_flag,
    missing_initializer,
    missing_super_init,
    missing_version,
    mutable_default,
    non_tensor_field,
    private_name,
    reserved_name,
    shared_object,
    syntax_error,
    unannotated_attribute,
    undecodable_file,
    undefined_attribute,
    unimported_handler,
    unknown_dimension,
    unknown_flag,
    unknown_setting,
    unknown_type,
    unmanaged_tensor,
    unregistered_state,
    unresolved_base,
    unresolved_import,
    unsupported_shape,
    unsupported_type,
    unused_suppression,
)
from .plain_classes import Finding, PlainClass
from .rule_input import Project as Project
from .rule_input import RuleContext
from .rule_input import RunningStatement as RunningStatement


class Rule(Protocol):
    """The attributes of every rule file."""

    __doc__: str | None

    @property
    def KIND(self) -> Kind: ...
    @property
    def EXAMPLE(self) -> str: ...


class DeclarationRule(Rule, Protocol):
    """A rule about one declaration."""

    def check(self, context: RuleContext) -> Iterator[Diagnostic]: ...


class FileRule(Rule, Protocol):
    """A rule about a whole file, such as its handlers."""

    def check_file(self, file: FileDecl, project: Project) -> Iterator[Diagnostic]: ...


class PlainRule(Rule, Protocol):
    """A rule about a class that derives from torch.nn.Module and declares nothing."""

    def check_plain(self, cls: PlainClass) -> Iterator[Finding]: ...


_MODULES = [found for found in tuple(vars().values()) if isinstance(found, ModuleType) and hasattr(found, "KIND")]

RULES = cast("tuple[Rule, ...]", tuple(sorted(_MODULES, key=lambda rule: cast("Rule", rule).KIND.code)))
"""All rules, sorted by code. The function in its file says what a rule is about."""

DECLARATION_RULES = cast("tuple[DeclarationRule, ...]", tuple(rule for rule in RULES if hasattr(rule, "check")))
FILE_RULES = cast("tuple[FileRule, ...]", tuple(rule for rule in RULES if hasattr(rule, "check_file")))
PLAIN_RULES = cast("tuple[PlainRule, ...]", tuple(rule for rule in RULES if hasattr(rule, "check_plain")))
"""The rules of `qten-gen check` beside one about declarations."""

RAISED_ELSEWHERE = tuple(rule for rule in RULES if rule not in (*DECLARATION_RULES, *FILE_RULES, *PLAIN_RULES))
"""Kinds that `read`, `link`, `generate` and `project.config` report. Their files only document them."""


def check(file: FileDecl, unimported: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Check one file and return the diagnostics, without spans. `unimported` are the files that no other file imports."""
    project = Project.of(file, unimported)
    sources = {cls.qualname: cls for cls in file.source.classes}
    found: list[Diagnostic] = []
    for declaration in file.declarations:
        context = RuleContext(declaration, sources.get(declaration.qualname or declaration.name), file.source, project)
        found.extend(_diagnostics(context))
    for rule in FILE_RULES:
        found.extend(rule.check_file(file, project))
    return tuple(replace(item, path=file.source.path) for item in found)


def check_declaration(
    declaration: Declaration, project: Project | None = None, statement: RunningStatement | None = None
) -> tuple[Diagnostic, ...]:
    """Check a declaration that was read from a class statement.

    Args:
        declaration: What was read.
        project: Its ancestors, and the names of the TensorClasses in its annotations.
        statement: What the statement says beside the declaration.
    """
    context = RuleContext(declaration, project=project or Project(), statement=statement or RunningStatement())
    return tuple(_diagnostics(context))


def _diagnostics(context: RuleContext) -> Iterator[Diagnostic]:
    for rule in DECLARATION_RULES:
        yield from rule.check(context)
