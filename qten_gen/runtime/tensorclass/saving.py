"""Objects in folders, state dicts and safetensors files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from .core.keywords import unexpected
from .core.late import Late
from .core.stored import Stored

if TYPE_CHECKING:
    from typing import Self

    from .core.construction import DeviceLike
    from .storage import load_state, memory_map
    from .storage import state_dict as states
    from .storage.memory_map import PathLike


class Saving(Stored):
    """The members of TensorClass that save objects and load them again."""

    __slots__ = ()

    if TYPE_CHECKING:
        memmap = memory_map.memmap
        memmap_ = memory_map.memmap_
        memmap_like = memory_map.memmap_like
        memmap_refresh_ = memory_map.memmap_refresh_
        load_memmap_ = memory_map.load_memmap_
        is_memmap = memory_map.is_memmap
        save = memory_map.memmap
        dumps = memory_map.memmap
        load_ = memory_map.load_memmap_
        state_dict = states.state_dict
        load_state_dict = load_state.load_state_dict
    else:
        memmap = Late("storage.memory_map")
        memmap_ = Late("storage.memory_map")
        memmap_like = Late("storage.memory_map")
        memmap_refresh_ = Late("storage.memory_map")
        load_memmap_ = Late("storage.memory_map")
        is_memmap = Late("storage.memory_map")
        save = Late("storage.memory_map", "memmap")
        dumps = Late("storage.memory_map", "memmap")
        load_ = Late("storage.memory_map", "load_memmap_")
        state_dict = Late("storage.state_dict")
        load_state_dict = Late("storage.load_state")

    @classmethod
    def load_memmap(
        cls,
        prefix: PathLike,
        device: DeviceLike = None,
        non_blocking: bool = False,
        *,
        out: Self | None = None,
        allow_pickle: bool = False,
        **refused: Never,
    ) -> Self:
        """The object that a folder holds, whichever class saved it.

        Its tensors are the files, with the shapes and dtypes that were saved. With a device, they are copied to it.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train")[:2].tokens
        tensor([0, 1])

        Raises:
            FileNotFoundError: the folder holds no object.
            StorageError: files are damaged or do not fit the class.
        """
        if refused:
            raise unexpected(cls, "load_memmap", refused)
        from .storage import memory_map

        return memory_map.load_memmap(cls, prefix, device, non_blocking, out=out, allow_pickle=allow_pickle)

    @classmethod
    def load(
        cls,
        prefix: PathLike,
        device: DeviceLike = None,
        non_blocking: bool = False,
        *,
        out: Self | None = None,
        allow_pickle: bool = False,
        **refused: Never,
    ) -> Self:
        """Another name of `load_memmap`, which says more.

        >>> saved = Batch(torch.arange(2), batch_size=2).save("data/train")
        >>> Batch.load("data/train").tokens
        tensor([0, 1])
        """
        if refused:
            raise unexpected(cls, "load", refused)
        from .storage import memory_map

        return memory_map.load_memmap(cls, prefix, device, non_blocking, out=out, allow_pickle=allow_pickle)

    @property
    def saved_path(self) -> str | None:
        """The folder of a memory map. None for other objects, temporary files, and tensors of several folders."""
        from .storage import memory_map

        return memory_map.saved_path(self)

    # Safetensors
    def save_safetensors(self, path: PathLike, *, allow_pickle: bool = False) -> None:
        """Save the object in one file that every reader of safetensors understands.

        >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")

        Tensors keep their shapes and dtypes. Those of nested objects have names such as `point.position`. The header holds
        the batch size, the names of dimensions and static values.

        Args:
            path: The file. One that is there is replaced.
            allow_pickle: Pickle static values that JSON cannot hold.

        Raises:
            TypeError: a static value has no form in JSON, and `allow_pickle` is false.
            ImportError: safetensors is not installed.
        """
        from .storage.safetensors_files import save_safetensors

        save_safetensors(self, path, allow_pickle=allow_pickle)

    @classmethod
    def load_safetensors(cls, path: PathLike, device: DeviceLike = None, *, allow_pickle: bool = False) -> Self:
        """The object that `save_safetensors` saved, on `device`, with the shapes and dtypes that were saved.

        >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")
        >>> Batch.load_safetensors("batch.safetensors").tokens
        tensor([0, 1])

        Raises:
            FileNotFoundError: there is no file.
            StorageError: it is damaged or does not fit the class.
        """
        from .storage.safetensors_files import load_safetensors

        return load_safetensors(cls, path, device, allow_pickle=allow_pickle)
