"""A function applied to the chunks of an object in several processes."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Tensor

from ..core.stored import Stored
from ..core.tensor_shapes import Dim, dimension
from ..methods.joining import cat, chunk, split, stack, unbind

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ProcessPoolExecutor


T = TypeVar("T", bound=Stored)
R = TypeVar("R", bound="Stored | Tensor | None")


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
    results = list(
        map_iter(
            self,
            fn,
            dim,
            num_workers,
            chunksize=chunksize,
            num_chunks=num_chunks,
            pool=pool,
            generator=generator,
            mp_start_method=mp_start_method,
        )
    )
    return cast(R, _together(results, dimension(self, dim), stacked=chunksize == 0))


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
    workers = num_workers or multiprocessing.cpu_count()
    chunks = _chunks(self, dim, chunksize, num_chunks, workers)
    place = "cpu" if generator is None else generator.device
    seed = int(torch.empty((), dtype=torch.long, device=place).random_(generator=generator).item())
    if shuffle:
        # From the seed, so that `generator` decides about the order too.
        order = torch.randperm(len(chunks), generator=torch.Generator("cpu").manual_seed(seed), device="cpu").tolist()
        chunks = [chunks[position] for position in order]
    if pool is not None:
        return _results(pool, fn, [(part,) for part in chunks], 2 * workers)
    made = concurrent.futures.ProcessPoolExecutor(
        min(workers, len(chunks)),
        mp_context=torch.multiprocessing.get_context(mp_start_method),
        initializer=torch.set_num_threads,
        initargs=(1,),
    )
    tasks = [(fn, part, seed + position) for position, part in enumerate(chunks)]
    return cast("Iterator[R]", _results_of(made, tasks, 2 * workers))


def _chunks(self: T, dim: Dim, chunksize: int | None, num_chunks: int | None, workers: int) -> Sequence[T]:
    """The parts of an object that the workers get.

    Raises:
        ValueError: there is nothing to divide, or both sizes are given.
    """
    at = dimension(self, dim)
    if chunksize is not None and num_chunks is not None:
        raise ValueError("map: expected chunksize or num_chunks, got both")
    if not self._batch_size[at]:
        raise ValueError(f"map: expected items in batch dimension {dim} of {type(self).__name__}, got none")
    if chunksize == 0:
        return unbind(self, at)
    return chunk(self, num_chunks or workers, at) if chunksize is None else split(self, chunksize, at)


def _results_of(executor: ProcessPoolExecutor, tasks: Sequence[tuple[object, ...]], ahead: int) -> Iterator[object]:
    """`_results` of workers that are started for it, and stopped when they are done or nobody wants their results."""
    try:
        yield from _results(executor, _seeded, tasks, ahead)
    finally:
        executor.shutdown(cancel_futures=True)


def _results(executor: Executor, fn: Callable[..., R], tasks: Sequence[tuple[object, ...]], ahead: int) -> Iterator[R]:
    """The results of `fn` for the arguments of each task, in their order, with not more than `ahead` tasks started."""
    started: deque[Future[R]] = deque()
    try:
        for task in tasks:
            if len(started) == ahead:
                yield started.popleft().result()
            started.append(executor.submit(fn, *task))
        while started:
            yield started.popleft().result()
    finally:
        for future in started:
            future.cancel()


def _seeded(fn: Callable[[T], R], part: T, seed: int) -> R:
    """Call `fn` in a worker, with random numbers of the chunk's own."""
    torch.manual_seed(seed)
    random.seed(seed)
    # Where nothing has imported NumPy, `fn` does not use it.
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        # It takes 32 bits.
        numpy.random.seed(seed % 2**32)
    return fn(part)


def _together(results: Sequence[object], dim: int, stacked: bool) -> object:
    """The results of all chunks as one.

    Raises:
        TypeError: they are neither objects nor tensors, or not all of one kind.
    """
    if all(result is None for result in results):
        return None
    if all(isinstance(result, Stored) for result in results):
        objects = cast("Sequence[Stored]", results)
        return stack(objects, dim) if stacked else cat(objects, dim)
    tensors = cast("list[Tensor]", list(results))
    return torch.stack(tensors, dim) if stacked else torch.cat(tensors, dim)
