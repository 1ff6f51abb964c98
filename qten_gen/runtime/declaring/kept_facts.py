"""The facts that a finished class keeps of its declaration: the few attributes of the fields that the runtime asks for.

`outright.py` reads them from a class statement whose generated class is fresh. Where it is not sure,
`by_declaration.py` takes them from the declaration that the generator's reader makes.
"""

from __future__ import annotations

from typing import NamedTuple

from ...common.fingerprint_rows import Row, attributes


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
    nested_class: type | None = None
    """The TensorClass in its annotation, where that is bound already."""

    @classmethod
    def of(cls, owner: str, row: Row, annotation: str = "", nested_class: type | None = None) -> FieldSummary:
        """The summary of a field with this row."""
        said = attributes(row)
        # The others are no arguments of a constructor.
        if row[0] not in ("FieldDecl", "ConfigDecl"):
            return cls(said["name"], owner, row, annotation)
        return cls(
            owner=owner,
            row=row,
            annotation=annotation,
            argument=said.get("alias", said["name"]),
            nested_class=nested_class,
            **{name: given for name, given in said.items() if name in cls._fields},
        )


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
