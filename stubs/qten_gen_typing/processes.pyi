from typing import TypeVar

from torch.distributed import ProcessGroup

from qten_gen.runtime.tensorclass.core.stored import Stored

T = TypeVar("T", bound="Processes")

class Processes(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

    def pack(self: T, *, shared: bool = False) -> T:
        """An object whose small tensors, of up to 256 KiB each, are copies in one storage. It shares the larger ones with this.

        So a `torch.multiprocessing` queue sends one descriptor for all of them. A worker of a DataLoader packs what it returns.

        >>> packed = Batch(torch.arange(2), torch.ones(2), batch_size=2).pack()
        >>> packed.tokens.untyped_storage().data_ptr() == packed.mask.untyped_storage().data_ptr()
        True

        Strides, and which fields share memory, stay as they are. Tensors that require gradients, and those that are not in main
        memory, are not copied.

        Args:
            shared: Whether the storage is one that processes share: sending it copies nothing, and each sees the writes of the other.
        """
    def share_memory_(self: T) -> T:
        """Move every tensor to shared memory, in place, and lock the object.

        An object that is passed to another process, by a `torch.multiprocessing.Queue` or as an argument, then has the same memory
        there: what one process writes into a tensor, the others see. Tensors on a GPU are shared already.

        It is locked because a tensor that is set later would not be shared; `unlock_` allows it all the same. A frozen object is
        shared too: its values stay what they are.

        >>> batch = Batch(torch.arange(4), batch_size=4).share_memory_()
        >>> batch.is_shared(), batch.is_locked
        (True, True)
        """
    def is_shared(self) -> bool:
        """True if every tensor is in shared memory; False where there are none.

        >>> Batch(torch.arange(4), batch_size=4).is_shared()
        False
        """
    def send(self, dst: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> None:
        """Send the tensors to process `dst`, which calls `recv` on an object whose tensors have the same shapes and dtypes.

        Raises:
            ValueError: `check` found that the receiver's object differs.
            TypeError: the object has PerItem fields.
        """
    def recv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> T:
        """Receive what process `src` sends, into the tensors of this object, which keep their shapes and dtypes.

        Raises:
            ValueError: `check` found that the sender's object differs.
            TypeError: the object has PerItem fields.
            FrozenInstanceError: the class is frozen.
        """
    def broadcast(self: T, src: int, *, group: ProcessGroup | None = None, check: bool = True) -> T:
        """Write the tensors of process `src` into the tensors of every other process, which have the same shapes and dtypes.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.ones(2), batch_size=2).broadcast(0).tokens
        tensor([1., 1.])
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes.
            TypeError: the object has PerItem fields.
            FrozenInstanceError: the class is frozen.
        """
    def all_gather(self: T, *, group: ProcessGroup | None = None, check: bool = True) -> list[T]:
        """The objects of all processes, in the order of their ranks, in every process. Static values are the own ones of the process.

        All have tensors of the same shapes and dtypes.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> len(Batch(torch.arange(4), batch_size=4).all_gather())
        1
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes.
            TypeError: the object has PerItem fields.
        """
