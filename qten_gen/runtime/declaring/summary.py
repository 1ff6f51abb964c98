"""What a finished class keeps of its declaration: the few attributes of the fields that the runtime asks for.

`outright.py` reads them from a class statement whose generated class is fresh. Where it is not sure, they come from the
declaration that the generator's reader makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import generator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .generator import Declaration, FieldDecl, ModuleField

Row = tuple[object, ...]
"""The attributes of a record that a fingerprint covers, as `model.fingerprints.structure` gives them."""


class FieldSummary(NamedTuple):
    """A field of a declared class. The attributes are those of the records in `model.fields`, empty where a field has none."""

    name: str
    owner: str
    """The qualified name of the class that declares it."""
    row: Row
    annotation: str = ""
    """The text of the annotation of a TensorClass field."""
    kind: str = ""
    optional: bool = False
    nested: str | None = None
    cast: str | None = None
    dims: str | None = None
    dtype: str | None = None
    unbatched: bool = False
    container: str | None = None
    kw_only: bool = False
    argument: str | None = None
    """Its name in the constructor; None if it is no argument."""
    alias: str | None = None
    tie: str | None = None
    group: str | None = None
    wanted: str = ""
    """The qualified name of the class that tensordict made and that a collection wants."""
    met: type | None = None
    """The TensorClass in its annotation, where that is bound already."""

    @property
    def is_static(self) -> bool:
        """Whether it holds Python values, which no operation moves or computes with."""
        return self.kind in ("static", "per item")


class Summary(NamedTuple):
    """A declared class, inherited fields in place."""

    fields: tuple[FieldSummary, ...]
    own: tuple[str, ...]
    """The names of the fields that no parent stores."""
    custom_init: bool
    flags: frozenset[str] = frozenset()
    checks: str = "on"
    """The class keyword `checks` of a TensorClass."""
    conditions: tuple[tuple[str, Row], ...] = ()
    """The statements `check(...)` of a Module and its parents, each with the class that it stands in."""

    @property
    def frozen(self) -> bool:
        """Whether instances are immutable."""
        return "frozen" in self.flags


def of_declaration(declaration: Declaration, classes: Mapping[str, type]) -> Summary:
    """The summary of a declaration. `classes` has the TensorClasses in the annotations of the statement by qualified name."""
    structure = generator.structure
    checks = getattr(declaration, "checks", ())
    return Summary(
        tuple(_of_field(field, structure(field), classes) for field in declaration.fields),
        declaration.own,
        declaration.custom_init,
        getattr(declaration, "flags", frozenset()),
        checks if isinstance(checks, str) else "on",
        () if isinstance(checks, str) else tuple((check.owner, structure(check)) for check in checks),
    )


def _of_field(field: FieldDecl | ModuleField, row: Row, classes: Mapping[str, type]) -> FieldSummary:
    """The summary of a field; what its kind of field does not have is empty."""

    def given(name: str) -> object:
        return getattr(field, name, None)

    kind = given("kind")
    nested = given("nested")
    named = next((name for name in field.type.mentioned if name.rpartition(".")[2] == nested), "")
    is_made = getattr(kind, "value", "") == "collection" and named.partition(".")[0] != "tensordict"
    return FieldSummary(
        field.name,
        field.owner,
        row,
        annotation=field.type.text,
        kind=getattr(kind, "value", ""),
        optional=bool(given("optional")),
        nested=_text(nested),
        cast=_text(given("cast")),
        dims=_text(given("dims")),
        dtype=_text(given("dtype")),
        unbatched=bool(given("unbatched")),
        container=_text(given("container")),
        kw_only=bool(given("kw_only")),
        argument=_text(given("argument")),
        alias=_text(given("alias")),
        tie=_text(given("tie")),
        group=_text(given("group")),
        wanted=named if is_made else "",
        met=classes.get(named),
    )


def _text(found: object) -> str | None:
    return found if isinstance(found, str) else None
