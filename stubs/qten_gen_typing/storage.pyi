from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, overload

from torch import Tensor

from qten_gen.runtime.tensorclass.core.construction import DeviceLike
from qten_gen.runtime.tensorclass.core.stored import Stored
from qten_gen.runtime.tensorclass.storage.memory_map import PathLike
from qten_gen.runtime.tensorclass.storage.state_dict import D, NestedState

T = TypeVar("T", bound="Storage")

class Storage(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    def memmap(
        self: T,
        prefix: PathLike | None = None,
        copy_existing: bool = False,
        *,
        num_threads: int = 0,
        existsok: bool = True,
    ) -> T:
        """Save every tensor to a file, and return an object whose tensors are those files. It is locked; its device is the CPU.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train").tokens
        tensor([0, 1, 2, 3])

        However the process ends, the folder holds what it held before or all of the new object. Who mapped the old files keeps them
        as they were. `save` and `dumps` are other names for this.

        Args:
            prefix: The folder, which is made where there is none; without it the files are temporary and end with the object.
            copy_existing: Whether a tensor that is a file of another folder is copied; otherwise it is an error.
            num_threads: How many threads write.
            existsok: Whether a folder that holds an object may get this one.

        Raises:
            TypeError: a static value has no form in JSON, or a tensor is none of plain bytes. Nothing is written then.
            ValueError: a tensor is saved elsewhere already.
            FileExistsError: the folder holds an object, and `existsok` is off.
        """
    def memmap_(
        self: T,
        prefix: PathLike | None = None,
        copy_existing: bool = False,
        *,
        num_threads: int = 0,
        existsok: bool = True,
    ) -> T:
        """`memmap` in place: this object and its nested objects get the mapped tensors, and are locked.

        >>> batch = Batch(torch.arange(4), batch_size=4)
        >>> batch.memmap_("data/train").is_memmap(), batch.is_locked
        (True, True)

        Raises:
            RuntimeError: the object is locked, and not because it is a memory map; use `memmap`.
            FrozenInstanceError: the object is frozen; use `memmap`.
        """
    def memmap_like(self: T, prefix: PathLike | None = None, *, num_threads: int = 0, existsok: bool = True) -> T:
        """An object of the same shapes and dtypes in new files full of zeros, to be filled piece by piece. Static values are kept.

        Where the file system can, the files take no room until they are written to. No element is read, so that an expanded object,
        or one on the meta device, can say how large they are:

            store = batch[0].expand(1_000_000).memmap_like("data/train")
            store[:64] = first

        >>> store = Batch(torch.ones(2), batch_size=2).memmap_like("data/train")
        >>> store.tokens
        tensor([0., 0.])
        """
    def memmap_refresh_(self: T) -> T:
        """Load anew what the folder holds that this object was saved in or loaded from, as another process may have replaced it.

        What other processes write into the tensors is there without it.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> later = Batch(torch.ones(4, dtype=torch.int64), batch_size=4).memmap("data/train")
        >>> saved.memmap_refresh_().tokens
        tensor([1, 1, 1, 1])

        Raises:
            RuntimeError: the object is in no folder.
            FrozenInstanceError: it is frozen.
        """
    def is_memmap(self) -> bool:
        """True if the object is locked and every tensor of it is a mapped file, so that writes to them reach other processes.

        >>> Batch(torch.arange(4), batch_size=4).memmap().is_memmap()
        True
        """
    def load_memmap_(self: T, prefix: PathLike) -> T:
        """Load what a folder holds into this object: tensors, on its device, static values and batch size. See `load_memmap`.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch(torch.zeros(4, dtype=torch.int64), batch_size=4).load_memmap_("data/train").tokens
        tensor([0, 1, 2, 3])

        Raises:
            RuntimeError: the object is locked, and not because it is a memory map.
            FrozenInstanceError: it is frozen.
        """
    def save(
        self: T,
        prefix: PathLike | None = None,
        copy_existing: bool = False,
        *,
        num_threads: int = 0,
        existsok: bool = True,
    ) -> T:
        """Save every tensor to a file, and return an object whose tensors are those files. It is locked; its device is the CPU.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train").tokens
        tensor([0, 1, 2, 3])

        However the process ends, the folder holds what it held before or all of the new object. Who mapped the old files keeps them
        as they were. `save` and `dumps` are other names for this.

        Args:
            prefix: The folder, which is made where there is none; without it the files are temporary and end with the object.
            copy_existing: Whether a tensor that is a file of another folder is copied; otherwise it is an error.
            num_threads: How many threads write.
            existsok: Whether a folder that holds an object may get this one.

        Raises:
            TypeError: a static value has no form in JSON, or a tensor is none of plain bytes. Nothing is written then.
            ValueError: a tensor is saved elsewhere already.
            FileExistsError: the folder holds an object, and `existsok` is off.
        """
    def dumps(
        self: T,
        prefix: PathLike | None = None,
        copy_existing: bool = False,
        *,
        num_threads: int = 0,
        existsok: bool = True,
    ) -> T:
        """Save every tensor to a file, and return an object whose tensors are those files. It is locked; its device is the CPU.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train").tokens
        tensor([0, 1, 2, 3])

        However the process ends, the folder holds what it held before or all of the new object. Who mapped the old files keeps them
        as they were. `save` and `dumps` are other names for this.

        Args:
            prefix: The folder, which is made where there is none; without it the files are temporary and end with the object.
            copy_existing: Whether a tensor that is a file of another folder is copied; otherwise it is an error.
            num_threads: How many threads write.
            existsok: Whether a folder that holds an object may get this one.

        Raises:
            TypeError: a static value has no form in JSON, or a tensor is none of plain bytes. Nothing is written then.
            ValueError: a tensor is saved elsewhere already.
            FileExistsError: the folder holds an object, and `existsok` is off.
        """
    def load_(self: T, prefix: PathLike) -> T:
        """Load what a folder holds into this object: tensors, on its device, static values and batch size. See `load_memmap`.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch(torch.zeros(4, dtype=torch.int64), batch_size=4).load_memmap_("data/train").tokens
        tensor([0, 1, 2, 3])

        Raises:
            RuntimeError: the object is locked, and not because it is a memory map.
            FrozenInstanceError: it is frozen.
        """
    @classmethod
    def load_memmap(
        cls: type[T], prefix: PathLike, device: DeviceLike = None, non_blocking: bool = False, *, out: T | None = None
    ) -> T:
        """The object that a folder holds, whichever class saved it: fields are found by name and checked against this class.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train")[:2].tokens
        tensor([0, 1])

        `load` is another name for this. Tensors are the files, with the shapes and dtypes that were saved. Writes to them reach the
        files, unless those may not be written to. A folder of a nested field is loaded as that field's class.

        Args:
            prefix: The folder.
            device: Where to put the tensors. On `meta` they have shapes and no data, and no file is opened; under `FakeTensorMode`
                the same holds of fake tensors.
            non_blocking: Whether to return before copies to the device are done.
            out: An object of this class that gets the tensors, static values and batch size, and is returned.

        Raises:
            FileNotFoundError: the folder holds no object.
            StorageError: files are damaged, missing, or were tampered with, or do not fit the class; a ValueError.
            TypeError: `out` is of another class.
        """
    @classmethod
    def load(
        cls: type[T], prefix: PathLike, device: DeviceLike = None, non_blocking: bool = False, *, out: T | None = None
    ) -> T:
        """The object that a folder holds, whichever class saved it: fields are found by name and checked against this class.

        >>> saved = Batch(torch.arange(4), batch_size=4).memmap("data/train")
        >>> Batch.load_memmap("data/train")[:2].tokens
        tensor([0, 1])

        `load` is another name for this. Tensors are the files, with the shapes and dtypes that were saved. Writes to them reach the
        files, unless those may not be written to. A folder of a nested field is loaded as that field's class.

        Args:
            prefix: The folder.
            device: Where to put the tensors. On `meta` they have shapes and no data, and no file is opened; under `FakeTensorMode`
                the same holds of fake tensors.
            non_blocking: Whether to return before copies to the device are done.
            out: An object of this class that gets the tensors, static values and batch size, and is returned.

        Raises:
            FileNotFoundError: the folder holds no object.
            StorageError: files are damaged, missing, or were tampered with, or do not fit the class; a ValueError.
            TypeError: `out` is of another class.
        """
    @overload
    def state_dict(
        self, destination: None = None, prefix: str = "", keep_vars: bool = False, flatten: Literal[False] = False
    ) -> NestedState: ...
    @overload
    def state_dict(
        self, destination: None = None, prefix: str = "", keep_vars: bool = False, *, flatten: Literal[True]
    ) -> OrderedDict[str, Tensor]: ...
    @overload
    def state_dict(self, destination: D, prefix: str = "", keep_vars: bool = False, flatten: bool = False) -> D:
        """The tensors by name, and the rest in the attribute `_metadata`. A field that is None has no name in it.

        >>> dict(Batch(torch.arange(2), batch_size=2).state_dict())
        {'tokens': tensor([0, 1])}

        Args:
            destination: A dict that gets the entries and is returned, as in `nn.Module.state_dict`; an ordered one gets metadata too.
            prefix: Stands before every name.
            keep_vars: Whether the tensors keep their history; otherwise they are detached.
            flatten: Whether the tensors of nested objects are called `inner.q`; otherwise a nested object is a dict.

        Raises:
            TypeError: a static value is of a type that neither `torch.load` reads safely nor JSON holds.
        """
    def load_state_dict(self: T, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> T:
        """Copy the tensors of a state dict into the tensors of this object, and take over its static values and names.

        >>> state = Batch(torch.arange(2), batch_size=2).state_dict()
        >>> Batch(torch.zeros(2, dtype=torch.int64), batch_size=2).load_state_dict(state).tokens
        tensor([0, 1])

        Args:
            state_dict: As `state_dict` returns it, nested or flat.
            strict: Whether the names have to be the same; otherwise names on one side only are passed over.
            assign: Whether the object gets the tensors themselves, and with them another batch size.

        Returns:
            The object.

        Raises:
            RuntimeError: names or shapes do not fit, all of which are listed, or the object is locked and would need other tensors
                or static values. Nothing is changed then.
            TypeError, ValueError: the object would get tensors that are not what its annotations say, or the metadata is none that
                an object gives.
            FrozenInstanceError: the object is frozen.
        """
    def save_safetensors(self, path: PathLike) -> None:
        """Save an object in one file that every reader of safetensors understands: `tokens`, `point.position`.

        >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")

        Tensors keep their shapes and dtypes. Batch size, names of dimensions and static values are in the header. A file that is
        there is replaced in one step.

        Args:
            path: The file.

        Raises:
            TypeError: a static value has no form in JSON, or a tensor is none of plain bytes.
        """
    @classmethod
    def load_safetensors(cls: type[T], path: PathLike, device: DeviceLike = None) -> T:
        """The object that `save_safetensors` saved, by whichever class: fields are found by name and checked against this one.

        >>> Batch(torch.arange(2), batch_size=2).save_safetensors("batch.safetensors")
        >>> Batch.load_safetensors("batch.safetensors").tokens
        tensor([0, 1])

        Args:
            path: The file.
            device: Where to put the tensors.

        Raises:
            ImportError: safetensors is not installed.
            FileNotFoundError: there is no file.
            StorageError: the file is damaged, or was tampered with, or does not fit the class; a ValueError.
        """
