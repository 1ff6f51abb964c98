"""The declarations of fields, which `build_field` creates from `name: annotation = value`.

Rules check them, emitters write the code for them, and the fingerprint of a class covers them.

Every field declaration ends with the same four attributes. They document and locate it, and are not compared:

- `type`: the annotation, names resolved, as in `mask: Tensor | None`;
- `doc`: the string literal on the line below the field;
- `owner`: the qualified name of the class that declares it, `shop.model.Batch`, which is an ancestor for an inherited field;
- `place`: its place in the file of the owner.
"""

from __future__ import annotations

from enum import Enum

from ..common import language
from ..common.records import field, record
from .dimensions import Dim, dim_names
from .field_parts import NO_PATH, Default, NodePath, TypeExpr, Value
from .source import Argument, SpecifierCall


class FieldKind(Enum):
    """How a TensorClass field is stored. `common.field_kinds` decides it from the annotation."""

    TENSOR = "tensor"
    """A tensor whose leading dimensions are the batch size: `Tensor`, `Int[Tensor, "*batch seq"]`, `dict[str, Tensor]`."""
    NUMBER = "number"
    """A number that is stored as a tensor: `AsTensor[int]`, and `int` in a class that is neither `autocast` nor `nocast`."""
    NESTED = "nested"
    """Another TensorClass, whose batch size starts with this one's: `Point`."""
    RAGGED = "ragged"
    """Items with different numbers of rows, which are tensors or objects of a TensorClass: `Ragged[Tensor]`."""
    STATIC = "static"
    """Any other Python value, the same for the whole batch: `str`."""
    PER_ITEM = "per item"
    """Python values, one for each item of the batch: `PerItem[str]`."""

    @property
    def is_static(self) -> bool:
        """True if the field stores Python values, in the table `_static`, with which no operation computes."""
        match self:
            case FieldKind.STATIC | FieldKind.PER_ITEM:
                return True
            case FieldKind.TENSOR | FieldKind.NUMBER | FieldKind.NESTED | FieldKind.RAGGED:
                return False


@record(frozen=True, slots=True)
class FieldDecl:
    """A field of a TensorClass: `tokens: Int[Tensor, "*batch seq"]`."""

    name: str
    kind: FieldKind
    optional: bool = False
    """True if None is among the field's values: `mask: Tensor | None`."""
    nested: str | None = None
    """The class name of a nested field, or of the rows of a ragged one, without its module: `Point`."""
    cast: str | None = None
    """The builtin that values are converted with, for a number and in an `autocast` class: `"float"` for `rate: float`."""
    dims: str | None = None
    """The shape that a jaxtyping annotation states, of a ragged field for the rows of an item: `"*batch seq"`."""
    dtype: str | None = None
    """jaxtyping's name for the dtype, or for several: `"Int"` of `Int[Tensor, "*batch seq"]`."""
    unbatched: bool = False
    """True if the tensor has no batch dimensions: `Unbatched[Tensor]`."""
    container: str | None = None
    """`"dict"` for `dict[str, Tensor]` and `"list"` for `list[Tensor]`; None for a single tensor."""
    default: Default | None = None
    """`None` of `mask: Tensor | None = None`. Without a default, the constructor requires the argument."""
    kw_only: bool = False
    """True if the constructor takes the field by keyword only: `field(kw_only=True)`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def argument(self) -> str:
        """Its name in the constructor."""
        return self.name


@record(frozen=True, slots=True)
class ConfigDecl:
    """A constructor argument of a Module, kept as an ordinary attribute: `dim: int`, `heads: int = 8`."""

    name: str
    default: Default | None = None
    """`8` of `heads: int = 8`."""
    kw_only: bool = False
    """True if the constructor takes the field by keyword only: `field(kw_only=True)`."""
    alias: str | None = None
    """Its name in the constructor where that is another one: `norm_class: type[nn.Module] = field(alias="norm")`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def argument(self) -> str:
        """Its name in the constructor."""
        return self.alias or self.name


