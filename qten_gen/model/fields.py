"""The declarations of fields, which `build_field` creates from `name: annotation = value`.

Rules check them, emitters write the code for them, and the fingerprint of a class covers them.
"""

from __future__ import annotations

from ..common import language
from ..common.field_kinds import AnnotatedField
from ..common.field_kinds import FieldKind as FieldKind
from ..common.records import field, record
from .dimensions import Dim, dim_names
from .field_parts import NO_PATH, Default, NodePath, TypeExpr, Value
from .source import Argument, SpecifierCall


@record(frozen=True, slots=True)
class FieldDecl(AnnotatedField):
    """A field of a TensorClass: `tokens: Int[Tensor, "*batch seq"]`."""

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
class _OfModule:
    """What the declarations of the fields of a Module have alike. All but the name documents and locates, and is not compared."""

    name: str
    type: TypeExpr = field(default=TypeExpr(""), compare=False, kw_only=True)
    """The annotation, names resolved, as in `mask: Tensor | None`."""
    doc: str = field(default="", compare=False, kw_only=True)
    """The string literal on the line below the field."""
    owner: str = field(default="", compare=False, kw_only=True)
    """The qualified name of the class that declares it, `shop.model.Batch`, which is an ancestor for an inherited field."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False, kw_only=True)
    """Its place in the file of the owner."""


@record(frozen=True, slots=True)
class ConfigDecl(_OfModule):
    """A constructor argument of a Module, kept as an ordinary attribute: `dim: int`, `heads: int = 8`."""

    default: Default | None = None
    """`8` of `heads: int = 8`."""
    kw_only: bool = False
    """True if the constructor takes the field by keyword only: `field(kw_only=True)`."""
    alias: str | None = None
    """Its name in the constructor where that is another one: `norm_class: type[nn.Module] = field(alias="norm")`."""

    @property
    def argument(self) -> str:
        """Its name in the constructor."""
        return self.alias or self.name


@record(frozen=True, slots=True)
class _TensorDecl(_OfModule):
    """What the declarations of parameters and buffers have alike."""

    dims: tuple[Dim, ...]
    """Its shape over config fields: `3*dim` and `dim`."""
    initializer: Value | None = field(default=None, kw_only=True)
    """The function that fills it in place: `nn.init.xavier_uniform_`."""
    dtype: Value | None = field(default=None, kw_only=True)
    """A dtype that the constructor's `dtype` does not replace: `dtype=torch.float32`."""
    when: Dim | None = field(default=None, kw_only=True)
    """The condition under which it exists, `when="use_bias"`; otherwise None is registered."""
    value: Value | None = field(default=None, kw_only=True)
    """The function of the module that computes it, `value=causal_mask`, or the name of a method."""
    keep_dtype: bool = field(default=False, kw_only=True)
    """True if a cast of the module leaves the dtype alone: `keep_dtype=True`."""


@record(frozen=True, slots=True)
class ParameterDecl(_TensorDecl):
    """A parameter of a Module: `qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)`."""

    requires_grad: bool = True
    tie: str | None = None
    """The path of the parameter that this is a second name of, `tie="embed.weight"`."""
    repeat: Dim | None = None
    """How many parameters a ParameterList gets: `repeat="depth"`."""
    keys: str | tuple[str, ...] | None = None
    """The names of the parameters of a ParameterDict, or the config field that contains them."""
    group: str | None = None
    """The group of the optimizer that it belongs to: `group="no_decay"`."""

    @property
    def is_several(self) -> bool:
        """True if the field is a list or a dict of parameters."""
        return self.repeat is not None or self.keys is not None


@record(frozen=True, slots=True)
class BufferDecl(_TensorDecl):
    """A buffer of a Module: `scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)`."""

    persistent: bool = True
    """True if the buffer is in the state dict."""


@record(frozen=True, slots=True)
class SubmoduleDecl(_OfModule):
    """A child of a Module: `blocks: ModuleList[Block] = submodule(Block, "dim", repeat="depth")`."""

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
class VirtualDecl(_OfModule):
    """A tensor that a method derives from other attributes: `@virtual(cached=True)` above `def causal(self, dtype, device)`."""

    cached: bool = False
    """True if the result is kept until a value changes that the method reads."""
    cast: bool = False
    """True if a floating point result gets the module's dtype."""
    reads: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The attributes that the method reads of its module; `""` for the module as a whole."""


@record(frozen=True, slots=True)
class DerivedDecl(_OfModule):
    """An attribute computed from constructor arguments: `head_dim: int = derived("dim // heads")`."""

    value: Dim
    """The expression for it: `dim // heads`."""


@record(frozen=True, slots=True)
class CheckDecl:
    """A condition on the constructor arguments of a Module: `check("dim % heads == 0")`."""

    condition: Dim
    owner: str = field(default="", compare=False)
    """The qualified name of the class that declares it."""
    place: NodePath = field(default=NO_PATH, compare=False, repr=False)


ModuleField = ConfigDecl | DerivedDecl | ParameterDecl | BufferDecl | SubmoduleDecl | VirtualDecl
"""A field of a Module: the specifier decides which of these it is, and without one it is a constructor argument."""
