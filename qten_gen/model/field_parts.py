"""Records for the parts of a field: type expressions, values, defaults, and their places in the file.

Both readers create these records. `link` resolves the names in type expressions, `common.field_kinds` decides from
them how a field is stored, and emitters write them.
"""

from __future__ import annotations

from ..common import language
from ..common.field_kinds import members_of
from ..common.python_text import partial_text
from ..common.records import field, record
from .dimensions import Dim, DimError

FIELD_STEP = "field"
"""The first step of a place in a class statement that runs; the second is the name of the field."""


@record(frozen=True, slots=True)
class NodePath:
    """The path of a node in the syntax tree of its file. Records store it as `place`; `path` always means the path of a file.

    `read.positions` turns it into a line and a column, but only to print a diagnostic, because computing positions takes longer
    than parsing.
    """

    steps: tuple[str | int, ...] = ()
    """Attribute names and indexes that lead from the root to the node: `("body", 3, "name")`."""

    def __truediv__(self, step: str | int) -> NodePath:
        return NodePath((*self.steps, step))

    def beside(self, step: str) -> NodePath:
        """The place of another attribute of the node that this one belongs to; itself where there is no tree."""
        return self if self.steps[:1] == (FIELD_STEP,) else NodePath((*self.steps[:-1], step))


NO_PATH = NodePath()
"""The place of what has none."""


DYNAMIC = "?"
"""Stands for a type that is known only at run time, such as a name with several meanings."""

HIDDEN = "!"
"""The name of what stands in place of a type where the class body has bound its name to a value."""


