"""The declaration layer: what declarations mean, with inherited fields in place and kinds decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .dimensions import Dim
from .expressions import NO_PATH, Default, NodePath, TypeExpr, Value
from .source import Argument, MethodSource, Signature, SourceFile

FLAGS = ("autocast", "frozen", "nocast", "open", "shadow", "tensor_only")
"""Class flags of a TensorClass, in keyword or bracket form; each is off unless given.

`open` keeps fields in the instance dict instead of slots: such a class takes undeclared attributes and may be combined with
another class that has fields.
"""

STRING_OPTIONS = {"checks": ("on", "off")}
"""Class keywords that take a word: the words, the one that holds where nothing is said first.

`checks="off"` leaves out what jaxtyping annotations say of shapes and dtypes.
"""


INIT = "init"
"""The class keyword of a Module that keeps the `__init__` which a parent writes by hand: `init=False`, as PEP 681 has it."""


class FieldKind(Enum):
    """What the annotation of a TensorClass field decides about its values."""

    TENSOR = "tensor"
    """A tensor whose leading dimensions are the batch size."""
    NUMBER = "number"
    """`int`, `float`, `bool` or `complex` in a class that casts: a number is stored as a tensor."""
    NESTED = "nested"
    """Another TensorClass, whose batch size starts with this one's."""
    STATIC = "static"
    """Any other Python value, the same for the whole batch."""
    PER_ITEM = "per item"
    """Python values, one for each item of the batch: `PerItem[str]`."""


@dataclass(frozen=True, slots=True)
class FieldDecl:
    """A field of a TensorClass.

    `nested` is the class name of a nested field, without module. `cast` is the builtin that a value is converted with
    (`"float"`) where the class says `autocast`. `dims` and `dtype` come from a jaxtyping annotation: `"*batch seq"`, `"Int"`.
    `unbatched` says that the batch does not carry the tensor: `Unbatched[Tensor]`. `container` is `"dict"` or `"list"` where the
    field holds several tensors.
    """

    name: str
    kind: FieldKind
    optional: bool = False
    nested: str | None = None
    cast: str | None = None
    dims: str | None = None
    dtype: str | None = None
    unbatched: bool = False
    container: str | None = None
    default: Default | None = None
    kw_only: bool = False
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    """Qualified name of the class that declares it."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BaseDecl:
    """A base of a declaration: its qualified name and, for the stub, how the source spells it."""

    name: str
    text: str
    declared: bool
    """True where the base is itself a declaration, False for the root class and for mixins."""


@dataclass(frozen=True, slots=True)
class TensorClassDecl:
    """A TensorClass: all fields in constructor order, inherited ones in place; `own` names those that no parent stores."""

    name: str
    fields: tuple[FieldDecl, ...]
    own: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    checks: str = "on"
    """What the class keyword `checks` says, or else the first parent."""
    post_init: bool = False
    """Whether the class or a parent defines `__post_init__`."""
    custom_init: bool = False
    """Whether the class defines `__init__` itself."""
    frozen_by_keyword: bool = field(default=False, compare=False)
    """Whether the class says `frozen=True`, which checkers see; what is in brackets they miss."""
    module: str = field(default="", compare=False)
    qualname: str = field(default="", compare=False)
    """Name with the classes and functions around it, where there are any."""
    bases: tuple[BaseDecl, ...] = field(default=(), compare=False)
    type_parameters: str = field(default="", compare=False)
    doc: str = field(default="", compare=False)
    methods: tuple[MethodSource, ...] = field(default=(), compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def qualified(self) -> str:
        """Module and name, which no two declarations of a run share."""
        return f"{self.module}.{self.qualname or self.name}"

    @property
    def frozen(self) -> bool:
        """Whether instances are immutable."""
        return "frozen" in self.flags


@dataclass(frozen=True, slots=True)
class ConfigDecl:
    """A constructor argument of a Module, kept as an ordinary attribute."""

    name: str
    default: Default | None = None
    kw_only: bool = False
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ParameterDecl:
    """A parameter: its shape over config fields, and how it is initialised.

    `when` names the config field that says whether there is one; without it the name is registered as None. `tie` is the path
    of the parameter that this one is: `"embed.weight"`.
    """

    name: str
    dims: tuple[Dim, ...]
    initializer: Value | None = None
    dtype: Value | None = None
    requires_grad: bool = True
    when: str | None = None
    tie: str | None = None
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BufferDecl:
    """A buffer: its shape, whether it is in the state dict, how it is initialised, and `when` there is one."""

    name: str
    dims: tuple[Dim, ...]
    persistent: bool = True
    initializer: Value | None = None
    dtype: Value | None = None
    when: str | None = None
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SubmoduleDecl:
    """A child module: the class to construct and its arguments, dimensions among them parsed.

    With `repeat` a ModuleList of so many children alike; with `keys` a ModuleDict of one child for each name, where a string
    is the config field that holds the names.
    """

    name: str
    cls: Value
    arguments: tuple[Argument, ...] = ()
    when: str | None = None
    repeat: Dim | None = None
    keys: str | tuple[str, ...] | None = None
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VirtualDecl:
    """A tensor derived from other attributes, computed when it is read. `sources` are those a cached one is compared by."""

    name: str
    cached: bool = False
    sources: tuple[str, ...] | None = None
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


ModuleField = ConfigDecl | ParameterDecl | BufferDecl | SubmoduleDecl | VirtualDecl


@dataclass(frozen=True, slots=True)
class RegistrationDecl:
    """A handler of a Module for one type, for the stub's overloads."""

    owner: str
    type: TypeExpr
    handler: str
    signature: Signature
    module: str
    place: NodePath = NO_PATH
    result: str = ""
    """Qualified name of the result type where that is a plain name."""


