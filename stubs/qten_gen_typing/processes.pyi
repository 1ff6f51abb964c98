from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TypeVar

import torch
from torch.distributed import ProcessGroup, ReduceOp

from qten_gen.runtime.tensorclass.core.stored import Stored
from qten_gen.runtime.tensorclass.core.tensor_shapes import Dim
from qten_gen.runtime.tensorclass.processes.distributed.collectives import Reduction
from qten_gen.runtime.tensorclass.processes.distributed.transfers import Pending
from qten_gen.runtime.tensorclass.processes.parallel import R

T = TypeVar("T", bound="Processes")

class Processes(Stored):
    """Made of the functions that TensorClass has as methods, by `make generate`."""

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
        """Whether every tensor is in shared memory; False where there are none.

        >>> Batch(torch.arange(4), batch_size=4).is_shared()
        False
        """
    def map(
        self: T,
        fn: Callable[[T], R],
        dim: Dim = 0,
        num_workers: int | None = None,
        *,
        chunksize: int | None = None,
        num_chunks: int | None = None,
        pool: Executor | None = None,
        generator: torch.Generator | None = None,
        mp_start_method: str | None = None,
    ) -> R:
        """Call `fn` on the chunks of the object in worker processes, and put the results together along `dim`.

        >>> from operator import neg
        >>> Batch(torch.arange(4), batch_size=4).map(neg, num_workers=1, chunksize=2).tokens
        tensor([ 0, -1, -2, -3])

        The chunks share memory with the object: what is not in shared memory yet is moved there, and `fn` should not write into its
        argument. Results are concatenated. With `chunksize=0` they are stacked: `fn` gets items without the dimension.

        Args:
            fn: A function at the top level of a module, which the workers import; it returns an object, a tensor, or None.
            dim: The batch dimension to divide.
            num_workers: How many processes; one for each CPU if None.
            chunksize: Items of a chunk; 0 for items by themselves. By default there is one chunk for each worker.
            num_chunks: How many chunks, instead of `chunksize`.
            pool: An executor to run in, which leaves its random numbers alone, instead of new processes with one thread of torch
                each.
            generator: Where the seed of the random numbers is drawn from, torch's own generator by default. Every chunk has numbers
                of its own, the same whichever worker gets it.
            mp_start_method: How workers are started: `"fork"`, `"spawn"` or `"forkserver"`.

        Returns:
            The results along `dim`, or None where `fn` returns None.

        Raises:
            PicklingError, AttributeError: `fn` cannot be imported by the workers.
            TypeError: it returns something else, or not the same for all chunks.
            ValueError: there is nothing to divide, or both `chunksize` and `num_chunks` are given.
            BrokenProcessPool: a worker ended by itself.
        """
    def map_iter(
        self: T,
        fn: Callable[[T], R],
        dim: Dim = 0,
        num_workers: int | None = None,
        *,
        shuffle: bool = False,
        chunksize: int | None = None,
        num_chunks: int | None = None,
        pool: Executor | None = None,
        generator: torch.Generator | None = None,
        mp_start_method: str | None = None,
    ) -> Iterator[R]:
        """`map` that gives the results one by one, in the order of the chunks, as soon as they are there.

        Workers are a few chunks ahead of what was taken, not more.

        >>> from operator import neg
        >>> [part.tokens.tolist() for part in Batch(torch.arange(4), batch_size=4).map_iter(neg, num_workers=1, chunksize=2)]
        [[0, -1], [-2, -3]]

        Args:
            shuffle: Take the chunks in a random order.

        Raises:
            PicklingError, AttributeError: `fn` cannot be imported by the workers.
            ValueError: there is nothing to divide, or both `chunksize` and `num_chunks` are given.
            BrokenProcessPool: a worker ended by itself.
        """
    def send(self, dst: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> None:
        """Send the tensors to process `dst`, which calls `recv` on an object whose tensors have the same shapes and dtypes.

        Raises:
            ValueError: `check` found that the receiver's object differs.
        """
    def recv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0, check: bool = True) -> T:
        """Receive what process `src` sends, into the tensors of this object, which keep their shapes and dtypes.

        Raises:
            ValueError: `check` found that the sender's object differs.
            FrozenInstanceError: the class is frozen.
        """
    def isend(self: T, dst: int, *, group: ProcessGroup | None = None, tag: int = 0) -> Pending[T]:
        """Start to send the tensors to process `dst`, which calls `irecv`, or `recv` with `check=False`.

        The tensors must not be written to before the result's `wait` has returned. Nothing is checked: the tensors of both objects
        must have the same shapes and dtypes.

        Raises:
            TypeError: a field is PerItem, whose values are not sent.
        """
    def irecv(self: T, src: int, *, group: ProcessGroup | None = None, tag: int = 0) -> Pending[T]:
        """Start to receive what process `src` sends with `isend`, or with `send` and `check=False`, into the tensors of this object.

            pending = batch.irecv(0)
            ...
            batch = pending.wait()

        Nothing is checked: the tensors of both objects must have the same shapes and dtypes.

        Raises:
            TypeError: a field is PerItem, whose values are not sent.
            FrozenInstanceError: the class is frozen.
        """
    def broadcast(self: T, src: int, *, group: ProcessGroup | None = None, check: bool = True) -> T:
        """Write the tensors of process `src` into those of every other process, which have the same shapes and dtypes.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.ones(2), batch_size=2).broadcast(0).tokens
        tensor([1., 1.])
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes.
            FrozenInstanceError: the class is frozen.
        """
    def all_reduce(
        self: T, op: Reduction | ReduceOp.RedOpType = "sum", *, group: ProcessGroup | None = None, check: bool = True
    ) -> T:
        """Write the sum, or another reduction, over the objects of all processes into each of them.

        Their tensors have the same shapes and dtypes, and the results too.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.ones(2), batch_size=2).all_reduce("mean").tokens
        tensor([1., 1.])
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes, or there is no such reduction.
            TypeError: the mean of a tensor that is not floating point.
            FrozenInstanceError: the class is frozen.
        """
    def reduce(
        self: T,
        dst: int,
        op: Reduction | ReduceOp.RedOpType = "sum",
        *,
        group: ProcessGroup | None = None,
        check: bool = True,
    ) -> T:
        """Write the sum, or another reduction, over the objects of all processes into that of process `dst`.

        What the tensors of the other processes hold afterwards is not defined, as in `torch.distributed.reduce`.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.ones(2), batch_size=2).reduce(0, "max").tokens
        tensor([1., 1.])
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes, or there is no such reduction.
            TypeError: the mean of a tensor that is not floating point.
            FrozenInstanceError: the class is frozen.
        """
    def all_gather(self: T, *, group: ProcessGroup | None = None, check: bool = True) -> list[T]:
        """The objects of all processes, in the order of their ranks, in every process. Static values are those of this process.

        All have tensors of the same shapes and dtypes.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> len(Batch(torch.arange(4), batch_size=4).all_gather())
        1
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes.
        """
    def gather_and_stack(self: T, dst: int, *, group: ProcessGroup | None = None, check: bool = True) -> T | None:
        """The objects of all processes in process `dst`, stacked along a new first dimension; None in the other processes.

        All have tensors of the same shapes and dtypes. Unbatched tensors and static values of the stack are those of process `dst`.

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.ones(2), batch_size=2).gather_and_stack(0).batch_size
        torch.Size([1, 2])
        >>> torch.distributed.destroy_process_group()

        Raises:
            ValueError: `check` found a difference between the processes.
        """
    def scatter(
        self: T, src: int, items: Sequence[T] | None = None, *, group: ProcessGroup | None = None, check: bool = True
    ) -> T:
        """Write one of the `items` of process `src` into the object of each process, in the order of their ranks.

            part = Batch(torch.empty(4, 7), batch_size=4).scatter(0, batch.split(4) if rank == 0 else None)

        >>> torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
        >>> Batch(torch.zeros(2), batch_size=2).scatter(0, Batch(torch.ones(2), batch_size=2).split(2)).tokens
        tensor([1., 1.])
        >>> torch.distributed.destroy_process_group()

        Args:
            items: In process `src` one object for each process; None in the others.

        Raises:
            ValueError: there are more or fewer items than processes, an item has other shapes than the object, or `check` found a
                difference between the processes.
            FrozenInstanceError: the class is frozen.
        """
