"""Collective operations, transfers and modules of PyTorch that spread over processes, in two processes that talk over gloo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

from qten_gen import PerItem, TensorClass
from tests.module.torch_tools.gloo import WORLD, Check, main
from tests.tensorclass.declared import Batch, Flat, Point, Scale, assert_applied, batch, flat


class Fixed(TensorClass, frozen=True):
    """A frozen class."""

    x: Tensor


class Heads(TensorClass):
    """Several tensors in one field."""

    logits: dict[str, Tensor]
    layers: list[Tensor]


class Photos(TensorClass):
    """One Python value an item."""

    pixels: Tensor
    titles: PerItem[str]


def rank() -> int:
    return dist.get_rank()


def of_rank(number: int) -> Batch:
    """The batch that a process has at the start: all of them can make it."""
    torch.manual_seed(number)
    return batch(4)


def floats(number: int) -> Flat:
    torch.manual_seed(number)
    return flat(4)


def assert_same(value: TensorClass, expected: TensorClass) -> None:
    assert_applied(value, expected, lambda tensor: tensor)


def broadcast_writes_the_tensors_of_one_process_into_all(folder: Path) -> None:
    value = of_rank(rank()).replace(source=f"rank {rank()}")
    before = value.point.position
    assert value.broadcast(1) is value
    assert_same(value, of_rank(1))
    assert value.point.position is before
    assert value.source == f"rank {rank()}"


def all_gather_returns_the_objects_of_all_processes(folder: Path) -> None:
    value = of_rank(rank())
    found = value.all_gather()
    assert len(found) == WORLD
    for number, each in enumerate(found):
        assert_same(each, of_rank(number))
    assert_same(value, of_rank(rank()))


def dicts_and_lists_of_tensors_travel(folder: Path) -> None:
    value = Heads({"kind": torch.full((3,), float(rank()))}, [torch.ones(3)], batch_size=3)
    value.broadcast(1)
    assert (value.logits["kind"].tolist(), value.layers[0].tolist()) == ([1, 1, 1], [1, 1, 1])
    value = Heads({"kind": torch.zeros(3)}, [torch.ones(3)] * (1 + rank()), batch_size=3)
    with pytest.raises(ValueError, match=r"layers\.1 differs: nothing in rank 0, float32\[3\] in rank 1"):
        value.broadcast(0)


def values_of_items_do_not_travel(folder: Path) -> None:
    value = Photos(torch.full((2,), float(rank())), ["oak", "fern"], batch_size=2)
    message = r"Photos\.titles holds one Python value per item, which is not sent between processes"
    transfer = (lambda: value.send(1)) if rank() == 0 else lambda: value.recv(0)
    for call in (value.all_gather, lambda: value.broadcast(0), transfer):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match="the object differs"):  # and no process waits for one that has raised
        (value if rank() else floats(0)).all_gather()


def tensors_that_are_not_contiguous_are_written_too(folder: Path) -> None:
    value = Point(torch.rand(3, 4).T, torch.rand(4), batch_size=4)
    expected = value.clone()
    if rank() == 1:
        value.position.zero_()
    position = value.position
    value.broadcast(0)
    assert_same(value, expected)
    assert value.position is position
    assert_same(value.all_gather()[0], expected)


def tensors_that_require_gradients_are_written_too(folder: Path) -> None:
    value = floats(rank()).requires_grad_()
    value.broadcast(1)
    assert_same(value.detach(), floats(1))
    assert value.requires_grad


def what_is_sent_is_received(folder: Path) -> None:
    value = of_rank(rank())
    if rank() == 0:
        value.send(1, tag=3)
        value.send(1, check=False)
    else:
        assert value.recv(0, tag=3) is value
        value.recv(0, check=False)
    assert_same(value, of_rank(0))


def a_group_limits_who_takes_part(folder: Path) -> None:
    alone = dist.new_group([0])
    value = floats(rank())
    if rank() == 0:
        assert isinstance(alone, dist.ProcessGroup)
        value.broadcast(0, group=alone)
        assert len(value.all_gather(group=alone)) == 1
    assert_same(value, floats(rank()))


def another_shape_is_an_error_in_every_process(folder: Path) -> None:
    message = r"broadcast from rank 0: x differs: float32\[4, 3\] in rank 0, float32\[4, 5\] in rank 1"
    with pytest.raises(ValueError, match=message):
        Flat(torch.rand(4, 3 + 2 * rank()), torch.rand(4), batch_size=4).broadcast(0)


def another_batch_size_class_or_operation_is_an_error_in_every_process(folder: Path) -> None:
    message = r"the object differs: Flat of batch size \[4\] in rank 0, Flat of batch size \[5\] in rank 1"
    with pytest.raises(ValueError, match=message):
        flat(4 + rank()).broadcast(0)
    with pytest.raises(ValueError, match=r"the object differs: Flat of .* in rank 0, Point of .* in rank 1"):
        (flat(4) if rank() == 0 else of_rank(0).point).all_gather()
    with pytest.raises(
        ValueError, match=r"the operation differs: broadcast from rank 0 in rank 0, all_gather in rank 1"
    ):
        if rank() == 0:
            flat(4).broadcast(0)
        else:
            flat(4).all_gather()


def a_field_that_is_none_in_one_process_is_an_error_in_every_process(folder: Path) -> None:
    value = of_rank(0)
    if rank() == 1:
        value.mask = None
    with pytest.raises(ValueError, match=r"mask differs: bool\[4\] in rank 0, nothing in rank 1"):
        value.all_gather()


def a_receiver_of_another_shape_is_an_error_on_both_sides(folder: Path) -> None:
    value = Flat(torch.rand(4, 3 + rank()), torch.rand(4), batch_size=4)
    if rank() == 0:
        with pytest.raises(ValueError, match=r"x differs: float32\[4, 3\] in this object, .* in the one of rank 1"):
            value.send(1)
    else:
        with pytest.raises(ValueError, match=r"x differs: float32\[4, 4\] in this object, .* in the one of rank 0"):
            value.recv(0)


def a_frozen_object_is_not_written(folder: Path) -> None:
    value = Fixed(torch.full((2,), float(rank())), batch_size=2)
    with pytest.raises(AttributeError, match=r"cannot receive into a Fixed: the class is frozen"):
        value.broadcast(0)
    assert [each.x.tolist() for each in value.all_gather()] == [[0, 0], [1, 1]]


def a_module_in_distributed_data_parallel_takes_and_returns_objects(folder: Path) -> None:
    torch.manual_seed(0)
    module = Scale()
    wrapped = DistributedDataParallel(module, broadcast_buffers=False)
    out = wrapped(floats(rank()))
    assert isinstance(out, Flat)
    assert out.batch_size == (4,)
    out.x.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    gradient = module.linear.weight.grad
    expected = torch.stack([floats(number).x.sum(0).expand(3, 3) for number in range(WORLD)]).mean(0)
    torch.testing.assert_close(gradient, expected)


class WithSpare(Scale):
    """Has parameters that it does not use."""

    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Linear(3, 3)


def unused_parameters_are_told_by_the_tensors_of_the_result(folder: Path) -> None:
    torch.manual_seed(0)
    module = WithSpare()
    wrapped = DistributedDataParallel(module, find_unused_parameters=True)
    for _ in range(2):
        total: Tensor = wrapped(floats(rank())).x.sum()
        total.backward()  # type: ignore[no-untyped-call] # torch gives it no types
    assert module.linear.weight.grad is not None
    assert module.spare.weight.grad is None


def a_sharded_module_takes_and_returns_objects_and_casts_them(folder: Path) -> None:
    torch.manual_seed(0)
    module = Scale()
    seen: list[torch.dtype] = []
    module.linear.register_forward_pre_hook(lambda module, args: seen.append(args[0].dtype))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, output_dtype=torch.float64)
    fully_shard(module, mesh=init_device_mesh("cpu", (WORLD,)), mp_policy=policy)
    out = module(floats(rank()))
    assert isinstance(out, Flat)
    assert (out.x.dtype, out.y.dtype, out.batch_size) == (torch.float64, torch.float64, (4,))
    out.x.sum().backward()  # type: ignore[no-untyped-call] # torch gives it no types
    assert seen == [torch.bfloat16]


CHECKS: Sequence[Check] = (
    broadcast_writes_the_tensors_of_one_process_into_all,
    all_gather_returns_the_objects_of_all_processes,
    dicts_and_lists_of_tensors_travel,
    values_of_items_do_not_travel,
    tensors_that_are_not_contiguous_are_written_too,
    tensors_that_require_gradients_are_written_too,
    what_is_sent_is_received,
    a_group_limits_who_takes_part,
    another_shape_is_an_error_in_every_process,
    another_batch_size_class_or_operation_is_an_error_in_every_process,
    a_field_that_is_none_in_one_process_is_an_error_in_every_process,
    a_receiver_of_another_shape_is_an_error_on_both_sides,
    a_frozen_object_is_not_written,
    a_module_in_distributed_data_parallel_takes_and_returns_objects,
    unused_parameters_are_told_by_the_tensors_of_the_result,
    a_sharded_module_takes_and_returns_objects_and_casts_them,
)

if __name__ == "__main__":
    main(CHECKS)
