"""The metaclass of TensorClass: flags, slots for the fields, and what dataclasses and pytrees know of a class."""

from __future__ import annotations

import dataclasses
from abc import update_abstractmethods
from collections.abc import Collection, Mapping
from functools import wraps
from multiprocessing.reduction import ForkingPickler
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, dataclass_transform

from ...common import language
from ...common.field_kinds import FieldKind
from ...common.naming import storage
from ..declaring.declared_class import without_annotations
from ..declaring.fields import field, number
from ..declaring.metaclass import DeclarationMeta
from . import primitives
from .core import attributes, late
from .core.stored import Stored
from .torch_tools import pytree

if TYPE_CHECKING:
    from ..declaring.declared_class import Summary
    from ..declaring.fields import Default

_SLOTS = ("_batch_size", "_device", "_lock", "_names")
"""Slots of `Stored` that generated code writes."""


class Flagged:
    """`TensorClass["frozen"]` among the bases of a class: TensorClass, and flags for the metaclass to read."""

    def __init__(self, cls: type[Stored], flags: frozenset[str]) -> None:
        self.cls = cls
        self.flags = flags

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type[Stored]]:
        return (self.cls,)

    def __repr__(self) -> str:
        return f"{self.cls.__name__}[{', '.join(map(repr, sorted(self.flags)))}]"


def _reduce_for_processes(instance: Any) -> Any:
    """The form in which a queue of `multiprocessing` sends an object."""
    from .storage.pickling import reduce_for_processes

    return reduce_for_processes(instance)


@dataclass_transform(field_specifiers=(field, number, dataclasses.field), eq_default=False)
@without_annotations
class TensorClassMeta(DeclarationMeta):
    """Metaclass of TensorClass."""

    _nests = True
    _known_flags = language.FLAGS
    _known_options = (*language.STRING_OPTIONS,)
    _fields: tuple[str, ...] = ()
    _flags: frozenset[str] = frozenset()
    _static: tuple[str, ...] = ()
    _unbatched: tuple[str, ...] = ()
    _per_item: tuple[str, ...] = ()
    __attribute_places__: tuple[str, ...] = ()
    __ragged__: tuple[str, ...] = ()
    _containers: tuple[str, ...] = ()
    _nested: dict[str, str]
    _shapes: dict[str, tuple[str, str]]

    if TYPE_CHECKING:
        # Checkers hold the keywords of a class statement against this.
        def __new__(
            mcls,
            name: str,
            bases: tuple[type, ...],
            namespace: dict[str, object],
            /,
            *,
            autocast: bool = False,
            checks: Literal["on", "off"] = "on",
            frozen: bool = False,
            nocast: bool = False,
            open: bool = False,
            shadow: bool = False,
            tensor_only: bool = False,
        ) -> TensorClassMeta: ...

    def __dir__(cls) -> list[str]:
        late.put_all_in_place()  # tools ask for signatures and documentation after this
        return [*super().__dir__()]

    @staticmethod
    def _prepare_namespace(namespace: dict[str, object], summary: Summary) -> None:
        namespace["__dataclass_params__"] = _DataclassParams(summary.frozen)
        # Under the class's own name, not of the generated one: dynamo guards that no class before that of a method has it too.
        namespace |= primitives.stand_ins()
        if "open" in summary.flags:
            return
        given = namespace.get("__slots__", ())
        slots = (given,) if isinstance(given, str) else tuple(cast("tuple[str, ...]", given))
        namespace["__slots__"] = (*slots, *(storage(name) for name in summary.own))

    def _complete_class(cls) -> None:
        """Fill in the tables of `Stored`, the dataclass protocol and the slots, and register the class with pytree and pickle."""
        summary = cls._declared_as
        cls._fields = tuple(f.name for f in summary.fields)
        cls._flags = summary.flags
        cls._static = tuple(f.name for f in summary.fields if f.kind.is_static)
        cls._unbatched = tuple(f.name for f in summary.fields if f.unbatched)
        cls._per_item = tuple(f.name for f in summary.fields if f.kind is FieldKind.PER_ITEM)
        cls.__ragged__ = tuple(f.name for f in summary.fields if f.kind is FieldKind.RAGGED)
        if cls.__ragged__:  # the generated class has those whose rows are objects
            cls._nested = {**dict.fromkeys(cls.__ragged__, ""), **cls._nested}
        cls._containers = tuple(f.name for f in summary.fields if f.container is not None)
        cls._shapes = _shapes_of(summary)
        annotations = {f.name: f.annotation for f in summary.fields}
        keyword_only = {f.name for f in summary.fields if f.kw_only}
        # Not declared on the metaclass: checkers make both for the classes themselves.
        type.__setattr__(cls, "__dataclass_fields__", _dataclass_fields(annotations, cls._defaults, keyword_only))
        positional = tuple(f.name for f in summary.fields if not f.kw_only)
        type.__setattr__(cls, "__match_args__", positional)
        # Looked up once, and where dynamo can follow: `construct` calls it past an `__init__` that the class defines.
        generated = next(base for base in cls.__mro__ if "_fingerprint" in vars(base))
        type.__setattr__(cls, "__generated_init__", staticmethod(vars(generated)["__init__"]))
        _ask_for_fields(cls)
        _implement_abstract(cls, summary)
        private = {*_SLOTS, *Stored.__slots__, *(storage(f.name) for f in summary.fields)}
        attributes.guard(cls, private)
        cls.__attribute_places__ = attributes.places_beside_fields(cls, private)
        _gather_slots(cls, summary)
        primitives.prepare(cast("type[Stored]", cls))
        cls._register()

    def _register(cls, *, is_filled: bool = True) -> None:
        made = cast("type[Stored]", cls)
        if is_filled:
            pytree.register(made)
        else:
            pytree.register_unfilled(made)
        ForkingPickler.register(made, _reduce_for_processes)


