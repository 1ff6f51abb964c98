"""The rules that check declarations. A rule reports all mistakes of its kind and changes nothing.

`rule` says how one is written. A rule without a function here documents what `read`, `link`, `generate` and `project` report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..common.records import replace
from ..model import ClassSource, Declaration, FileDecl
from ..model.diagnostics import (
    DYNAMIC_DECLARATION,
    INCONSISTENT_BASES,
    MISPLACED_SPECIFIER,
    UNKNOWN_TYPE,
    Diagnostic,
    Kind,
)
from . import (
    cached_tensors,
    children,
    class_statements,
    defaults,
    dimensions,
    dynamic_declarations,
    field_names,
    field_types,
    files,
    handlers,
    plain_modules,
    replaced_fields,
    shared_objects,
    specifiers,
    submodule_arguments,
    tensor_fields,
    unmanaged_state,
)
from .rule import Rule as Rule
from .rule_input import Facts as Facts
from .rule_input import RuleContext

UNREGISTERED_STATE = Rule(
    Kind("QG323", "unregistered-state", "warning"), check_module=unmanaged_state.unregistered_state
)

_RULES = (
    Rule(
        DYNAMIC_DECLARATION,
        check=dynamic_declarations.dynamic_declaration,
        check_file=dynamic_declarations.dynamic_declaration_in_file,
    ),
    Rule(INCONSISTENT_BASES, check=class_statements.inconsistent_bases),
    Rule(Kind("QG104", "unknown-flag"), check=class_statements.unknown_flag),
    Rule(Kind("QG105", "incompatible-flags"), check_tensorclass=class_statements.incompatible_flags),
    Rule(Kind("QG108", "duplicate-class"), check_file=class_statements.duplicate_class),
    Rule(Kind("QG109", "incompatible-decorator"), check=class_statements.incompatible_decorator),
    Rule(MISPLACED_SPECIFIER, check=specifiers.misplaced_specifier, check_file=specifiers.misplaced_specifier_in_file),
    Rule(Kind("QG201", "missing-annotation"), check=field_types.missing_annotation),
    Rule(Kind("QG202", "field-after-default"), check=defaults.field_after_default),
    Rule(Kind("QG203", "reserved-name"), check=field_names.reserved_name),
    Rule(Kind("QG204", "colliding-name"), check=field_names.colliding_name),
    Rule(Kind("QG205", "private-name"), check=field_names.private_name),
    Rule(Kind("QG206", "mutable-default"), check=defaults.mutable_default),
    Rule(UNKNOWN_TYPE, check=field_types.unknown_type),
    Rule(Kind("QG208", "unsupported-type"), check=field_types.unsupported_type),
    Rule(Kind("QG210", "implicit-tensor-conversion", "warning"), check=tensor_fields.implicit_tensor_conversion),
    Rule(Kind("QG211", "unsupported-shape"), check_tensorclass=tensor_fields.unsupported_shape),
    Rule(Kind("QG212", "conditional-field"), check=dynamic_declarations.conditional_field),
    Rule(Kind("QG213", "invalid-default"), check=defaults.invalid_default),
    Rule(Kind("QG216", "unmanaged-tensor", "warning"), check=unmanaged_state.unmanaged_tensor),
    Rule(Kind("QG217", "unannotated-attribute"), check=shared_objects.unannotated_attribute),
    Rule(Kind("QG218", "invalid-replacement", "warning"), check_file=replaced_fields.invalid_replacement),
    Rule(Kind("QG221", "hidden-type"), check=field_names.hidden_type),
    Rule(Kind("QG301", "invalid-dimension"), check=dimensions.invalid_dimension),
    Rule(Kind("QG302", "unknown-dimension"), check_module=dimensions.unknown_dimension),
    Rule(Kind("QG303", "missing-initializer"), check_module=dimensions.missing_initializer),
    Rule(Kind("QG305", "invalid-specifier-argument"), check=specifiers.invalid_specifier_argument),
    Rule(Kind("QG306", "ignored-specifier"), check_module=specifiers.ignored_specifier),
    Rule(Kind("QG307", "missing-init-flag"), check_module=class_statements.missing_init_flag),
    Rule(Kind("QG310", "invalid-repeat"), check_module=children.invalid_repeat),
    Rule(Kind("QG314", "shared-object"), check=shared_objects.shared_object),
    Rule(Kind("QG315", "invalid-initializer"), check=dimensions.invalid_initializer),
    Rule(
        Kind("QG320", "invalid-submodule-argument", can_be_wrong=True),
        check_module=submodule_arguments.invalid_submodule_argument,
    ),
    UNREGISTERED_STATE,
    Rule(Kind("QG324", "unannotated-registration", "warning"), check_module=unmanaged_state.unannotated_registration),
    Rule(Kind("QG326", "uncacheable-tensor", can_be_wrong=True), check_module=cached_tensors.uncacheable_tensor),
    Rule(Kind("QG341", "invalid-choice"), check_module=children.invalid_choice),
    Rule(Kind("QG343", "invalid-alias"), check=field_names.invalid_alias),
    Rule(Kind("QG344", "early-value", can_be_wrong=True), check_module=dynamic_declarations.early_value),
    Rule(Kind("QG403", "unimported-handler", "warning"), check_file=handlers.unimported_handler),
    Rule(Kind("QG404", "uncovered-handler", "warning"), check_file=handlers.uncovered_handler),
    Rule(Kind("QG501", "missing-super-init", "warning"), check_plain=plain_modules.missing_super_init),
    Rule(Kind("QG502", "undefined-attribute", "warning"), check_plain=plain_modules.undefined_attribute),
    Rule(Kind("QG505", "lost-buffer", "warning"), check_plain=plain_modules.lost_buffer),
    *files.RAISED_ELSEWHERE,
)

RULES = tuple(sorted(_RULES, key=lambda rule: rule.kind.code))
"""All rules, sorted by code."""

DECLARATION_RULES = tuple(rule for rule in RULES if rule.check or rule.check_module or rule.check_tensorclass)
FILE_RULES = tuple(rule for rule in RULES if rule.check_file is not None)
PLAIN_RULES = tuple(rule for rule in RULES if rule.check_plain is not None)
"""The rules of `qten-gen check`, beside UNREGISTERED_STATE."""

RAISED_ELSEWHERE = files.RAISED_ELSEWHERE


def check(file: FileDecl, unimported: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Check one file and return the diagnostics, without spans. `unimported` are the files that no other file imports."""
    facts = Facts.of(file, unimported)
    sources = {cls.qualname: cls for cls in file.source.classes}
    found: list[Diagnostic] = []
    for declaration in file.declarations:
        source = sources[declaration.qualname or declaration.name]
        found.extend(_diagnostics(RuleContext(declaration, source, file.source, facts)))
    for rule in FILE_RULES:
        found.extend(rule.of_file(file, facts))
    return tuple(replace(item, path=file.source.path) for item in found)


def check_declaration(declaration: Declaration, source: ClassSource, facts: Facts) -> tuple[Diagnostic, ...]:
    """Check a declaration that was read from a class statement.

    Args:
        declaration: What was read.
        source: The statement.
        facts: Its ancestors and mixins, and the names of the TensorClasses in its annotations.
    """
    return tuple(_diagnostics(RuleContext(declaration, source, facts=facts)))


def _diagnostics(context: RuleContext) -> Iterator[Diagnostic]:
    for rule in DECLARATION_RULES:
        yield from rule.of_declaration(context)
