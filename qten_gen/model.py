"""The declaration model: what a declaration says, as data.

Two layers stand here and nothing else. The *source* layer (`SourceFile`, `ClassSource`, `FieldSource`) is what one file says on
its own, before anybody knows what an imported name means. The *declaration* layer (`TensorClassDecl`, `ModuleDecl`) is what it
means: inherited fields in place, kinds decided. Readers make the first, `link` the second; rules, emitters and the run-time
check read the second. All are frozen; none knows libcst, torch or a disk.

Two declarations are equal when the same run-time class is generated for them. What only documents or types (spelling of an
annotation, docstrings, places) is left out of the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256

FORMAT = 1
"""Number of the output format: it changes when the generated text for an unchanged declaration does."""

FLAGS = ("autocast", "frozen", "nocast", "open", "shadow", "tensor_only")
"""Class flags of a TensorClass, in keyword or bracket form; each is off unless given.

`open` keeps fields in the instance dict instead of slots: such a class takes undeclared attributes and may be combined with
another class that has fields.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: attribute names and indexes that lead to it from the root of the file's syntax tree.

    A place is turned into a line and a column only when a diagnostic is shown (`read.positions`), because positions cost more
    than the parse itself.
    """

    path: tuple[str | int, ...] = ()

    def __truediv__(self, step: str | int) -> Place:
        return Place((*self.path, step))

    def beside(self, step: str) -> Place:
        """The place of another attribute of the node that this one belongs to."""
        return Place((*self.path[:-1], step))


NOWHERE = Place()


# Type expressions and values


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
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The plain and dotted names that `text` mentions, which a stub has to import."""


def union(members: tuple[TypeExpr, ...]) -> TypeExpr:
    """A union of type expressions, nested ones flattened and repeated ones dropped; a single member stands for itself."""
    flat: dict[TypeExpr, None] = {}
    for member in members:
        flat.update(dict.fromkeys(m for m in (member.args if member.name == "|" else (member,)) if isinstance(m, TypeExpr)))
    return next(iter(flat)) if len(flat) == 1 else TypeExpr("|", tuple(flat))


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a declaration mentions: a default, an initialiser, a dtype, a class to construct.

    `literal` is its canonical text where it is a Python literal (`"'train'"`, `"0.001"`), `torch_name` its qualified name where it
    belongs to torch (`torch.nn.init.ones_`); generated code writes these two directly. Anything else is bound to the generated
    class when the class statement runs. The three are not compared: `verify` does, against the object itself.
    """

    text: str = field(default="", compare=False)
    literal: str | None = field(default=None, compare=False)
    torch_name: str | None = field(default=None, compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def written(self) -> str | None:
        """What generated code writes for it, or None where it must be bound."""
        return self.literal if self.literal is not None else self.torch_name


@dataclass(frozen=True, slots=True)
class Default:
    """A field's default: a value, or a factory called for each instance."""

    value: Value
    factory: bool = False


# Dimension expressions


@dataclass(frozen=True, slots=True)
class Number:
    """A non-negative integer."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a config field."""

    name: str


@dataclass(frozen=True, slots=True)
class Negate:
    """A minus sign before an expression."""

    operand: Dim


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions joined by one of `+ - * //`."""

    operator: str
    left: Dim
    right: Dim


Dim = Number | Name | Negate | Binary
"""A dimension: an integer expression over config fields."""


@dataclass(frozen=True, slots=True)
class DimError:
    """A dimension that could not be read: its text, what is wrong, and the offset of the fault in the text."""

    text: str
    problem: str
    offset: int


def dim_names(dim: Dim) -> frozenset[str]:
    """The config fields that a dimension reads."""
    match dim:
        case Number():
            return frozenset()
        case Name(name):
            return frozenset({name})
        case Negate(operand):
            return dim_names(operand)
        case Binary(_, left, right):
            return dim_names(left) | dim_names(right)


# The source layer: one file on its own


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a field specifier: positional where `keyword` is None. A dimension string is parsed, the rest is a value."""

    keyword: str | None
    value: Dim | DimError | Value
    place: Place = field(default=NOWHERE, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)
    """The content of the string that a dimension was written as."""


