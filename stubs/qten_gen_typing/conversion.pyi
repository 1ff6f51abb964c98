from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsIndex, TypeVar, Unpack, overload

import torch
from torch import Tensor

from qten_gen.runtime.tensorclass.core.construction import DeviceSpec
from qten_gen.runtime.tensorclass.core.lookup import Key
from qten_gen.runtime.tensorclass.core.sizes import Dim
from qten_gen.runtime.tensorclass.core.stored import Stored
from qten_gen.runtime.tensorclass.methods.applying import ApplyOptions
from qten_gen.runtime.tensorclass.storage.pickling import State
from qten_gen.runtime.tensorclass.torch_tools.transforms import R

T = TypeVar("T", bound="Conversion")

class Conversion(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    def pin_memory(self: T) -> T:
        """Every tensor in page-locked memory, from which copies to a GPU can be asynchronous. A DataLoader calls it.

        Raises:
            RuntimeError: there is no accelerator.
        """
    def record_stream(self: T, stream: torch.cuda.Stream) -> T:
        """Tell the allocator that a stream of a GPU uses the tensors, so that their memory is not used again before it is done."""
    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Record gradients for the floating point tensors, in place, or stop it.

        >>> Batch(torch.zeros(2), torch.ones(2).bool(), batch_size=2).requires_grad_().tokens.requires_grad
        True

        Raises:
            FrozenInstanceError: the class is frozen.
        """
    @overload
    def to(
        self: T,
        device: DeviceSpec | None = None,
        dtype: torch.dtype | None = None,
        non_blocking: bool = False,
        *,
        copy: bool = False,
    ) -> T: ...
    @overload
    def to(self: T, dtype: torch.dtype, non_blocking: bool = False, *, copy: bool = False) -> T: ...
    @overload
    def to(self: T, other: Tensor | Stored, non_blocking: bool = False, *, copy: bool = False) -> T:
        """A new object on a device, or with another dtype, or with both of another tensor. Tensors that fit already are shared.

        A dtype is that of the floating point tensors, as in `nn.Module.to`; other tensors keep theirs. Of another TensorClass the
        device is taken.

        >>> batch = Batch(torch.zeros(2), torch.ones(2).bool(), batch_size=2)
        >>> half = batch.to("meta", torch.bfloat16)
        >>> half.tokens.dtype, half.mask.dtype, half.device
        (torch.bfloat16, torch.bool, device(type='meta'))

        Args:
            device: Where all tensors go.
            dtype: What the tensors are cast to.
            other: A tensor whose device and dtype are taken, or an object whose device is.
            non_blocking: Do not wait for the copies.
            copy: Copy tensors that fit already too, so that the result shares none with this object.

        Raises:
            TypeError: the dtype is neither floating point nor complex.
        """
    def cpu(self: T, *, non_blocking: bool = False) -> T:
        """The object in main memory; shapes and dtypes stay.

        >>> Batch(torch.zeros(2), batch_size=2).cpu().device
        device(type='cpu')
        """
    def cuda(self: T, device: DeviceSpec | None = None, non_blocking: bool = False) -> T:
        """The object on a GPU, the current one by default; shapes and dtypes stay.

        Raises:
            RuntimeError, AssertionError: torch finds no GPU, or not this one.
        """
    @overload
    def apply(self: T, fn: Callable[[Tensor], Tensor], **options: Unpack[ApplyOptions]) -> T: ...
    @overload
    def apply(self: T, fn: Callable[[Tensor, Tensor], Tensor], other: T, /, **options: Unpack[ApplyOptions]) -> T: ...
    @overload
    def apply(
        self: T, fn: Callable[..., Tensor], other: T, another: T, /, *others: T, **options: Unpack[ApplyOptions]
    ) -> T:
        """The object with `fn` applied to every tensor.

        >>> batch = Batch(torch.tensor([1.0, 2.0]), batch_size=2)
        >>> batch.apply(torch.square).tokens, batch.apply(torch.maximum, batch * -1).tokens
        (tensor([1., 4.]), tensor([1., 2.]))
        >>> batch.apply(lambda tensor: tensor.sum(0), batch_size=()).tokens
        tensor(3.)

        Args:
            fn: Gets a tensor of shape `[*batch, *event]`, of a field of its own each time, and returns one whose shape starts with
                the batch size. Dtype and device are free.
            others: Objects of the class, whose tensors `fn` gets beside the tensors of this one.
            batch_size: Batch size of the result, where `fn` changes it.
            device: Device of the result, where `fn` changes it.
            names: Names of the result's batch dimensions; None keeps the names where the batch size stays.
            inplace: Write the results into the tensors of this object, as `copy_` does, and return it. A locked one allows that.
            propagate_lock: Lock the result where this object is locked.

        Raises:
            TypeError: `fn` returned no tensor, or the others are of another class.
            ValueError: a result's shape does not start with the batch size, or the others have another one.
        """
    @overload
    def named_apply(
        self: T, fn: Callable[[Key, Tensor], Tensor], *, nested_keys: bool = False, **options: Unpack[ApplyOptions]
    ) -> T: ...
    @overload
    def named_apply(
        self: T,
        fn: Callable[[Key, Tensor, Tensor], Tensor],
        other: T,
        /,
        *,
        nested_keys: bool = False,
        **options: Unpack[ApplyOptions],
    ) -> T: ...
    @overload
    def named_apply(
        self: T,
        fn: Callable[..., Tensor],
        other: T,
        another: T,
        /,
        *others: T,
        nested_keys: bool = False,
        **options: Unpack[ApplyOptions],
    ) -> T:
        """`apply` of a function whose first argument is the name of the field.

        >>> batch = Batch(torch.ones(2), torch.ones(2), batch_size=2)
        >>> batch.named_apply(lambda name, tensor: tensor.bool() if name == "mask" else tensor).mask
        tensor([True, True])

        Args:
            fn: Gets a key and a tensor of shape `[*batch, *event]`, and returns one whose shape starts with the batch size.
            others: Objects of the class, whose tensors `fn` gets behind the tensors of this one.
            nested_keys: Pass the whole key of a field in a nested object, `("point", "weight")`, instead of its last name.
            options: As in `apply`.

        Raises:
            TypeError: `fn` returned no tensor, or the others are of another class.
            ValueError: a result's shape does not start with the batch size, or the others have another one.
        """
    def to_dict(
        self, *, retain_none: bool = True, convert_tensors: bool | Literal["numpy"] = False, tolist_first: bool = False
    ) -> dict[str, Any]:
        """The fields as a dict, nested objects as dicts. Tensors are not copied.

        >>> Batch(torch.arange(2), batch_size=2).to_dict(retain_none=False, convert_tensors=True)
        {'tokens': [0, 1]}

        Args:
            retain_none: Also fields that are None.
            convert_tensors: Lists in place of tensors, as `Tensor.tolist` gives them, or with `"numpy"` arrays.
            tolist_first: A nested object with batch dimensions becomes the dicts of its items, in lists as deep as it has dimensions.

        Raises:
            ValueError: `convert_tensors` is anything else.
            TypeError: with `"numpy"`, a tensor requires a gradient or is on another device, or NumPy does not know its dtype.
        """
    def copy(self: T) -> T:
        """The same tensors in a new object, for `copy.copy`; nested objects, dicts and lists of tensors are new ones too.

        So a field of the copy can be set, at any depth, and the original stays as it is.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> batch.copy().tokens is batch.tokens
        True
        """
    def __copy__(self: T) -> T:
        """The same tensors in a new object, for `copy.copy`; nested objects, dicts and lists of tensors are new ones too.

        So a field of the copy can be set, at any depth, and the original stays as it is.

        >>> batch = Batch(torch.arange(2), batch_size=2)
        >>> batch.copy().tokens is batch.tokens
        True
        """
    def __deepcopy__(self: T, memo: dict[int, object]) -> T:
        """A copy of every tensor and static value, for `copy.deepcopy`."""
    def __repr__(self) -> str:
        """A line for each field, nested objects indented; of a tensor its dtype and shape, and its device where it is not `cpu`.

        An object inside itself, which the list of a static field makes possible, is shown as `...`.
        """
    def __reduce__(self: T) -> tuple[Callable[..., object], tuple[type[T], ...], State]:
        """How to pickle with torch's tensors: the class and a state of plain values."""
    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """How to pickle in a protocol. A `__reduce__` that a class defines itself is asked in all of them."""
    def __setstate__(self, state: State) -> None:
        """Fill an unpickled object. A field that the pickle does not have gets its default, as the constructor would store it.

        Raises:
            TypeError, ValueError: the class was declared otherwise when the object was pickled, and what it held, or a default, does
                not fit.
        """
    def __getitems__(self: T, indices: Sequence[int]) -> T:
        """The items of a dataset that a DataLoader asks for at once: one object, already collated.

        So an object is a map-style dataset whose batches are cut out by one index instead of stacked item by item.
        """
    def vmap(
        self: T,
        function: Callable[[T], R],
        dim: Dim = 0,
        out_dim: int = 0,
        *,
        randomness: Literal["error", "different", "same"] = "error",
    ) -> R:
        """`function` of each item along a batch dimension, computed for all items at once, as `torch.vmap` does.

        >>> batch = Batch(torch.tensor([1.0, 2.0]), batch_size=2)
        >>> batch.vmap(torch.func.grad(lambda item: item.tokens.square())).tokens
        tensor([2., 4.])

        The function gets an object without that dimension. It returns a tensor, an object, or a tuple, list or dict of these, which
        then have the dimension again. Fields that the batch does not carry are passed on as they are.

        Args:
            function: What is computed of each item. It may use other tensors, which are the same for all items.
            dim: The batch dimension to map over.
            out_dim: Where the dimension is in the results; in objects among the batch dimensions.
            randomness: Whether random numbers are refused, different for each item, or the same, as for `torch.vmap`.

        Raises:
            IndexError: there is no such batch dimension.
            TypeError: the function returns something else, or a value for each item in a field that the batch does not carry; or a
                field is Ragged.
        """
