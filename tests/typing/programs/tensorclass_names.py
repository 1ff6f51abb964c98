"""Fields by name: without generated files a key is any string, and the value an object."""

from dataclasses import asdict, fields, replace
from typing import Any, assert_type

import torch
from tensorclass_declared import Batch, Fixed, Point

x = torch.ones(2)
batch = Batch(x, Point(x))

assert_type(batch.get("tokens"), object)
assert_type(batch.get(("point", "weight"), None), object)
assert_type(batch.set("tokens", x), Batch)
assert_type(batch.update({"tokens": x}), Batch)
assert_type(batch.select("tokens", "mask"), dict[str, object])
assert_type(batch.replace(mask=x), Batch)
assert_type(batch.keys(), tuple[str, ...])
assert_type(batch.to_dict(), dict[str, object])
assert_type(Batch.from_dict({"tokens": x, "point": {"position": x}}, batch_size=2), Batch)
assert_type(replace(batch, mask=x), Batch)
assert_type(asdict(batch), dict[str, Any])
print(fields(Fixed))
batch.get(3)  # E
batch.set("tokens")  # E
Batch.from_dict([x])  # E

match Fixed(x):
    case Fixed(tensor, name):
        assert_type(name, str)
        print(tensor)