@dataclass(frozen=True, slots=True)
class Specifier:
    """A call on the right of a field: `param("3*dim", "dim", initializer=...)`.

    `name` is the qualified name of what is called (`qten_gen.param`).
    """

    name: str
    arguments: tuple[Argument, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def get(self, keyword: str) -> Argument | None:
        """The argument of that keyword, if it is given."""
        return next((argument for argument in self.arguments if argument.keyword == keyword), None)

    @property
    def positional(self) -> tuple[Argument, ...]:
        """The arguments without a keyword."""
        return tuple(argument for argument in self.arguments if argument.keyword is None)


@dataclass(frozen=True, slots=True)
class FieldSource:
    """`name: annotation = value` in a class body. `annotation` is None for `name = param(...)`, which a rule reports."""

    name: str
    annotation: TypeExpr | None
    value: Value | None = None
    specifier: Specifier | None = None
    doc: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's parameters and result as written, without `self`, for the stub: `parameters` is `"x: Tensor, *, scale: float = ..."`."""

    parameters: str
    result: str
    names: tuple[str, ...] = ()
    """The dotted and plain names that the text mentions, which the stub has to import."""
    is_async: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class MethodSource:
    """A function in a class body. `decorators` are qualified names (`builtins.property`, `qten_gen.virtual`)."""

    name: str
    signature: Signature
    decorators: tuple[str, ...] = ()
    specifier: Specifier | None = None
    """The decorator's call where it is `@virtual(...)`."""
    doc: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class ClassSource:
    """A top-level class statement, before anybody knows whether it declares."""

    name: str
    bases: tuple[TypeExpr, ...]
    keywords: tuple[tuple[str, Value], ...] = ()
    fields: tuple[FieldSource, ...] = ()
    methods: tuple[MethodSource, ...] = ()
    attributes: tuple[str, ...] = ()
    """Other names that the body binds: assignments without annotation, nested classes, ClassVars."""
    type_parameters: str = ""
    """PEP 695 parameters as written, brackets included."""
    doc: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class RegistrationSource:
    """`@Owner.register(Type) def handler(...)` at the top level of a file. The signature keeps all parameters."""

    owner: TypeExpr
    type: TypeExpr
    handler: str
    signature: Signature
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class ImportedName:
    """What a top-level name was imported as: `import torch as t` is `t -> ("torch", None)`, `from .base import B` is `B -> (".base", "B")`."""

    module: str
    name: str | None
    type_checking: bool = False


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A type variable defined in the file: its bound, or the union of its constraints."""

    bound: TypeExpr | None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What one file says. `module` is its dotted name, `path` how it was given to the run."""

    path: str
    module: str
    classes: tuple[ClassSource, ...] = ()
    imports: dict[str, ImportedName] = field(default_factory=dict)
    aliases: dict[str, TypeExpr] = field(default_factory=dict)
    """Module-level names bound to a type expression: `Tokens = Int[Tensor, "b s"]`."""
    type_variables: dict[str, TypeVariable] = field(default_factory=dict)
    registrations: tuple[RegistrationSource, ...] = ()
    names: frozenset[str] = frozenset()
    """Every name bound at the top level."""
    future_annotations: bool = False
    is_package: bool = False
    has_star_import: bool = False
    """Whether names come from `from module import *`, so that an unknown name is no mistake."""


# The declaration layer: what it means


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


@dataclass(frozen=True, slots=True)
class FieldDecl:
    """A field of a TensorClass.

    `nested` is the class name of a nested field, without module. `cast` is the builtin that a value is converted with
    (`"float"`) where the class says `autocast`. `dims` and `dtype` come from a jaxtyping annotation: `"*batch seq"`, `"Int"`.
    """

    name: str
    kind: FieldKind
    optional: bool = False
    nested: str | None = None
    cast: str | None = None
    dims: str | None = None
    dtype: str | None = None
    default: Default | None = None
    kw_only: bool = False
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    """Qualified name of the class that declares it."""
    place: Place = field(default=NOWHERE, compare=False, repr=False)


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
    post_init: bool = False
    """Whether the class or a parent defines `__post_init__`."""
    custom_init: bool = False
    """Whether the class defines `__init__` itself."""
    module: str = field(default="", compare=False)
    bases: tuple[BaseDecl, ...] = field(default=(), compare=False)
    type_parameters: str = field(default="", compare=False)
    doc: str = field(default="", compare=False)
    methods: tuple[MethodSource, ...] = field(default=(), compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)

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
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ParameterDecl:
    """A parameter: its shape over config fields, and how it is initialised."""

    name: str
    dims: tuple[Dim, ...]
    initializer: Value | None = None
    dtype: Value | None = None
    requires_grad: bool = True
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BufferDecl:
    """A buffer: its shape, whether it is in the state dict, and how it is initialised."""

    name: str
    dims: tuple[Dim, ...]
    persistent: bool = True
    initializer: Value | None = None
    dtype: Value | None = None
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SubmoduleDecl:
    """A child module: the class to construct and its arguments, dimensions among them parsed."""

    name: str
    cls: Value
    arguments: tuple[Argument, ...] = ()
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VirtualDecl:
    """A tensor derived from other attributes, computed when it is read."""

    name: str
    cached: bool = False
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)


