"""The source layer: records for the content of one file, before imported names are resolved.

`read` creates these records from text, one `SourceFile` for each file. `link` resolves their names across files and turns them
into declarations. Some rules use them for details that a declaration does not contain.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Literal, Protocol

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
    """True if the call is written `dataclasses.field(...)`."""

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
        """The expressions in its arguments, at any depth of calls, and in choices."""
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
    """True if the field is annotated `ClassVar`, which no specifier may be."""


@record(frozen=True, slots=True)
class Signature:
    """Parameters and result of a function."""

    parameters: str
    """As written, without `self`; a default that is not a short literal is `...`: `x: Tensor, *, scale: float = 1.0`."""
    result: str
    """The annotation of the result as written; empty without one."""
    names: tuple[str, ...] = ()
    """The dotted and plain names that both texts mention: `("Tensor", "float")`."""
    place: NodePath = NO_PATH


@record(frozen=True, slots=True)
class AttributeChange:
    """A statement of a method that assigns an attribute of its object, or appends to one."""

    name: str
    """The attribute: `weight`."""
    action: Literal["assign", "append"]
    makes: tuple[str, ...] = ()
    """The functions that make the value: `torch.nn.Linear`."""
    in_container: bool = False
    """True if the object is inside a list, a dict or the like."""
    moved: bool = False
    """True if the value is the result of a method of what it makes: `nn.Parameter(...).to(device)`."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)
    local: str = ""
    """The variable that the value is."""


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
    changes: tuple[AttributeChange, ...] = field(default=(), compare=False, repr=False)
    """The changes of its object's attributes. Only rules about the class itself use it."""
    reads: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes of its object that it mentions, `""` for the object itself; only where
    virtual tensors may call it."""
    registers_later: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes that an `__init__` or `__post_init__` registers after it assigned them."""


@record(frozen=True, slots=True)
class Mixin:
    """A base without a declaration, or an ancestor of one: a class written by hand, with methods, properties and attributes."""

    name: str
    names: frozenset[str]
    """The names that its body binds."""
    abstract: frozenset[str] = frozenset()
    """The names that a class has to define: abstract ones, and all of a protocol."""
    is_first: bool = False
    """True if its attributes hide the generated class's, because it stands before the first declared base."""


class RegisteredKind(Enum):
    """The kind of object that a statement registers."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    CHILD = "child"
    NONE = "none"
    """None, which any of them can be."""
    OTHER = "other"
    """A value that the text does not tell: `setattr(self, "scale", scale)`."""


@record(frozen=True, slots=True)
class Registered:
    """One statement that registers a name: `self.register_buffer("mask", mask)`, `self.norm = nn.LayerNorm(dim)`."""

    name: str
    kind: RegisteredKind
    by_name: bool = False
    """True if the name is a string, which type checkers do not see."""
    may_be_none: bool = False
    """True if the value is a parameter of the method that is None by default."""
    type: TypeExpr | None = None
    """The class of a child, as far as a call says it."""

    @property
    def is_tensor(self) -> bool:
        """True if the attribute is a parameter or a buffer, which may be None."""
        return self.kind in (RegisteredKind.PARAMETER, RegisteredKind.BUFFER)


@record(frozen=True, slots=True)
class ConditionalSource:
    """Names that a class body binds inside `if`, `try`, `with`, `match` and loops. They are not part of the declaration."""

    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()
    checks: tuple[SpecifierCall, ...] = ()


@record(frozen=True, slots=True)
class ClassSource:
    """A class statement at the top level or inside another class. Its bases decide later whether it is a declaration."""

    name: str
    bases: tuple[TypeExpr, ...]
    """The bases without keywords; flags in brackets stay strings: `TensorClass["frozen"]`."""
    keywords: tuple[tuple[str, Value], ...] = ()
    """The class keywords: `frozen=True`, `checks="off"`, `metaclass=Meta`."""
    fields: tuple[FieldSource, ...] = ()
    """Annotated names and names that a specifier is assigned to, ClassVars left out."""
    methods: tuple[MethodSource, ...] = ()
    """All functions of the body, properties and virtual tensors among them."""
    attributes: tuple[str, ...] = ()
    """Other names that the body binds: assignments without annotation, nested classes, ClassVars."""
    values: tuple[tuple[str, Value], ...] = field(default=(), compare=False, repr=False)
    """The attributes whose value makes an object or is a type, with the value: `head = nn.Linear(2, 2)`."""
    type_parameters: str = ""
    """PEP 695 parameters as written, brackets included: `[T: Tensor]`."""
    doc: str = ""
    place: NodePath = NO_PATH
    conditional: ConditionalSource = ConditionalSource()
    """Names that are bound inside blocks at run time."""
    for_checkers: ConditionalSource = ConditionalSource()
    """Names that are bound under `if TYPE_CHECKING:`."""
    unpacked: tuple[NodePath, ...] = ()
    """Unpacked bases and keywords, `*bases` and `**flags`. Their content is not known from the text."""
    changed: tuple[tuple[str, NodePath], ...] = ()
    """The fields that the body binds or deletes otherwise than by an assignment; `__annotations__` if it changes that."""
    decorators: tuple[tuple[str, NodePath], ...] = ()
    """Qualified names of the class decorators: `dataclasses.dataclass`."""
    registers: tuple[Registered, ...] = ()
    """The objects that its `__init__` registers: parameters, buffers and children."""
    checks: tuple[SpecifierCall, ...] = ()
    """The statements `check(...)` of its body."""
    outer: str = ""
    """The class around it, `Outer` or `Outer.Middle`; empty at the top level."""

    @property
    def qualname(self) -> str:
        """Its name with the classes around it."""
        return f"{self.outer}.{self.name}" if self.outer else self.name


@record(frozen=True, slots=True)
class RegistrationSource:
    """A handler at the top level of a file: `@Attention.register(Batch)` above `def _(attention, batch): ...`."""

    owner: TypeExpr
    """The module that dispatches: `Attention`."""
    type: TypeExpr
    """The type that the handler is for: `Batch`."""
    handler: str
    """Name of the function."""
    signature: Signature
    """All parameters: the module itself is the first."""
    replaces: bool = False
    """True if the handler is given `replace=True`."""
    place: NodePath = NO_PATH


@record(frozen=True, slots=True)
class ReplaceSource:
    """A call that copies an object with other values in some fields: `batch.point.replace(weight=None)`."""

    owner: tuple[str, ...]
    """The qualified name of the class of `batch`, and the fields that lead to the object: `("shop.model.Batch", "point")`."""
    given: tuple[tuple[str, Value], ...]
    """The keywords and their values."""


@record(frozen=True, slots=True)
class ImportedName:
    """The import that binds a top-level name.

    `import torch as t` binds `t` to `("torch", None)`, and `from .base import B` binds `B` to `(".base", "B")`.
    """

    module: str
    """As written, leading dots included."""
    name: str | None
    """The name inside the module; None if the module itself is bound."""
    type_checking: bool = False
    """True if the import is under `if TYPE_CHECKING:`."""


class Reexports(Protocol):
    """The names that other files reexport from outside the run."""

    def get(self, name: str, /) -> str | None:
        """The origin of a reexported name, `torch.Tensor` for `shop.common.Tensor`; None for any other name."""
        ...


class Asked:
    """Stands for the reexports of a first reading: it knows none, and remembers the names that were asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def get(self, name: str) -> str | None:
        self.names.add(name)
        return None


