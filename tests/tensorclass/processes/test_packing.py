"""Small tensors in one storage: packed objects and messages of workers are equal to unpacked ones, bit for bit."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
import random
import weakref
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.data import DataLoader, Dataset
from torch.utils.data._utils import worker

from qten_gen import Ragged, TensorClass
from qten_gen.runtime.tensorclass.torch_tools.packing import LARGEST, all_tensors
from tests import fresh_process

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


class Box(TensorClass):
    """A nested object."""

    corner: Tensor
    label: Tensor | None = None


class Scene(TensorClass):
    """Every place that a tensor can have in an object."""

    image: Tensor
    box: Box
    found: dict[str, Tensor]
    layers: list[Tensor]
    boxes: Ragged[Tensor]
    name: str = "a"


def views(seed: int) -> list[Tensor]:
    """Tensors of four items in every relation to one another that strided tensors can have."""
    torch.manual_seed(seed)
    base, numbers = torch.rand(4, 6), torch.arange(40, dtype=torch.int16)
    return [
        base,
        base,
        base[:, 2:4],
        base[:, ::2],
        torch.rand(6, 4).mT,
        torch.rand(1, 3).expand(4, 3),
        torch.rand(4, 0),
        torch.rand(4, dtype=torch.float64),
        base.view(torch.uint8),
        numbers[1:5],
        numbers[3:7],
        torch.rand(50_000, 3)[7:11],
        torch.rand(4, 3).to(torch.bfloat16),
        torch.rand(4, 2) * 1j,
        (torch.rand(4) * 1j).conj(),
        torch.rand(4, 3, requires_grad=True),
        torch.rand(4, LARGEST),
        torch.rand(4) > 0.5,
    ]


def scene(seed: int) -> Scene:
    chosen = views(seed)
    random.Random(seed).shuffle(chosen)
    image, corner, label, *rest = chosen
    rows, lengths = torch.rand(7, 4), torch.tensor([3, 0, 2, 2])
    found = {"a": rest[0], "b": rest[1]}
    return Scene(image, Box(corner, label, batch_size=4), found, rest[2:], Ragged(rows, lengths), batch_size=4)


def facts(made: TensorClass) -> list[object]:
    """All that can be seen of the tensors: elements, strides, and the distance in bytes of those that share bytes."""
    tensors = all_tensors(made)
    found: list[object] = [
        (tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad, tensor.is_conj()) for tensor in tensors
    ]
    found += [tensor.detach().resolve_conj().contiguous().view(-1).view(torch.uint8).tolist() for tensor in tensors]
    for (_, left), (_, right) in itertools.combinations(enumerate(tensors), 2):
        spans = [(each.data_ptr(), each.data_ptr() + span(each)) for each in (left, right)]
        overlap = max(spans[0][0], spans[1][0]) < min(spans[0][1], spans[1][1])
        found.append(spans[0][0] - spans[1][0] if overlap else None)
    return found


def span(tensor: Tensor) -> int:
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.itemsize if tensor.numel() else 0


def storages(*objects: TensorClass) -> int:
    """How many storages the tensors with elements lie in."""
    return len({leaf.untyped_storage().data_ptr() for made in objects for leaf in all_tensors(made) if leaf.numel()})


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_packed_object_is_equal_in_all_that_can_be_seen(seed: int, shared: bool) -> None:
    value = scene(seed)
    before = facts(value)
    packed = value.pack(shared=shared)
    assert facts(packed) == before and facts(value) == before
    assert (type(packed), packed.batch_size, packed.name) == (Scene, value.batch_size, "a")
    assert packed.boxes[2].rows.tolist() == value.boxes[2].rows.tolist()
    # The large one, the two with a history or a conjugate bit, and all others.
    assert storages(packed) == 4


def test_a_write_to_a_packed_object_reaches_those_that_shared_memory_and_no_other() -> None:
    base = torch.zeros(4, 6)
    value = Box(base, base[:, :2], batch_size=4)
    packed = value.pack()
    packed.corner.fill_(1)
    assert packed.label is not None
    assert packed.label.eq(1).all() and base.eq(0).all()
    base.untyped_storage().resize_(0)  # freed memory is not packed
    assert value.pack().corner is value.corner


def test_what_was_packed_can_be_saved_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    value = Box(torch.rand(4), torch.arange(4), batch_size=4)
    ways = (value.pack(), copy.deepcopy(value.pack()), sent(value.pack()), in_a_worker(monkeypatch)(value)[0])
    for packed in ways:
        file = io.BytesIO()
        torch.save([packed, packed[:2], packed.corner], file)
        file.seek(0)
        with torch.serialization.safe_globals([Box]):
            whole, part, corner = torch.load(file)
        assert corner.equal(value.corner) and facts(whole) == facts(value) and facts(part) == facts(value[:2])


def packed_double(corner: Tensor) -> Tensor:
    return Box(corner, corner + 1, batch_size=4).pack().corner * 2


def test_a_graph_has_copies_in_place_of_one_storage() -> None:
    compiled = torch.compile(packed_double, fullgraph=True, backend="eager")
    traced = make_fx(packed_double)(torch.zeros(4))
    assert compiled(torch.ones(4)).tolist() == traced(torch.ones(4)).tolist() == [2] * 4
    value = Box(torch.ones(4), batch_size=4)
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert value.pack().corner.shape == (4,)


class Message(Dataset[Any]):
    """Scenes, of which one item is one."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Scene:
        made = scene(index // 4)
        # No history crosses to another process.
        made.layers = [tensor.detach() for tensor in made.layers]
        made.image = made.image.detach()
        made.box = Box(made.box.corner.detach(), made.box.label, batch_size=4)
        made.found = {key: tensor.detach() for key, tensor in made.found.items()}
        return made


def listed(items: list[Any]) -> list[Any]:
    return items


def sent(message: object) -> Any:
    """What another process gets of a message from one that is no worker."""
    return pickle.loads(ForkingPickler.dumps(message))


def in_a_worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], tuple[Any, int]]:
    """A function that sends as a worker does; it gives what arrives, and the number of descriptors."""
    sent = [0]
    reducers = ForkingPickler._extra_reducers  # type: ignore[attr-defined] # its own table
    reduce_storage = reducers[torch.UntypedStorage]

    def counted(storage: Any) -> Any:
        sent[0] += 1
        return reduce_storage(storage)

    monkeypatch.setitem(reducers, torch.UntypedStorage, counted)
    monkeypatch.setattr(worker, "_worker_info", object())

    def send(message: object) -> tuple[Any, int]:
        sent[0] = 0
        return pickle.loads(ForkingPickler.dumps(message)), sent[0]

    return send


