"""What fields are made of: type expressions, values, defaults, and where each stands in its file.

Both readers make these records. `link` replaces names in type expressions by what they mean, `field_kinds` decides by them what a
field holds, and emitters write them.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NodePath:
    """Where a node stands in the syntax tree of its file. Records keep it as their `place`; a `path` is that of a file.

    `read.positions` turns it into a line and a column when a diagnostic is shown, and not before: positions cost more than the
    parse itself.
    """

    steps: tuple[str | int, ...] = ()
    """Attribute names and indexes that lead from the root to the node: `("body", 3, "name")`."""

    def __truediv__(self, step: str | int) -> NodePath:
        return NodePath((*self.steps, step))

    def beside(self, step: str) -> NodePath:
        """The place of another attribute of the node that this one belongs to."""
        return NodePath((*self.steps[:-1], step))


NO_PATH = NodePath()
"""The place of what stands in no file, as everything does that `reflection` reads."""


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """An annotation with its names resolved: `Int[Tensor, "b s"] | None` is `|(jaxtyping.Int(torch.Tensor, 'b s'), None)`."""

    name: str
    """A qualified name (`torch.Tensor`, `builtins.int`, `shop.model.Inner`), `"|"` for a union, `"None"` for None, `"..."` for an
    ellipsis, or `""` for an expression that does not name a type."""
    args: tuple[TypeExpr | str, ...] = ()
    """The subscripts, or the members of a union. Strings that are not types stay strings: the `"b s"` of a jaxtyping shape."""
    text: str = field(default="", compare=False)
    """The expression as written: `Int[Tensor, "b s"] | None`."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The plain and dotted names that `text` mentions, which a stub has to import: `("Int", "Tensor")`."""


def union(members: tuple[TypeExpr, ...]) -> TypeExpr:
    """A union of type expressions, nested ones flattened and repeated ones dropped; a single member stands for itself."""
    flat: dict[TypeExpr, None] = {}
    for member in members:
        flat.update(
            dict.fromkeys(m for m in (member.args if member.name == "|" else (member,)) if isinstance(m, TypeExpr))
        )
    return next(iter(flat)) if len(flat) == 1 else TypeExpr("|", tuple(flat))


@dataclass(frozen=True, slots=True)
class Partial:
    """`functools.partial` of a function of torch, with literal keywords: `partial(nn.init.normal_, std=0.02)`."""

    function: str
    """The qualified name of the function: `torch.nn.init.normal_`."""
    keywords: tuple[tuple[str, str], ...]
    """The keywords and their values as canonical literals: `(("std", "0.02"),)`."""

    @property
    def text(self) -> str:
        """The call in its canonical text."""
        return f"functools.partial({', '.join([self.function, *(f'{name}={given}' for name, given in self.keywords)])})"


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a declaration mentions: a default, an initialiser, a dtype, a class to construct.

    Generated code writes what it can spell out: a literal, a name of torch, a partial that initialises. Any other value is bound
    when the class statement runs. Values are not compared: generated code lists in `_inlined_values` what it spells out, and the
    runtime compares that list with the objects themselves.
    """

    text: str = field(default="", compare=False)
    """The expression as written: `nn.init.ones_`."""
    literal: str | None = field(default=None, compare=False)
    """The canonical text where it is an immutable Python literal: `0.001` for `1e-3`, `(1, 'a')` for `(1,"a")`."""
    torch_name: str | None = field(default=None, compare=False)
    """The qualified name where it belongs to torch: `torch.nn.init.ones_`."""
    partial: Partial | None = field(default=None, compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def written(self) -> str | None:
        """What generated code writes for it, or None where it must be bound."""
        return self.literal if self.literal is not None else self.torch_name


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a field: `x: str = "train"`, `x: str = field(default="train")` or `field(default_factory=list)`."""

    value: Value
    """The value, or the factory."""
    factory: bool = False
    """Whether `value` is called to make the default of each instance."""
