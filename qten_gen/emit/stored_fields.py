"""The lines that a field of a TensorClass has in its generated class: its check in the constructor, and its property.

What a line says depends on the field's kind alone, so there is one function for each kind.
"""

from __future__ import annotations

from typing import NamedTuple

from ..common.naming import storage
from ..model import FieldDecl, FieldKind, TensorClassDecl, declares
from . import layout, spelling
from .names import Builtins, NestedNames, qualified_name

_PLAIN = {f"builtins.{name}": name for name in ("bool", "bytes", "complex", "float", "int", "str")}
"""Annotations whose values need no check: comparing with one type is faster than looking for it in a set."""


class StoredField(NamedTuple):
    """A field as the template sets it out."""

    name: str
    fit_if: str
    """The condition under which the constructor hands a value to the runtime for conversion or refusal; `True` for any value."""
    fit: str
    """The expression that the constructor stores then."""
    property: str
    """The assignment of its property; empty where a parent has it."""


class _Conversion(NamedTuple):
    """How a value becomes what the field stores."""

    fit_if: str
    fit: str
    set: str = ""
    """The function that gives what the setter stores; empty where the property of tensors does it."""


class _FieldCode(NamedTuple):
    """A field in the code of its class: the names there, and the expressions that several kinds of field share."""

    field: FieldDecl
    nested: str
    """The global that holds the class of a nested field."""
    builtins: Builtins
    n: str
    """The constructor's variable for the number of batch dimensions."""
    guard: str | None
    """The constructor's condition on the shape where an annotation says one; None for others."""

    @property
    def of_self(self) -> str:
        """The value of this object."""
        return f"self.{storage(self.field.name)}"

    @property
    def given(self) -> str:
        """The condition that an argument of the constructor is not None: `True` where it cannot be."""
        return f"{self.field.name} is not None" if self.field.optional else "True"

    def given_and(self, condition: str) -> str:
        """A condition on an argument of the constructor that is false where the argument is None."""
        return f"{self.field.name} is not None and ({condition})" if self.field.optional else condition

    def not_a_tensor_or(self, wrong_shape: str) -> str:
        """The condition under which a value cannot be stored as it is; an annotation's own guard goes before `wrong_shape`."""
        asked = wrong_shape if self.guard is None else self.guard
        middle = f" or {asked}" if asked else ""
        return f"{self.builtins.name('type')}({self.field.name}) is not _Tensor{middle} or device is not None"

    def call(self, function: str, *arguments: str, module: str = "_rt", before: str = "") -> str:
        """A call of the runtime, with the object and the name of the field, behind the text `before`."""
        given = ["self", f'"{self.field.name}"', *arguments]
        return layout.bracketed(f"{before}{module}.{function}(", given, ")", 8 if before else 12)

    def setter(self, function: str, *arguments: str, module: str = "_rt") -> str:
        """The function that gives what a setter stores, by a call of the runtime; None stays None."""
        none = "None if value is None else " if self.field.optional else ""
        return self.call(function, *arguments, module=module, before=f"lambda self, value: {none}")

    def converted(self, fit_if: str, function: str, *arguments: str, module: str = "_rt") -> _Conversion:
        """The conversion by one function. The arguments `value`, `batch_size` and `device` have other names in the constructor,
        or in a setter.
        """
        in_constructor = [self.field.name if each == "value" else each for each in arguments]
        in_setter = [f"self._{each}" if each in ("batch_size", "device") else each for each in arguments]
        fit = self.call(function, *in_constructor, module=module)
        return _Conversion(fit_if, fit, self.setter(function, *in_setter, module=module))


def stored_field(
    field: FieldDecl,
    declaration: TensorClassDecl,
    names: NestedNames,
    builtins: Builtins,
    n: str,
    guard: str | None,
) -> StoredField:
    """A field of a declaration.

    `names` has the globals that hold the classes of nested fields, `builtins` and `n` are how the text writes these names, and
    `guard` is what the constructor asks of the shape, None where no annotation says one.
    """
    nested = names[qualified_name(field)] if field.nested is not None else ""
    code = _FieldCode(field, nested, builtins, n, guard)
    conversion = _conversion(code, declaration.checks == "on")
    is_own = declares(declaration, field)
    property = _property(code, "" if declaration.frozen else conversion.set, declaration.frozen) if is_own else ""
    return StoredField(field.name, conversion.fit_if, conversion.fit, property)