ModuleField = ConfigDecl | ParameterDecl | BufferDecl | SubmoduleDecl | VirtualDecl


@dataclass(frozen=True, slots=True)
class RegistrationDecl:
    """A handler of a Module for one type, for the stub's overloads."""

    owner: str
    type: TypeExpr
    handler: str
    signature: Signature
    module: str
    place: Place = NOWHERE


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
    module: str = field(default="", compare=False)
    bases: tuple[BaseDecl, ...] = field(default=(), compare=False)
    type_parameters: str = field(default="", compare=False)
    forward: Signature | None = field(default=None, compare=False)
    registrations: tuple[RegistrationDecl, ...] = field(default=(), compare=False)
    """Handlers registered for the class itself."""
    handlers: tuple[RegistrationDecl, ...] = field(default=(), compare=False)
    """Handlers that it answers to, inherited ones included: one for each type, the most specific type first."""
    doc: str = field(default="", compare=False)
    methods: tuple[MethodSource, ...] = field(default=(), compare=False)
    place: Place = field(default=NOWHERE, compare=False, repr=False)


Declaration = TensorClassDecl | ModuleDecl

PRIVATE_NAMES = frozenset(
    "_assumed _batch_size _contents _declaration _defaults _device _fields _fingerprint _flags _index_put _join _leaves _map "
    "_map_with _nested _part _refill _specifiers _static _tensors _to_dict _zip".split()
)
"""Private attributes of generated classes and of TensorClass itself."""


def storage(name: str) -> str:
    """The private attribute that holds a field of a TensorClass.

    >>> storage("tokens"), storage("map")
    ('_tokens', '_map_')
    """
    return f"_{name}_" if f"_{name}" in PRIVATE_NAMES else f"_{name}"


@dataclass(frozen=True, slots=True)
class FileDecl:
    """All declarations of one source file, ready for rules and emitters."""

    source: SourceFile
    declarations: tuple[Declaration, ...]
    related: dict[str, Declaration] = field(default_factory=dict)
    """Every declaration that these mention as a base, a field or a registered type, their own ones included, by qualified name."""
    sources: dict[str, SourceFile] = field(default_factory=dict)
    """The files that these, their handlers and their inherited methods stand in, by module name, its own included."""

    def is_package(self, module: str) -> bool:
        """Whether one of the modules is a package's `__init__.py`."""
        return module in self.sources and self.sources[module].is_package


def fingerprint(declaration: Declaration) -> str:
    """Twelve hex digits that differ when another run-time class would be generated.

    It covers what is compared (see the module's docstring); values that the generated text spells out are checked one by one
    when the class statement runs.
    """
    return sha256(f"{FORMAT} {structure(declaration)}".encode()).hexdigest()[:12]


def structure(node: object) -> object:
    """The compared part of a model node as nested tuples, whose `repr` is the same in every process."""
    match node:
        case tuple():
            return tuple(structure(item) for item in node)
        case frozenset():
            return tuple(sorted(str(item) for item in node))
        case Enum():
            return str(node.value)
        case str() | int() | None:
            return node
    compared = (name for name, f in type(node).__dataclass_fields__.items() if f.compare)  # type: ignore[attr-defined] # only dataclasses are left
    return (type(node).__name__, *(structure(getattr(node, name)) for name in compared))
