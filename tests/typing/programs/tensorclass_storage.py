"""Memory maps, state dicts and files."""

from collections import OrderedDict
from pathlib import Path
from typing import assert_type

import torch
from tensorclass_declared import Batch, Point
from torch import Tensor

batch = Batch(torch.zeros(2), Point(torch.zeros(2), torch.zeros(2)), batch_size=2)

assert_type(batch.memmap("folder"), Batch)
assert_type(batch.memmap(Path("folder"), True, num_threads=4, existsok=False), Batch)
assert_type(batch.memmap_(), Batch)
assert_type(batch.memmap_like("folder", num_threads=2), Batch)
assert_type(batch.memmap_refresh_(), Batch)
assert_type(batch.save("folder"), Batch)
assert_type(batch.dumps("folder"), Batch)
assert_type(batch.is_memmap(), bool)
assert_type(batch.saved_path, str | None)
batch.memmap(3)  # E
batch.memmap("folder", threads=4)  # E
batch.saved_path = "folder"  # E

assert_type(Batch.load_memmap("folder"), Batch)
assert_type(Batch.load("folder", "cuda", True), Batch)
assert_type(Batch.load_memmap("folder", out=batch), Batch)
assert_type(batch.load_memmap_("folder"), Batch)
assert_type(batch.load_("folder"), Batch)
assert_type(Point.load_memmap("folder/point"), Point)
Batch.load_memmap("folder", out=batch.point)  # E
Batch.load_memmap()  # E

assert_type(batch.state_dict(flatten=True), OrderedDict[str, Tensor])
assert_type(batch.state_dict({}, "batch.")["batch.tokens"], object)  # E
target: dict[str, object] = {}
assert_type(batch.state_dict(target, "batch."), dict[str, object])
nested = batch.state_dict()["point"]
print(nested.shape)  # E
assert_type(batch.load_state_dict(batch.state_dict()), Batch)
assert_type(batch.load_state_dict({"tokens": torch.zeros(2)}, strict=False, assign=True), Batch)
batch.load_state_dict(3)  # E

batch.save_safetensors("file")
assert_type(Batch.load_safetensors(Path("file"), device="cpu"), Batch)