def _property(code: _FieldCode, set: str, is_frozen: bool) -> str:
    """The assignment of the property of a field."""
    name, doc = code.field.name, layout.doc_argument(spelling.field_doc(code.field), 8)
    read = f"lambda self: {code.of_self}"
    if set:
        return layout.bracketed(f"{name} = _rt.field_property(", [f'"{name}"', read, set, doc], ")", 4)
    kind = "frozen" if is_frozen else "optional" if code.field.optional else "tensor"
    return layout.bracketed(f"{name} = _rt.{kind}_property(", [f'"{name}"', read, doc], ")", 4)


def _conversion(code: _FieldCode, checks: bool) -> _Conversion:
    """How the kind of a field converts values. With `checks` its annotation is one that values have to fit."""
    match code.field.kind:
        case FieldKind.NESTED:
            wrong_type = f"not {code.builtins.name('isinstance')}({code.field.name}, {code.nested})"
            wrong_batch = f"{code.field.name}._batch_size[:{code.n}] != batch_size"
            fit_if = code.given_and(f"{wrong_type} or {wrong_batch} or device is not None")
            return code.converted(fit_if, "nested", code.nested, "value", "batch_size", "device")
        case FieldKind.RAGGED:
            return _ragged(code, checks)
        case FieldKind.STATIC:
            return _static(code)
        case FieldKind.PER_ITEM:
            return code.converted(code.given, "per_item", "value", "batch_size", module="_features")
        case FieldKind.TENSOR | FieldKind.NUMBER:
            if code.field.container is not None:
                size = "None" if code.field.unbatched else "batch_size"
                check = f"tensor_{code.field.container}"
                return code.converted(code.given, check, "value", size, "device", module="_features")
            return _tensor(code)


def _tensor(code: _FieldCode) -> _Conversion:
    """A tensor, or a number that becomes one."""
    field = code.field
    wrong_shape = "" if field.unbatched else f"{field.name}.shape[:{code.n}] != batch_size"
    fit_if = code.given_and(code.not_a_tensor_or(wrong_shape))
    if code.guard is not None:
        fit = code.call("shaped", field.name, "batch_size", "device", module="_features")
        return _Conversion(fit_if, fit, code.setter("fitting", "value", code.of_self, module="_features"))
    if field.unbatched:
        return code.converted(fit_if, "unbatched", "value", "device", module="_features")
    if field.kind is FieldKind.NUMBER:
        return code.converted(fit_if, "number", "value", "batch_size", "device", f'"{field.cast}"')
    return _Conversion(fit_if, code.call("tensor", field.name, "batch_size", "device"))


def _ragged(code: _FieldCode, checks: bool) -> _Conversion:
    """Items with different numbers of rows, which stand behind one another."""
    field = code.field
    shape = [f'("{field.dtype}", {layout.quoted_string(field.dims)})'] if checks and field.dims is not None else []
    rows = code.nested or "_Tensor"
    return code.converted(code.given, "ragged", rows, "value", "batch_size", "device", *shape, module="_features")


def _static(code: _FieldCode) -> _Conversion:
    """A Python value that is the same for the whole batch."""
    name, cast = code.field.name, code.field.cast
    if cast:
        return code.converted(code.given, "cast_static", f'"{cast}"', "value")
    builtin = _PLAIN.get(code.field.type.name)
    wanted = "not in _rt.PLAIN" if builtin is None else f"is not {code.builtins.name(builtin)}"
    is_odd = f"{code.builtins.name('type')}({{}}) {wanted}".format
    set_ = f"lambda self, value: {code.call('static', 'value')} if {is_odd('value')} else value"
    return _Conversion(is_odd(name), code.call("static", name), set_)