@record(frozen=True, slots=True)
class TypeExpr:
    """An annotation with its names resolved: `Int[Tensor, "b s"] | None` is `|(jaxtyping.Int(torch.Tensor, 'b s'), None)`."""

    name: str
    """A qualified name (`torch.Tensor`, `builtins.int`, `shop.model.Inner`), `"|"` for a union, `"None"` for None, `"..."` for an
    ellipsis, `DYNAMIC` for a type that only the program knows, `HIDDEN` for a value in its place, or `""` for an expression that
    does not name a type."""
    args: tuple[TypeExpr | str, ...] = ()
    """The subscripts, or the members of a union. Strings that are not types stay strings: the `"b s"` of a jaxtyping shape."""
    text: str = field(default="", compare=False)
    """The expression as written: `Int[Tensor, "b s"] | None`."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The plain and dotted names that `text` mentions, which a stub has to import: `("Int", "Tensor")`."""

    @property
    def parts(self) -> tuple[TypeExpr, ...]:
        """The expression and the types in it, from left to right."""
        return (self, *(part for arg in self.args if isinstance(arg, TypeExpr) for part in arg.parts))

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The qualified names in the expression, from left to right: `("jaxtyping.Int", "torch.Tensor", "None")`."""
        return tuple(part.name for part in self.parts)


@record(frozen=True, slots=True)
class Meaning:
    """The meaning of a name as a type, with aliases expanded."""

    type: TypeExpr
    declared: frozenset[str]
    """The TensorClasses in it, by qualified name."""


def union(members: tuple[TypeExpr, ...]) -> TypeExpr:
    """A union of type expressions, flattened and without duplicates. A union with one member is that member."""
    flat: dict[TypeExpr, None] = {}
    for member in members:
        flat.update(
            dict.fromkeys(m for m in (member.args if member.name == "|" else (member,)) if isinstance(m, TypeExpr))
        )
    return next(iter(flat)) if len(flat) == 1 else TypeExpr("|", tuple(flat))


@record(frozen=True, slots=True)
class Partial:
    """`functools.partial` of a function of torch, with literal keywords: `partial(nn.init.normal_, std=0.02)`."""

    function: str
    """The qualified name of the function: `torch.nn.init.normal_`."""
    keywords: tuple[tuple[str, str], ...]
    """The keywords and their values as canonical literals: `(("std", "0.02"),)`."""

    @property
    def text(self) -> str:
        """The call in its canonical text."""
        return partial_text(self.function, self.keywords)


@record(frozen=True, slots=True)
class Choice:
    """One of several values, by what an expression gives: `choice("act", {"relu": nn.ReLU, "gelu": nn.GELU})`."""

    selector: Dim | DimError | None
    """The expression over config fields: `act`; None if it is not a string."""
    options: tuple[tuple[str, Value], ...] | None = field(default=None, compare=False)
    """The keys as canonical literals, with what they stand for; None if the text does not tell them."""
    is_given: bool = False
    """True if there are no options, because what the expression gives is chosen itself: `choice("norm_layer")`."""
    text: str = field(default="", compare=False, repr=False)
    """The content of the string literal of the selector."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    """The place of the selector."""


@record(frozen=True, slots=True)
class Value:
    """A value in a declaration: a default, an initialiser, a dtype, a class to construct.

    Generated code contains the value if it is a literal, a name of torch, or a partial of one. Any other value is bound when the
    class statement runs. Values are not compared. Generated code has defaults in the signature of its constructor, and lists the
    others that it contains in `_inlined_values`: the runtime compares both with the objects themselves.
    """

    text: str = field(default="", compare=False)
    """The expression as written: `nn.init.ones_`."""
    literal: str | None = field(default=None, compare=False)
    """The canonical text if it is an immutable Python literal: `0.001` for `1e-3`, `(1, 'a')` for `(1,"a")`."""
    constant: str | None = field(default=None, compare=False)
    """The literal that a default amounts to, if it is made of constants of the project: `6` for `2 * SIZE`. Only rules use it."""
    torch_name: str | None = field(default=None, compare=False)
    """The qualified name if it is a name of torch: `torch.nn.init.ones_`."""
    partial: Partial | None = field(default=None, compare=False)
    name: str = field(default="", compare=False)
    """The qualified name if it is a plain or dotted name, or an object with such a name: `shop.model.Block`, `builtins.list`."""
    contains: tuple[str, ...] = field(default=(), compare=False)
    """The classes and functions whose results it holds, in lists, dicts and partials too: `torch.nn.Linear`, `torch.ones`. Of an
    object, they are the classes of the modules and tensors in it. `qten_gen.param` stands for any specifier that it may be."""
    is_container: bool = field(default=False, compare=False)
    """True if the modules are inside a container, a partial or a dataclass, rather than the value itself."""
    mutable: bool = field(default=False, compare=False)
    """True if the value cannot be hashed, such as a list: as `reflection` sees it, or the text of a constant says."""
    is_callable: bool = field(default=True, compare=False)
    """True if the value may be called. False for a list, a dict and other objects that cannot be."""
    method: str | None = None
    """The method of the class that an initialiser is: `fill` of `initializer="fill"`."""
    choice: Choice | None = None
    """The content of `choice(...)`, if it is one."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def alternatives(self) -> tuple[Value, ...]:
        """The values that it may be: the known options of a choice, or itself."""
        if self.choice is None:
            return (self,)
        return tuple(value for _, value in self.choice.options or ())

    @property
    def held_specifier(self) -> str | None:
        """The first specifier of a field whose result it holds, such as `qten_gen.param`: it is not one itself."""
        return next((name for name in self.contains if name in language.SPECIFIERS), None)

    @property
    def written(self) -> str | None:
        """The text that generated code contains for it; None if it is bound at run time."""
        return self.literal if self.literal is not None else self.torch_name


@record(frozen=True, slots=True)
class Default:
    """The default of a field: `x: str = "train"`, `x: str = field(default="train")` or `field(default_factory=list)`."""

    value: Value
    """The value, or the factory."""
    factory: bool = False
    """True if `value` is called to create the default of each instance."""


def is_kw_only(type: TypeExpr) -> bool:
    """True if an annotation is `dataclasses.KW_ONLY`."""
    return type.name == "dataclasses.KW_ONLY"


def child_class(type: TypeExpr) -> TypeExpr:
    """The class of the children in the annotation of a submodule: `Block` for `Block | None` and for `ModuleList[Block]`."""
    present = next((member for member in members_of(type) if member.name != "None"), type)
    inner = present.args[0] if present.name.startswith("qten_gen.") and present.args else present
    return inner if isinstance(inner, TypeExpr) else present
