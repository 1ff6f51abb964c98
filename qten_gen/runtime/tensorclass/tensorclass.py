"""The base class of declared TensorClasses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar, cast

from torch.utils.data._utils.collate import default_collate_fn_map

from ...common.operation_names import CLASS_METHODS, METHODS
from ..declaring.fields import field
from .core import dimension_names, late
from .core.stored import Stored
from .metaclass import Flagged, TensorClassMeta
from .methods import indexing, metadata, moving
from .methods.gradients import Gradients
from .methods.metadata import Metadata

if TYPE_CHECKING:
    from qten_gen_typing import BatchSizeField, DeviceField, LockField, NamesField, Operations
else:

    class Operations:
        __slots__ = ()


T = TypeVar("T", bound="TensorClass")


class TensorClass(Metadata, Gradients, Operations, Stored, metaclass=TensorClassMeta):
    """Base of declared batches: named tensors that share their leading dimensions, the batch size.

    >>> class Batch(TensorClass):
    ...     tokens: Tensor
    ...     mask: Tensor | None = None
    >>> batch = Batch(torch.zeros(4, 7), batch_size=4)
    >>> batch[:2].tokens.shape, torch.stack([batch, batch]).batch_size
    (torch.Size([2, 7]), torch.Size([2, 4]))

    The annotation decides what a field is. A `Tensor` has a shape that starts with the batch size; another TensorClass is nested,
    and its batch size starts with this one's; any other type is static, the same value for the whole batch. The constructor takes
    the fields in order, then `batch_size`, `device`, `names` and `lock` by keyword. With a device, every tensor is moved to it;
    `names` are those of the batch dimensions; with `lock=True` the object is locked, as by `lock_`.

    Operations return new objects with the static values of the first one. `__post_init__` runs in the constructor only.
    The examples of the methods are about the class `Batch` above.

    Raises:
        TypeError: a value is of another type than its field.
        ValueError: a shape does not start with the batch size, or is not the one that a jaxtyping annotation states.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        batch_size: BatchSizeField = field(default=cast(Any, ()), kw_only=True)
        device: DeviceField = field(default=cast(Any, None), kw_only=True)
        names: NamesField = field(default=cast(Any, None), kw_only=True)
        lock: LockField = field(default=cast(Any, False), kw_only=True)

        # For the `super().__init__(...)` of a class with its own constructor; others get one made of their fields.
        def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    else:
        batch_size = metadata.batch_size
        device = metadata.device
        names = property(
            dimension_names.get_names,
            dimension_names.set_names,
            doc="A name or None for each batch dimension; can be set.",
        )

        def __init__(self, *args, **kwargs):
            raise TypeError(f"{type(self).__name__} has no fields: derive a class from it and annotate them")

    if not TYPE_CHECKING:
        # Checkers and editors see these in `qten_gen_typing`, where `templates.members` writes them out.
        __getitem__ = indexing.getitem
        __len__ = indexing.length
        to = moving.to
        cpu = moving.cpu
        cuda = moving.cuda

    __array_ufunc__: ClassVar[None] = None
    """Tells NumPy to leave operators between its numbers and an object to the object."""

    if not TYPE_CHECKING:  # for checkers an object is no array

        def __array__(self, dtype: object = None, copy: bool | None = None) -> object:
            raise TypeError(
                f"a {type(self).__name__} is not one array; use .numpy(), which gives an array for each field"
            )

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __bool__(self) -> bool:
        raise TypeError(f"the truth value of a {type(self).__name__} is ambiguous; use its tensors")

    def __class_getitem__(cls, flags: str | tuple[str, ...]) -> Any:  # a base class, which has no type
        given = flags if isinstance(flags, tuple) else (flags,)
        if not all(isinstance(flag, str) for flag in given) and not hasattr(super(), "__class_getitem__"):
            raise TypeError(f'the flags of {cls.__name__} are strings, such as {cls.__name__}["frozen"], got {flags!r}')
        if getattr(cls, "__parameters__", ()) or not all(isinstance(flag, str) for flag in given):
            return super().__class_getitem__(flags)  # type: ignore[misc] # that of Generic, where a class derives from it
        return Flagged(cls, frozenset(given))

    if TYPE_CHECKING:

        @classmethod
        def __torch_function__(
            cls,
            func: Callable[..., object],
            types: Sequence[type],
            args: tuple[object, ...] = (),
            kwargs: dict[str, object] | None = None,
        ) -> object: ...


