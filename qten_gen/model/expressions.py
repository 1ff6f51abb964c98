"""What a declaration is made of: places in a file, type expressions, values and defaults."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NodePath:
    """Where a node stands: attribute names and indexes that lead to it from the root of the file's syntax tree.

    A place is turned into a line and a column only when a diagnostic is shown (`read.positions`), because positions cost more
    than the parse itself.
    """

    path: tuple[str | int, ...] = ()

    def __truediv__(self, step: str | int) -> NodePath:
        return NodePath((*self.path, step))

    def beside(self, step: str) -> NodePath:
        """The place of another attribute of the node that this one belongs to."""
        return NodePath((*self.path[:-1], step))


NO_PATH = NodePath()


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """An annotation with its names resolved: `Int[Tensor, "b s"] | None` is `|(jaxtyping.Int(torch.Tensor, 'b s'), None)`.

    `name` is a dotted qualified name (`torch.Tensor`, `builtins.int`, `shop.model.Inner`), `"|"` for a union, `"None"` for None,
    `"..."` for an ellipsis, or `""` where the expression is no type that can be named. `args` are the subscripts; strings stay
    strings. `text` is the expression as written.
    """

    name: str
    args: tuple[TypeExpr | str, ...] = ()
    text: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The plain and dotted names that `text` mentions, which a stub has to import."""


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
    """`functools.partial` of a function of torch, with literal keywords: `functools.partial(torch.nn.init.normal_, std=0.02)`."""

    function: str
    keywords: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The call in its canonical text."""
        return f"functools.partial({', '.join([self.function, *(f'{name}={given}' for name, given in self.keywords)])})"


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a declaration mentions: a default, an initialiser, a dtype, a class to construct.

    `literal` is its canonical text where it is a Python literal (`"'train'"`, `"0.001"`), `torch_name` its qualified
    name where it belongs to torch (`torch.nn.init.ones_`); generated code writes these two directly, and the call that an
    initialiser's `partial` stands for. Anything else is bound when the class statement runs. None of them is compared:
    `_inlined_values` in generated code names what is spelled out there; the runtime compares that with the objects themselves.
    """

    text: str = field(default="", compare=False)
    literal: str | None = field(default=None, compare=False)
    torch_name: str | None = field(default=None, compare=False)
    partial: Partial | None = field(default=None, compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def written(self) -> str | None:
        """What generated code writes for it, or None where it must be bound."""
        return self.literal if self.literal is not None else self.torch_name


@dataclass(frozen=True, slots=True)
class Default:
    """A field's default: a value, or a factory called for each instance."""

    value: Value
    factory: bool = False