@record(frozen=True, slots=True)
class ParameterDecl:
    """A parameter of a Module: `qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)`."""

    name: str
    dims: tuple[Dim, ...]
    """Its shape over config fields: `3*dim` and `dim`."""
    initializer: Value | None = None
    """The function that fills it in place: `nn.init.xavier_uniform_`."""
    dtype: Value | None = None
    """A dtype that the constructor's `dtype` does not replace: `dtype=torch.float32`."""
    requires_grad: bool = True
    when: Dim | None = None
    """The condition under which the parameter exists, `when="use_bias"`; otherwise None is registered."""
    tie: str | None = None
    """The path of the parameter that this is a second name of, `tie="embed.weight"`."""
    value: Value | None = None
    """The function of the module that computes its first value, `value=decay_rates`, or the name of a method."""
    repeat: Dim | None = None
    """How many parameters a ParameterList gets: `repeat="depth"`."""
    keys: str | tuple[str, ...] | None = None
    """The names of the parameters of a ParameterDict, or the config field that contains them."""
    group: str | None = None
    """The group of the optimizer that it belongs to: `group="no_decay"`."""
    keep_dtype: bool = False
    """True if a cast of the module leaves the dtype alone: `keep_dtype=True`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def is_several(self) -> bool:
        """True if the field is a list or a dict of parameters."""
        return self.repeat is not None or self.keys is not None


@record(frozen=True, slots=True)
class BufferDecl:
    """A buffer of a Module: `scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)`."""

    name: str
    dims: tuple[Dim, ...]
    """Its shape over config fields: `heads`."""
    persistent: bool = True
    """True if the buffer is in the state dict."""
    initializer: Value | None = None
    """The function that fills it in place: `nn.init.ones_`."""
    dtype: Value | None = None
    """A dtype that the constructor's `dtype` does not replace: `dtype=torch.int64`."""
    when: Dim | None = None
    """The condition under which the buffer exists, `when="use_scale"`; otherwise None is registered."""
    value: Value | None = None
    """The function of the module that computes it, `value=causal_mask`, or the name of a method."""
    keep_dtype: bool = False
    """True if a cast of the module leaves the dtype alone: `keep_dtype=True`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@record(frozen=True, slots=True)
class SubmoduleDecl:
    """A child of a Module: `blocks: ModuleList[Block] = submodule(Block, "dim", repeat="depth")`."""

    name: str
    cls: Value
    """The class or function that constructs the child: `Block`."""
    arguments: tuple[Argument, ...] = ()
    """Its arguments in order, with dimensions parsed: `"dim"`. The keywords of `submodule` itself are not included."""
    when: Dim | None = None
    """The condition under which the child exists, `when="use_norm"`; otherwise None is registered. If it mentions `index`, it
    leaves out single children of a list or dict."""
    repeat: Dim | None = None
    """How many children a ModuleList gets: `repeat="depth"`."""
    keys: str | tuple[str, ...] | None = None
    """The names of the children of a ModuleDict, `keys=("a", "b")`, or the config field that contains them, `keys="tasks"`."""
    inner: SubmoduleDecl | None = None
    """Each of the children if they are lists or dicts themselves: `submodule(submodule(Block, repeat=2), repeat="depth")`. The
    class and the arguments belong to the innermost children."""
    group: str | None = None
    """The group of the optimizer for its parameters that have none: `group="no_decay"`."""
    keep_dtype: bool = False
    """True if a cast of the module leaves all dtypes of the child alone: `keep_dtype=True`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)

    @property
    def made(self) -> str:
        """The qualified name of what is called to construct the child; empty if it has none."""
        return self.cls.torch_name or self.cls.name

    @property
    def is_repeated(self) -> bool:
        """True if the field is a list or a dict of children, each of which has an index."""
        return self.repeat is not None or self.keys is not None

    @property
    def call(self) -> SpecifierCall:
        """The call that makes it, or each of several: the class with its arguments, and how many of them the inner lists have."""
        inner = self.inner
        counts: list[Argument] = []
        while inner is not None:
            counts += [] if inner.repeat is None else [Argument(language.REPEAT, inner.repeat)]
            inner = inner.inner
        return SpecifierCall(language.SUBMODULE, (Argument(None, self.cls), *self.arguments, *counts))

    @property
    def has_positions(self) -> bool:
        """True if the field has several children, or is a sequence with a member that stands for several."""
        calls = (argument.value for argument in self.call.nested)
        return self.is_repeated or any(
            isinstance(call, SpecifierCall) and call.get(language.REPEAT) is not None for call in calls
        )

    @property
    def mentioned(self) -> set[str]:
        """The names in its arguments, and in a condition about each of several children."""
        conditions = [self.when] if self.is_filtered and self.when is not None else []
        return {name for dim in (*conditions, *self.call.nested_dims) for name in dim_names(dim)}

    @property
    def is_filtered(self) -> bool:
        """True if the condition is about each of several children: `when="index % 2 == 0"`."""
        return (
            self.is_repeated and self.when is not None and not language.OF_CHILD.keys().isdisjoint(dim_names(self.when))
        )

    @property
    def may_be_none(self) -> bool:
        """True if None is registered where the condition is false."""
        return self.when is not None and not self.is_filtered


@record(frozen=True, slots=True)
class VirtualDecl:
    """A tensor that a method derives from other attributes: `@virtual(cached=True)` above `def causal(self, dtype, device)`."""

    name: str
    cached: bool = False
    """True if the result is kept until a value changes that the method reads."""
    cast: bool = False
    """True if a floating point result gets the module's dtype."""
    reads: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes that the method reads of its module; `""` for the module as a whole."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@record(frozen=True, slots=True)
class DerivedDecl:
    """An attribute computed from constructor arguments: `head_dim: int = derived("dim // heads")`."""

    name: str
    value: Dim
    """The expression for it: `dim // heads`."""
    type: TypeExpr = field(default=TypeExpr(""), compare=False)
    doc: str = field(default="", compare=False)
    owner: str = field(default="", compare=False)
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


@record(frozen=True, slots=True)
class CheckDecl:
    """A condition on the constructor arguments of a Module: `check("dim % heads == 0")`."""

    condition: Dim
    owner: str = field(default="", compare=False)
    """The qualified name of the class that declares it."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


ModuleField = ConfigDecl | DerivedDecl | ParameterDecl | BufferDecl | SubmoduleDecl | VirtualDecl
"""A field of a Module: the specifier decides which of these it is, and without one it is a constructor argument."""
