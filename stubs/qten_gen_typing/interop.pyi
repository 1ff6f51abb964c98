from collections.abc import Mapping
from typing import Any, TypeVar

from _typeshed import DataclassInstance
from tensordict import TensorDict, TensorDictBase

from qten_gen.runtime.tensorclass.core.construction import DeviceLike
from qten_gen.runtime.tensorclass.core.dimension_names import NamesLike
from qten_gen.runtime.tensorclass.core.sizes import BatchSize
from qten_gen.runtime.tensorclass.core.stored import Stored
from qten_gen.runtime.tensorclass.methods.conversion import Rows

T = TypeVar("T", bound="Interop")

class Interop(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    @classmethod
    def from_dict(
        cls: type[T],
        values: Mapping[str, object],
        *,
        batch_size: BatchSize = None,
        device: DeviceLike = None,
        names: NamesLike = None,
        auto_batch_size: bool | None = None,
        batch_dims: int | None = None,
    ) -> T:
        """Construct from a mapping, as `to_dict` returns it; mappings in place of nested objects become those objects.

        >>> Batch.from_dict({"tokens": torch.arange(2)}, batch_size=2).tokens
        tensor([0, 1])
        >>> Batch.from_dict({"tokens": torch.ones(4, 7)}, batch_dims=1).batch_size
        torch.Size([4])

        Args:
            values: A value for each field that has no default. Each tensor has a shape that starts with the batch size.
            batch_size: As in the constructor; nothing is inferred. Nested objects get the same.
            device: As in the constructor, which moves the tensors to it.
            names: As in the constructor.
            auto_batch_size: Take the leading dimensions that all tensors share as the batch size, for each nested object those of
                its own tensors.
            batch_dims: The same, for so many dimensions at most.

        Raises:
            TypeError: a key is not a field, or a field without default is missing.
            ValueError: a shape does not start with the batch size, or it is both given and to be found.
        """
    def to_tensordict(self, *, retain_none: bool = True) -> TensorDict:
        """The fields as a `tensordict.TensorDict` with the same batch size, device and names; nested objects become TensorDicts.

        Tensors are shared, not copied. A static value becomes a `NonTensorData`, an Unbatched tensor an `UnbatchedTensor`, a dict or
        list of tensors a TensorDict, which has the positions of a list as its keys, and values of items a `NonTensorStack`.

        >>> Batch(torch.arange(2), batch_size=2).to_tensordict(retain_none=False)["tokens"]
        tensor([0, 1])

        Args:
            retain_none: Whether fields that are None are entries of the result. Without them `from_tensordict` gives such a field its
                default, which need not be None.

        Raises:
            ImportError: tensordict is not installed.
        """
    @classmethod
    def from_tensordict(
        cls: type[T], tensordict: TensorDictBase, non_tensordict: Mapping[str, object] | None = None, safe: bool = True
    ) -> T:
        """Construct from a TensorDict, with its batch size, device and names. Tensors are shared, not copied.

        >>> from tensordict import TensorDict
        >>> Batch.from_tensordict(TensorDict(tokens=torch.arange(2), batch_size=[2])).batch_size
        torch.Size([2])

        TensorDicts in it become the objects that the annotations of nested fields name. A field that is not in it gets its default,
        or None where it is optional.

        Args:
            tensordict: A TensorDict of any kind, or an object of a class that tensordict made.
            non_tensordict: Values of fields that are not in `tensordict`: static ones, or nested objects.
            safe: Whether an entry that is not a field is an error; otherwise it is left out.

        Raises:
            TypeError: `tensordict` is none; an entry is not a field; a field without default is missing, or its value is of another
                type.
            ValueError: a shape does not start with the batch size, a field is given twice, or a static value is not the same
                for all items.
        """
    def numpy(self, *, force: bool = False) -> dict[str, Any]:
        """The fields as a dict of arrays, nested objects as dicts; None, static and PerItem values as they are.

        Arrays share memory with the tensors, so writes are seen on both sides.

        >>> Batch(torch.arange(2), batch_size=2).numpy()
        {'tokens': array([0, 1]), 'mask': None}

        Args:
            force: Take tensors that have no array as they are too: detached from their history, copied to main memory. Such an array
                shares no memory.

        Raises:
            TypeError: a tensor needs `force`, or has a dtype that NumPy does not know, such as `torch.bfloat16`.
        """
    def tolist(self) -> Rows:
        """The items as dicts of plain Python values, in lists as deep as there are batch dimensions; what JSON can hold.

        >>> Batch(torch.arange(2), batch_size=2).tolist()
        [{'tokens': 0, 'mask': None}, {'tokens': 1, 'mask': None}]

        Static values are the same object in every dict.
        """
    @classmethod
    def from_numpy(
        cls: type[T], values: Mapping[str, object], *, batch_size: BatchSize = None, device: DeviceLike = None
    ) -> T:
        """Construct from a mapping of arrays, as `numpy` returns it.

        >>> import numpy as np
        >>> Batch.from_numpy({"tokens": np.arange(2)}, batch_size=2).tokens
        tensor([0, 1])

        Tensors share memory with the arrays where those are writable and densely laid out, and no device asks for a copy.

        Args:
            values: Mappings in place of nested objects become those objects.
            batch_size: Nothing is inferred: without it the object has no batch dimensions.

        Raises:
            TypeError: a key is not a field, a field without default is missing, or torch has no such dtype.
            ValueError: a shape does not start with the batch size.
        """
    @classmethod
    def from_dataclass(
        cls: type[T],
        source: DataclassInstance | tuple[object, ...],
        *,
        auto_batch_size: bool = False,
        batch_size: BatchSize = None,
        device: DeviceLike = None,
        batch_dims: int | None = None,
    ) -> T:
        """Construct from an instance of any dataclass, or a named tuple, whose fields have the names of this class's.

        >>> Point = dataclasses.make_dataclass("Point", ["tokens"])
        >>> Batch.from_dataclass(Point(torch.arange(2)), batch_size=2).tokens
        tensor([0, 1])

        Tensors are not copied. Records in place of nested objects become those objects. An object of another TensorClass is taken
        too, and what functions such as `torch.max(x, dim=0)` return. `from_namedtuple` is another name for this.

        Args:
            auto_batch_size: Take the leading dimensions that all tensors share as the batch size.
            batch_size: The batch size, where it is not found; nothing is inferred otherwise.
            batch_dims: As `auto_batch_size`, for so many dimensions at most.

        Raises:
            TypeError: `source` is no such record, a name is not a field, or a field without default is missing.
            ValueError: both `batch_size` and `auto_batch_size` are given, or a shape does not start with the batch size.
        """
    @classmethod
    def from_namedtuple(
        cls: type[T],
        source: DataclassInstance | tuple[object, ...],
        *,
        auto_batch_size: bool = False,
        batch_size: BatchSize = None,
        device: DeviceLike = None,
        batch_dims: int | None = None,
    ) -> T:
        """Construct from an instance of any dataclass, or a named tuple, whose fields have the names of this class's.

        >>> Point = dataclasses.make_dataclass("Point", ["tokens"])
        >>> Batch.from_dataclass(Point(torch.arange(2)), batch_size=2).tokens
        tensor([0, 1])

        Tensors are not copied. Records in place of nested objects become those objects. An object of another TensorClass is taken
        too, and what functions such as `torch.max(x, dim=0)` return. `from_namedtuple` is another name for this.

        Args:
            auto_batch_size: Take the leading dimensions that all tensors share as the batch size.
            batch_size: The batch size, where it is not found; nothing is inferred otherwise.
            batch_dims: As `auto_batch_size`, for so many dimensions at most.

        Raises:
            TypeError: `source` is no such record, a name is not a field, or a field without default is missing.
            ValueError: both `batch_size` and `auto_batch_size` are given, or a shape does not start with the batch size.
        """