def _shapes_of(summary: Summary) -> dict[str, tuple[str, str]]:
    """Dtype and shape that annotations say, by field: `{"tokens": ("Int", "*batch seq")}`; none without checks."""
    checked = summary.fields if summary.checks == "on" else ()
    return {
        f.name: (f.dtype or "Shaped", f.dims) for f in checked if f.dims is not None and f.kind is not FieldKind.RAGGED
    }


def _ask_for_fields(cls: type) -> None:
    """Let the own `__init__` of a class say that it leaves an object without fields, or uses them before they are stored."""
    own = vars(cls).get("__init__")
    if not isinstance(own, FunctionType):
        return

    @wraps(own)
    def init(self: Stored, *args: object, **keywords: object) -> None:
        cause = None
        try:
            own(self, *args, **keywords)
        except AttributeError as error:
            if error.obj is not self or hasattr(self, "_lock"):
                raise
            cause = error
        if not hasattr(self, "_lock"):
            raise TypeError(f"{cls.__name__}.__init__ has to call super().__init__(...) first") from cause

    type.__setattr__(cls, "__init__", init)


def _implement_abstract(cls: type, summary: Summary) -> None:
    """Put the properties of fields before abstract ones that a protocol or an ABC among the bases asks for.

    A mixin that stands before TensorClass hides what is generated. The rules refuse other attributes there.
    """
    generated = [base for base in cls.__mro__ if "_fingerprint" in vars(base)]
    for name in (f.name for f in summary.fields):
        first = next(base for base in cls.__mro__ if name in vars(base))
        if first not in generated and first is not cls:
            type.__setattr__(cls, name, next(vars(base)[name] for base in generated if name in vars(base)))
    update_abstractmethods(cls)


def _gather_slots(cls: type, summary: Summary) -> None:
    """Put the inherited slots under the class's own name as well; an open class keeps its fields elsewhere.

    Where dynamo finds a name in a base, it guards that no class in between has it too: a guard for each slot and generation, in
    every graph that makes an object.
    """
    for name in (*_SLOTS, *(storage(f.name) for f in summary.fields)):
        slot = getattr(cls, name, None)
        if isinstance(slot, MemberDescriptorType) and name not in vars(cls):
            type.__setattr__(cls, name, slot)


def _dataclass_fields(
    annotations: Mapping[str, object], defaults: Mapping[str, Default], keyword_only: Collection[str]
) -> dict[str, dataclasses.Field[object]]:
    """A `__dataclass_fields__` for `dataclasses.fields`, `asdict` and `replace`.

    `batch_size`, `device` and `names` are in it as pseudo-fields of the kind `InitVar`: `replace` passes them on to the
    constructor, and the other functions leave them out.
    """
    made = {name: _field(name, type_, defaults.get(name), name in keyword_only) for name, type_ in annotations.items()}
    for name in ("batch_size", "device", "names"):
        made[name] = _field(name, dataclasses.InitVar[object], None, True)
        made[name].default = None
        _set_kind(made[name], "_FIELD_INITVAR")
    return made


class _DataclassParams(NamedTuple):
    """A `__dataclass_params__`, which `pprint` and others read: no method of a TensorClass was written by `dataclass`."""

    frozen: bool
    init: bool = False
    repr: bool = False
    eq: bool = False
    order: bool = False
    unsafe_hash: bool = False
    match_args: bool = False
    kw_only: bool = False
    slots: bool = False
    weakref_slot: bool = False


def _field(name: str, type_: object, default: Default | None, is_keyword_only: bool) -> dataclasses.Field[object]:
    """The `dataclasses.Field` for one field; `dataclasses.field` itself leaves out name, type and kind."""
    made: dataclasses.Field[object]
    if default is None:
        made = dataclasses.field()
    elif default.is_factory:
        made = dataclasses.field(default_factory=default.value)  # type: ignore[call-overload] # a factory is callable
    else:
        made = dataclasses.field()
        made.default = default.value
    made.name = name
    made.type = type_
    made.kw_only = is_keyword_only
    _set_kind(made, "_FIELD")
    return made


def _set_kind(made: dataclasses.Field[object], kind: str) -> None:
    """`dataclasses` tells real fields from pseudo-fields by a private attribute, which only its decorator sets."""
    setattr(made, "_field_type", getattr(dataclasses, kind))  # noqa: B010 # the attribute is not in the typeshed
