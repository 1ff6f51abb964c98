"""The rules that check declarations, one file each.

A rule file contains a docstring (what the rule reports, and why that is bad), the `KIND` of its diagnostics (code, name,
severity), a `GOOD` and a `BAD` example, and a `check`. The examples are the tests of the rule and, with the docstring, its
documentation. A rule reports all findings and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Protocol

from ..model import Declaration, FileDecl
from ..model.diagnostics import Diagnostic, Kind
from . import (
    base_arguments,
    broken_tie,
    cached_property,
    cached_tensor,
    child_arguments,
    circular_value,
    class_attribute,
    colliding_name,
    conditional_field,
    constant_field,
    duplicate_class,
    duplicate_registration,
    endless_construction,
    field_after_default,
    foreign_decorator,
    foreign_output,
    frozen_change,
    frozen_mismatch,
    generated_base,
    handler_signature,
    handler_type,
    hidden_change,
    hidden_method,
    ignored_specifier,
    impossible_size,
    incompatible_flags,
    incomplete_sources,
    inconsistent_bases,
    late_attribute,
    malformed_dimension,
    method_signature,
    misplaced_specifier,
    missing_annotation,
    missing_group,
    missing_init,
    missing_initializer,
    missing_super_init,
    misspelt_method,
    mutable_default,
    no_dispatch,
    not_a_module,
    number_becomes_tensor,
    overtaken_handler,
    private_name,
    repeated_submodule,
    reserved_name,
    shared_object,
    slots_conflict,
    specifier_argument,
    static_in_tensor_only,
    syntax_error,
    undeclared_attribute,
    undecodable_file,
    unfit_choice,
    unfit_default,
    unfound_module,
    unimportable_file,
    unimported_handler,
    uninitialised_child,
    unknown_attribute,
    unknown_condition,
    unknown_dimension,
    unknown_flag,
    unknown_root,
    unknown_setting,
    unknown_source,
    unknown_type,
    unmoved_tensors,
    unreadable_shape,
    unregistered,
    unrelated_result,
    unresolved_base,
    unslotted_base,
    unsupported_type,
    untold,
    untrainable_dtype,
    unused_migration,
    unused_suppression,
    wrong_initializer,
    wrong_specifier,
    wrong_suppression,
)
from .context import Project as Project
from .context import RuleContext
from .context import RunningStatement as RunningStatement


class Rule(Protocol):
    """The attributes of every rule file."""

    __doc__: str | None

    @property
    def KIND(self) -> Kind: ...
    @property
    def GOOD(self) -> str: ...
    @property
    def BAD(self) -> str: ...


class DeclarationRule(Rule, Protocol):
    """A rule about one declaration."""

    def check(self, context: RuleContext) -> Iterator[Diagnostic]: ...


class FileRule(Rule, Protocol):
    """A rule about a whole file, such as its handlers."""

    def check_file(self, file: FileDecl, project: Project) -> Iterator[Diagnostic]: ...


DECLARATION_RULES: tuple[DeclarationRule, ...] = (
    foreign_decorator,
    conditional_field,
    unknown_flag,
    inconsistent_bases,
    incompatible_flags,
    frozen_mismatch,
    slots_conflict,
    unslotted_base,
    misspelt_method,
    method_signature,
    endless_construction,
    missing_annotation,
    field_after_default,
    reserved_name,
    colliding_name,
    private_name,
    mutable_default,
    unfit_choice,
    unfit_default,
    unknown_type,
    unsupported_type,
    static_in_tensor_only,
    unreadable_shape,
    number_becomes_tensor,
    constant_field,
    unmoved_tensors,
    class_attribute,
    undeclared_attribute,
    frozen_change,
    cached_property,
    malformed_dimension,
    unknown_dimension,
    unknown_attribute,
    circular_value,
    missing_group,
    missing_initializer,
    wrong_specifier,
    specifier_argument,
    ignored_specifier,
    missing_init,
    unknown_condition,
    broken_tie,
    repeated_submodule,
    unused_migration,
    unknown_source,
    hidden_change,
    shared_object,
    wrong_initializer,
    base_arguments,
    uninitialised_child,
    impossible_size,
    not_a_module,
    child_arguments,
    untrainable_dtype,
    missing_super_init,
    unregistered,
    late_attribute,
    hidden_method,
    incomplete_sources,
    cached_tensor,
    untold,
)
FILE_RULES: tuple[FileRule, ...] = (
    generated_base,
    duplicate_class,
    misplaced_specifier,
    duplicate_registration,
    handler_signature,
    unimported_handler,
    unrelated_result,
    overtaken_handler,
    handler_type,
    no_dispatch,
    untold,
)
RAISED_ELSEWHERE: tuple[Rule, ...] = (
    syntax_error,
    undecodable_file,
    unimportable_file,
    unknown_root,
    unfound_module,
    foreign_output,
    unknown_setting,
    unresolved_base,
    unused_suppression,
    wrong_suppression,
)
"""Kinds that `read`, `link`, `generate` and `project.config` report. Their files only document them."""

RULES: tuple[Rule, ...] = tuple(
    sorted({*DECLARATION_RULES, *FILE_RULES, *RAISED_ELSEWHERE}, key=lambda rule: rule.KIND.code)
)
"""All rules, sorted by code."""


def check(file: FileDecl, unimported: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Check one file and return the diagnostics, without spans. `unimported` are the files that no other file imports."""
    project = Project.of(file, unimported)
    sources = {cls.name: cls for cls in file.source.classes}
    found: list[Diagnostic] = []
    for declaration in file.declarations:
        context = RuleContext(declaration, sources.get(declaration.name), file.source, project)
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