@pytest.mark.parametrize("seed", range(10))
def test_what_a_worker_sends_is_equal_to_what_another_process_sends(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    value = Message()[seed % 8]
    packed, descriptors = in_a_worker(monkeypatch)(value)
    monkeypatch.undo()
    unpacked = sent(Message()[seed % 8])
    assert facts(packed) == facts(unpacked)
    # The large tensor and the conjugate one go by themselves.
    assert descriptors == 3


class Holder:
    """A class of somebody's own."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene


def test_one_descriptor_for_a_batch_and_for_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    send = in_a_worker(monkeypatch)
    fields = {str(at): torch.rand(4, at) for at in range(20)}
    many = [Scene(torch.rand(4), Box(torch.rand(4), batch_size=4), fields, [], [torch.rand(2)] * 4, batch_size=4)]
    for message in (many[0], many * 3, (0, {"batch": many[0].clone(), "others": [each.clone() for each in many * 63]})):
        found, descriptors = send(message)
        assert descriptors == 1
    assert storages(found[1]["batch"], *found[1]["others"]) == 1
    assert send([many[0].replace(image=torch.rand(4, LARGEST)) for _ in range(2)])[1] == 1 + 2
    loop: list[Any] = [Holder(many[0].clone()), many[0].clone()]
    loop.append(loop)
    found, descriptors = send(loop)
    assert descriptors > 2 and facts(found[0].scene) == facts(many[0]) == facts(found[1])
    (found, view), _ = send((box := Box(torch.zeros(4), batch_size=4), box.corner[:2]))
    assert found.corner.fill_(3)[0] == view[0]
    assert send(Box(torch.rand(4, 0), batch_size=4))[0].corner.shape == (4, 0)


def test_the_memory_of_a_message_ends_with_its_pickler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tensor that is freed with the text, in the thread that sends it, aborts a worker that ends just then."""
    monkeypatch.setattr(worker, "_worker_info", object())
    reducers = ForkingPickler._extra_reducers  # type: ignore[attr-defined] # its own table
    sent: list[weakref.ref[Tensor]] = []
    reduce_tensor = reducers[Tensor]

    def reduced(tensor: Tensor) -> Any:
        sent.append(weakref.ref(tensor))
        return reduce_tensor(tensor)

    monkeypatch.setitem(reducers, Tensor, reduced)
    text = ForkingPickler.dumps([Box(torch.zeros(4), batch_size=4), Box(torch.ones(4), batch_size=4)])
    assert len(sent) == 1 and sent[0]() is None
    assert [each.corner[0].item() for each in pickle.loads(text)] == [0, 1]


def test_what_shares_memory_with_a_tensor_that_requires_gradients_is_not_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weight = torch.zeros(4, requires_grad=True)
    value = Box(weight, weight.detach(), batch_size=4)
    for found in (value.pack(), in_a_worker(monkeypatch)(value)[0]):
        assert found.corner.requires_grad and found.label is not None
        assert found.label.fill_(3).equal(found.corner)


def test_what_is_in_shared_memory_is_not_copied_nor_what_the_main_process_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = Box(torch.zeros(4), torch.zeros(4), batch_size=4)
    sent(value).corner.fill_(3)
    assert value.corner.eq(3).all()
    value = Box(torch.zeros(4), torch.zeros(4), batch_size=4).share_memory_()
    found, descriptors = in_a_worker(monkeypatch)(value)
    assert descriptors == 2
    found.corner.fill_(3)
    assert value.corner.eq(3).all()
    again, descriptors = in_a_worker(monkeypatch)(Box(torch.ones(4), torch.ones(4), batch_size=4).pack(shared=True))
    assert (descriptors, storages(again)) == (1, 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_send_one_storage_a_batch(method: str) -> None:
    fresh_process.with_torch()
    loader: DataLoader[Any] = DataLoader(Message(), 4, num_workers=2, collate_fn=listed, multiprocessing_context=method)
    for at, items in enumerate(loader):
        expected = [sent(Message()[at * 4 + number]) for number in range(4)]
        assert [facts(item) for item in items] == [facts(item) for item in expected]
        assert storages(*items) == 1 + 2 * 4
    if method == "fork":
        for found in DataLoader(Points(), 4, num_workers=1, multiprocessing_context=method):
            assert storages(found) == 1
            assert found.is_shared()


class Points(Dataset[Box]):
    """Items that the default collate function stacks."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Box:
        return Box(torch.full((3,), index), torch.rand(5))


def test_pickles_of_fields_that_share_a_storage_are_no_larger_than_their_bytes() -> None:
    fields = {str(at): torch.rand(4, 125) for at in range(20)}
    packed = Scene(
        torch.rand(4), Box(torch.rand(4), batch_size=4), fields, [], [torch.rand(2)] * 4, batch_size=4
    ).pack()
    columns = Box(*torch.rand(1000, 2).unbind(1), batch_size=1000)
    for value, size in ((packed, 40_000), (columns, 8_000)):
        text = pickle.dumps(value, 5)
        assert size <= len(text) < size + 3_000
        for found, expected in zip(all_tensors(pickle.loads(text)), all_tensors(value), strict=True):
            assert torch.equal(found, expected)
