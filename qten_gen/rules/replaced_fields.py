"""The rule about calls of `replace`."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator, Sequence

from ..common.field_kinds import members_of
from ..common.suggestions import did_you_mean, only_near
from ..model import Declaration, FileDecl, TensorClassDecl
from ..model.diagnostics import Fix
from .defaults import can_hold
from .field_names import ALWAYS
from .rule_input import Facts, Problem


def invalid_replacement(file: FileDecl, facts: Facts) -> Iterator[Problem]:
    """A call of `replace` names a field that the class does not have, or gives a field a value of another type.

    `batch.replace(maks=None)` raises TypeError when it runs. Below Python 3.13 no type checker but pyrefly compares the keywords
    with the fields, because `replace` takes any; from 3.13 on, checkers see `copy.replace(batch, maks=None)`.

    The rule knows an object by its annotation, by the call of its class or of a function that says its result, as an item of a
    list, or as `self`, and what its attributes hold and its methods return by their annotations. Of values it looks at literals.
    It does not report an object behind `isinstance`, nor a class with a `replace` of its own.

    Example:

     from qten_gen import TensorClass
     from torch import Tensor


     class Batch(TensorClass):
         tokens: Tensor
         mask: Tensor | None = None


     def unmasked(batch: Batch) -> Batch:
    -    return batch.replace(maks=None)
    -                         ^^^^
    +    return batch.replace(mask=None)
    """
    for call in file.source.replacements:
        declaration = declared_at(call.owner, file, facts)
        if not isinstance(declaration, TensorClassDecl):
            continue
        lineage = (declaration, *facts.ancestors(declaration))
        others = [base for each in lineage for base in each.bases if not base.declared]
        methods = {method.name for each in lineage for method in each.methods}
        if "replace" in methods or not all(base.name.startswith("qten_gen.") for base in others):
            continue
        fields = {field.name: field for field in declaration.fields}
        for name, value in call.given:
            place = value.place.beside("arg")
            if name not in fields:
                if name not in ALWAYS:
                    meant = only_near(name, fields)
                    help = did_you_mean(name, fields, f"its fields are {', '.join(fields)}")
                    fix = None if meant is None else Fix(meant, place)
                    yield Problem(f"{declaration.name} has no field {name}", place, help, fix=fix)
            elif value.literal is not None and not can_hold(fields[name], literal_eval(value.literal), declaration):
                message = f"{name} of {declaration.name} is {fields[name].type.text}, got {value.text}"
                yield Problem(message, value.place, "write a value of the annotated type, or change the annotation")


def declared_at(owner: Sequence[str], file: FileDecl, facts: Facts) -> Declaration | None:
    """The declaration of an object that steps lead to from an object of a class, which stands first; None if it is not known."""
    name = owner[0]
    for step in owner[1:]:
        name = _after(step, name, file, facts)
    return facts.declarations.get(name)


def _after(step: str, name: str, file: FileDecl, facts: Facts) -> str:
    """The class of a field, a property, or the result of a method `step()` of a class; empty if it is not known."""
    declared = facts.declarations.get(name)
    fields = {each.name: each.type for each in declared.fields} if declared is not None else {}
    for base, cls in facts.lineage(name).items():
        fields = {**{each.name: each.annotation for each in (cls.fields if cls else ()) if each.annotation}, **fields}
        for method in cls.methods if cls else ():
            is_property = "builtins.property" in method.decorators
            if method.name == step.removesuffix("()") and is_property != step.endswith("()"):
                said, module = method.signature.result.strip("\"'"), base.rpartition(".")[0]
                is_own = said.rpartition(".")[2] == "Self"
                return name if is_own else file.meanings.get(f"{module}:{said}", f"{module}.{said}")
    held = fields.get(step.removesuffix("()"))
    present = [each.name for each in members_of(held) if each.name != "None"] if held is not None else []
    known = present[0] if len(present) == 1 else ""
    return _after("forward()", known, file, facts) if known and step.endswith("()") else known