@dataclass(frozen=True, slots=True)
class ModuleDecl:
    """A Module: all fields in order, inherited ones in place; `own` names those that no parent declares.

    With `custom_init` the class or a declared parent writes `__init__` itself and registers by assignment: nothing is generated
    for construction.
    """

    name: str
    fields: tuple[ModuleField, ...]
    own: tuple[str, ...]
    custom_init: bool = False
    custom_reset: bool = False
    """Whether the class or a parent defines `reset_parameters`."""
    inherited_reset: bool = False
    """Whether a parent does, so that the generated one has to call it."""
    keeps_init: bool = field(default=False, compare=False)
    """Whether the class says `init=False`, so that checkers give it the `__init__` of its parent."""
    module: str = field(default="", compare=False)
    qualname: str = field(default="", compare=False)
    """Name with the classes and functions around it, where there are any."""
    bases: tuple[BaseDecl, ...] = field(default=(), compare=False)
    type_parameters: str = field(default="", compare=False)
    forward: Signature | None = field(default=None, compare=False)
    registrations: tuple[RegistrationDecl, ...] = field(default=(), compare=False)
    """Handlers registered for the class itself."""
    handlers: tuple[RegistrationDecl, ...] = field(default=(), compare=False)
    """Handlers that it answers to, inherited ones included: one for each type, the most specific type first."""
    doc: str = field(default="", compare=False)
    methods: tuple[MethodSource, ...] = field(default=(), compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def qualified(self) -> str:
        """Module and name, which no two declarations of a run share."""
        return f"{self.module}.{self.qualname or self.name}"


Declaration = TensorClassDecl | ModuleDecl


def declares(declaration: Declaration, field: FieldDecl | ModuleField) -> bool:
    """Whether a class declares a field itself, rather than inheriting it."""
    return field.owner == declaration.qualified


def home(field: FieldDecl | ModuleField) -> str:
    """The module of the class that declares a field, for a class at the top level of its file."""
    return field.owner.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class FileDecl:
    """All declarations of one source file, ready for rules and emitters."""

    source: SourceFile
    declarations: tuple[Declaration, ...]
    related: dict[str, Declaration] = field(default_factory=dict)
    """Every declaration that these mention (bases, fields, registered types) and these themselves, by qualified name."""
    sources: dict[str, SourceFile] = field(default_factory=dict)
    """The files that these, their handlers and their inherited methods stand in, by module name, its own included."""

    def is_package(self, module: str) -> bool:
        """Whether one of the modules is a package's `__init__.py`."""
        return module in self.sources and self.sources[module].is_package