@record(frozen=True, slots=True)
class ImportContext:
    """The facts about other files that a reader needs to resolve the names of this one."""

    reexports: Reexports | None = None
    """The names that other files reexport. Without them, names mean what this file alone says."""
    star_names: Mapping[str, ImportedName] = field(default_factory=dict)
    """The names that its star imports bind."""
    complete: bool = False
    """True if `star_names` contains all names that star imports bind."""


@record(frozen=True, slots=True)
class TypeVariable:
    """A type variable that the file defines: `T = TypeVar("T", bound=Tensor)`, or `[T: Tensor]` of a class."""

    bound: TypeExpr | None
    """Its bound, or the union of its constraints; None without either."""


@record(frozen=True, slots=True)
class SourceFile:
    """The content of one file."""

    path: str
    """The path of the file for diagnostics: `src/shop/model.py`."""
    module: str
    """Its dotted name: `shop.model`."""
    classes: tuple[ClassSource, ...] = ()
    """Top-level classes, those inside `if` and `try` included. Of several with the same name, the last."""
    inner: tuple[ClassSource, ...] = ()
    """The classes inside classes. Nothing is generated for them in a file, but they are checked."""
    imports: dict[str, ImportedName] = field(default_factory=dict)
    """The imported names and their imports."""
    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    """Names bound to a type expression: `Tokens = Int[Tensor, "b s"]`; in a class body, `Class.Tokens`."""
    alternatives: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """Names of the top level that are bound in several ways, or to what the text does not show, as types."""
    constants: dict[str, str] = field(default_factory=dict)
    """Names that are bound once, to an expression that may be a constant, as written; in a class body, `Class.SIZE`."""
    nested: dict[str, tuple[TypeExpr, ...]] = field(default_factory=dict)
    """The bases of the classes inside classes, by names such as `Class.Inner`."""
    makers: frozenset[str] = frozenset()
    """Functions that call a specifier, whose results may be specifiers therefore."""
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    """Type variables by name; in a class body, `Class.T`."""
    registrations: tuple[RegistrationSource, ...] = ()
    replacements: tuple[ReplaceSource, ...] = ()
    names: frozenset[str] = frozenset()
    """Every name bound at the top level."""
    suppressed: tuple[str, ...] = ()
    """The texts of the top-level statements with a comment `# qten-gen: ignore[...]`, which decide what it suppresses."""
    is_package: bool = False
    """True if the file is an `__init__.py`, in which relative imports start from the package itself."""
    star_imports: tuple[str, ...] = ()
    """The modules, as written, of `from module import *`."""
    repeated: tuple[ClassSource, ...] = ()
    """Class statements that repeat the name of an earlier one."""
    has_star_import: bool = False
    """True if a star import or `globals()[name] = ...` may bind names that are not known. An unknown base is no mistake then."""
    exported: tuple[str, ...] | None = None
    """The names in `__all__`; None if the file has none, or one that is computed."""
    is_program: bool = False
    """True if the text contains `"__main__"`, as programs do."""