if TYPE_CHECKING:

    class SizedTensorClass(TensorClass, metaclass=TensorClassMeta):  # with its metaclass, it may have frozen subclasses
        """TensorClass, whose constructor requires `batch_size`: without it, a forgotten one means an object without batch."""

        batch_size: BatchSizeField = field(kw_only=True)

else:
    SizedTensorClass = Flagged(TensorClass, frozenset({"sized"}))


def is_tensorclass(value: object) -> TypeGuard[TensorClass | type[TensorClass]]:
    """True if a class is a TensorClass, or a value an object of one. Anything may be passed.

    Type checkers know the value as one where the result is true.

    Examples:
        >>> from qten_gen import TensorClass
        >>> is_tensorclass(TensorClass), is_tensorclass(dict), is_tensorclass(3)
        (True, False, False)
    """
    return issubclass(value if isinstance(value, type) else type(value), TensorClass)


LATE = {
    "core.lookup": "get",
    "methods.keys": "set setdefault pop select exclude keys items is_empty __contains__=contains",
    "methods.updating": "update replace __replace__=replace",
    "methods.inplace": "set_ update_ copy_",
    "core.locking_methods": "lock_ unlock_ __enter__=enter __exit__=leave",
    "torch_tools.datasets": "__getitems__=items_at",
    "methods.assignment": "__setitem__=setitem",
    "methods.joining": "__iter__=iterate",
    "torch_tools.transforms": "vmap",
    "methods.moving": "pin_memory record_stream requires_grad_",
    "methods.applying": "apply named_apply",
    "methods.conversion": "to_dict copy __copy__=copy __deepcopy__=deep_copy __repr__=show",
    "storage.pickling": "__reduce__=reduce __reduce_ex__=reduce_ex __setstate__=restore",
    "torch_tools.packing": "pack",
    "processes.sharing": "share_memory_ is_shared send recv broadcast all_gather",
    "interop.tensordicts": "to_tensordict",
    "interop.records": "numpy tolist",
    "storage.memory_map": """
        memmap memmap_ memmap_like memmap_refresh_ is_memmap load_memmap_ save=memmap dumps=memmap load_=load_memmap_
    """,
    "storage.state_dict": "state_dict load_state_dict",
    "storage.safetensors_files": "save_safetensors",
}
"""The other methods, which are imported when they are first used: by module, with the function where that has another name."""

LATE_ON_CLASS = {
    "storage.memory_map": "load_memmap load=load_memmap",
    "storage.safetensors_files": "load_safetensors",
    "fields.mappings": "from_dict",
    "interop.tensordicts": "from_tensordict",
    "interop.records": "from_numpy from_dataclass from_namedtuple=from_dataclass",
}
"""The same for class methods."""

late.bind(TensorClass, LATE)
late.bind(TensorClass, LATE_ON_CLASS, on_class=True)
late.bind(TensorClass, {"operations.torch_functions": " ".join(METHODS)})
late.bind(TensorClass, {"operations.torch_functions": " ".join((*CLASS_METHODS, "__torch_function__"))}, on_class=True)
TensorClass.__hash__ = None  # as a class statement with `__eq__` has it
late.prepare_for_compiler()


def _collate(items: Any, *, collate_fn_map: object = None) -> Any:
    """The function that the default collate function of a DataLoader calls for objects of every class."""
    from .torch_tools.datasets import collate

    return collate(items)


default_collate_fn_map[TensorClass] = _collate
