"""The base class of declared TensorClasses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from torch.utils.data._utils.collate import default_collate_fn_map

from ..declaring.fields import field
from .core import dimension_names
from .core.late import Late
from .core.stored import Stored
from .metaclass import Flagged, TensorClassMeta
from .methods import indexing, metadata, moving
from .methods.gradients import Gradients
from .methods.metadata import Metadata
from .operations import binding

if TYPE_CHECKING:
    from qten_gen_typing import BatchSizeField, DeviceField, LockField, NamesField, Operations

else:
    Operations = binding.WithAdvice

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

        # Fields by name
        get = Late("core.lookup")
        get_at = Late("methods.keys")
        set = Late("methods.keys")
        setdefault = Late("methods.keys")
        pop = Late("methods.keys")
        update = Late("methods.updating")
        select = Late("methods.keys")
        exclude = Late("methods.keys")
        replace = Late("methods.updating")
        keys = Late("methods.keys")
        values = Late("methods.keys")
        items = Late("methods.keys")
        is_empty = Late("methods.keys")
        __contains__ = Late("methods.keys", "contains")

        # Writing into tensors by key
        set_ = Late("methods.inplace")
        set_at_ = Late("methods.inplace")
        update_ = Late("methods.inplace")
        update_at_ = Late("methods.inplace")
        copy_ = Late("methods.inplace")
        copy_at_ = Late("methods.inplace")

        # Locks
        lock_ = Late("core.locking")
        unlock_ = Late("core.locking")
        __enter__ = Late("core.locking", "enter")
        __exit__ = Late("core.locking", "leave")

        # Names of the batch dimensions; `names` is above
        refine_names = Late("methods.naming")
        rename = Late("methods.naming")
        rename_ = Late("methods.naming")

        # Items along the batch dimensions
        __getitem__ = indexing.getitem
        __getitems__ = Late("torch_tools.datasets", "items_at")
        __setitem__ = Late("methods.assignment", "setitem")
        __len__ = indexing.length
        __iter__ = Late("methods.joining", "iterate")
        vmap = Late("torch_tools.transforms")
        vmap_dims = Late("torch_tools.uncommon_trees")

        # Copies, devices, dtypes, gradients
        to = moving.to
        cpu = moving.cpu
        cuda = moving.cuda
        pin_memory = Late("methods.tensor_copies")
        record_stream = Late("methods.tensor_copies")
        requires_grad_ = Late("methods.tensor_copies")
        apply = Late("methods.applying")
        named_apply = Late("methods.applying")

        # Dicts, text, copies, pickles
        to_dict = Late("methods.conversion")
        __repr__ = Late("methods.representation", "show")
        __reduce__ = Late("storage.pickling", "reduce")
        __reduce_ex__ = Late("storage.pickling", "reduce_ex")
        __setstate__ = Late("storage.pickling", "restore")
        copy = Late("methods.conversion")
        __copy__ = Late("methods.conversion", "copy")
        __deepcopy__ = Late("methods.conversion", "deep_copy")
        __replace__ = Late("methods.updating", "replace")

        # Other processes
        share_memory_ = Late("processes.shared_memory")
        is_shared = Late("processes.shared_memory")
        map = Late("processes.parallel")
        map_iter = Late("processes.parallel")
        send = Late("processes.distributed.transfers")
        recv = Late("processes.distributed.transfers")
        isend = Late("processes.distributed.transfers")
        irecv = Late("processes.distributed.transfers")
        broadcast = Late("processes.distributed.collectives")
        all_reduce = Late("processes.distributed.collectives")
        reduce = Late("processes.distributed.collectives")
        all_gather = Late("processes.distributed.collectives")
        gather_and_stack = Late("processes.distributed.collectives")
        scatter = Late("processes.distributed.collectives")

        # Other libraries
        to_tensordict = Late("interop.tensordicts")
        numpy = Late("interop.arrays")
        tolist = Late("interop.arrays")
        # Files and state dicts; `saved_path` is in `methods/metadata.py`
        memmap = Late("storage.memory_map")
        memmap_ = Late("storage.memory_map")
        memmap_like = Late("storage.memory_map")
        memmap_refresh_ = Late("storage.memory_map")
        is_memmap = Late("storage.memory_map")
        load_memmap = Late("storage.memory_map", on_class=True)
        load_memmap_ = Late("storage.memory_map")
        save = Late("storage.memory_map", "memmap")
        dumps = Late("storage.memory_map", "memmap")
        load = Late("storage.memory_map", "load_memmap", on_class=True)
        load_ = Late("storage.memory_map", "load_memmap_")
        state_dict = Late("storage.state_dict")
        load_state_dict = Late("storage.load_state")
        save_safetensors = Late("storage.safetensors_files")
        load_safetensors = Late("storage.safetensors_files", on_class=True)
        # Made of values of other kinds
        from_dict = Late("fields.from_dict", on_class=True)
        from_tensordict = Late("interop.tensordicts", on_class=True)
        from_numpy = Late("interop.arrays", on_class=True)
        from_dataclass = Late("interop.named_fields", on_class=True)
        from_namedtuple = Late("interop.named_fields", on_class=True)
        # Of data sets
        accepts = Late("interop.features", on_class=True)
        # Side by side
        lazy_stack = Late("lazy_stack", on_class=True)
        maybe_dense_stack = Late("lazy_stack", on_class=True)

    __array_ufunc__: ClassVar[None] = None
    """Tells NumPy to leave operators between its numbers and an object to the object."""

    if not TYPE_CHECKING:  # for checkers an object is no array

        def __array__(self, dtype: object = None, copy: bool | None = None) -> object:
            raise TypeError(
                f"a {type(self).__name__} is not one array; use .numpy(), which gives an array for each field"
            )

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


binding.bind(TensorClass)


def _collate(items: Any, *, collate_fn_map: object = None) -> Any:
    """The function that the default collate function of a DataLoader calls for objects of every class."""
    from .torch_tools.datasets import collate

    return collate(items)


default_collate_fn_map[TensorClass] = _collate
