"""Records for the statements of a class body: fields, their specifiers, and methods.

Both readers create these records, `read` from the syntax tree of a file and `reflection` from the namespace of a class statement.
`build_field` turns a field into its declaration without knowing which reader created it. `reflection` leaves `place` empty, and
fills `doc` and texts only if they are known at run time.
"""

from __future__ import annotations

from ..common.records import field, record
from .dimensions import Dim, DimError
from .field_parts import NO_PATH, NodePath, TypeExpr, Value


@record(frozen=True, slots=True)
class Argument:
    """One argument of a specifier: `"3*dim"` or `initializer=nn.init.ones_`."""

    keyword: str | None
    """`"initializer"`; None for a positional argument."""
    value: Dim | DimError | Value | SpecifierCall
    """A parsed dimension if the specifier takes one (`language.takes_dimension`) and one is given; a call if a submodule
    is among the arguments of another; otherwise a value."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)
    """The content of the string literal of a dimension, `3*dim`: offsets of a `DimError` count in it."""


@record(frozen=True, slots=True)
class SpecifierCall:
    """A call of a field specifier: `param("3*dim", "dim", initializer=nn.init.ones_)`, or `virtual(cached=True)`."""

    name: str
    """The qualified name of the specifier, even if it is imported under another name: `qten_gen.param`."""
    arguments: tuple[Argument, ...]
    """All arguments in the order of the call."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    of_dataclasses: bool = field(default=False, compare=False, repr=False)
    """Whether it is written `dataclasses.field(...)`."""

    def get(self, keyword: str) -> Argument | None:
        """The argument with that keyword; None if it is not given."""
        return next((argument for argument in self.arguments if argument.keyword == keyword), None)

    @property
    def nested(self) -> tuple[Argument, ...]:
        """All arguments, each call of a submodule among them followed by its own arguments."""
        found: list[Argument] = []
        for argument in self.arguments:
            found.append(argument)
            if isinstance(argument.value, SpecifierCall):
                found.extend(argument.value.nested)
        return tuple(found)

    @property
    def nested_dims(self) -> tuple[Dim, ...]:
        """The expressions in its arguments, in those of calls among them, and in choices."""
        return tuple(
            dim
            for argument in self.nested
            if not isinstance(dim := expression_of(argument), DimError | Value | SpecifierCall | None)
        )

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The arguments without a keyword."""
        return tuple(argument for argument in self.arguments if argument.keyword is None)


def expression_of(argument: Argument) -> Dim | DimError | Value | SpecifierCall | None:
    """The value of an argument; for a choice, the expression that decides."""
    value = argument.value
    return value if not isinstance(value, Value) or value.choice is None else value.choice.selector


@record(frozen=True, slots=True)
class FieldSource:
    """`name: annotation = value` in a class body."""

    name: str
    annotation: TypeExpr | None
    """None for `scale = param(8)` without an annotation, which a rule reports."""
    value: Value | None = None
    """The default as written on the right: `"train"`. None without a default, or with a specifier."""
    specifier: SpecifierCall | None = None
    """`param(8)`, `field(default=1)`, ...; None without a specifier."""
    doc: str = ""
    """The string literal on the line below the field."""
    place: NodePath = NO_PATH
    is_class_variable: bool = False
    """Whether it is annotated `ClassVar`, which a specifier cannot be."""


@record(frozen=True, slots=True)
class Signature:
    """Parameters and result of a function, for the stub."""

    parameters: str
    """As written, without `self`; a default that is not a short literal is `...`: `x: Tensor, *, scale: float = 1.0`."""
    result: str
    """The annotation of the result as written; empty without one."""
    names: tuple[str, ...] = ()
    """The dotted and plain names that both texts mention, which the stub has to import: `("Tensor", "float")`."""
    is_async: bool = False
    """Whether it is written `async def`."""
    yields: bool = False
    """Whether it is an asynchronous generator, which a stub writes without `async`."""
    type_parameters: str = ""
    """Its PEP 695 parameters as written, brackets included."""
    place: NodePath = NO_PATH


@record(frozen=True, slots=True)
class Change:
    """A change of an attribute by a statement of a method of the same object."""

    name: str
    """The attribute: `weight`; empty for the object itself."""
    action: str
    """`"assign"`, `"augment"` (`+=`), `"element"` (`self.x[0] = 1`), `"in place"` (`self.x.add_(1)`) or `"append"`."""
    makes: tuple[str, ...] = ()
    """The function that makes the value: `torch.nn.Linear`; the method of a change in place."""
    in_container: bool = False
    """Whether that is inside a list, a dict or the like."""
    moved: bool = False
    """Whether the value is the result of a method of what it makes: `nn.Parameter(...).to(device)`."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@record(frozen=True, slots=True)
class MethodSource:
    """A function in a class body."""

    name: str
    signature: Signature
    decorators: tuple[str, ...] = ()
    """Qualified names, top to bottom: `builtins.property`, `qten_gen.virtual`."""
    specifier: SpecifierCall | None = None
    """The call of the decorator if it is `@virtual(...)`."""
    doc: str = ""
    place: NodePath = NO_PATH
    changes: tuple[Change, ...] = field(default=(), compare=False, repr=False)
    """The changes of its object's attributes. Only rules about the class itself use it."""
    reads: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes of its object that it mentions, `""` for the object itself; only where
    virtual tensors may call it."""
    registers_later: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes that an `__init__` or `__post_init__` registers after it assigned them."""
    receiver: str = field(default="self", compare=False, repr=False)
    """The first parameter as written: `self`, `cls`, `self: Self`; empty for a static method. Only stubs use it."""
    spelled: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The decorators as written, with their arguments: `property`, `retry(times=3)`. Only stubs use them."""


@record(frozen=True, slots=True)
class Mixin:
    """A base without a declaration, or an ancestor of one: a class written by hand, with methods, properties and attributes."""

    name: str
    names: frozenset[str]
    """The names that its body binds."""
    abstract: frozenset[str] = frozenset()
    """The names that a class has to define: abstract ones, and all of a protocol."""
    is_first: bool = False
    """Whether its attributes hide those of the generated class, because it stands before the first declared base."""
