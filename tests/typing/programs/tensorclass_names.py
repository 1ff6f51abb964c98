"""Fields by name: a key is any string, and the value Any."""

from dataclasses import asdict, fields, replace
from typing import Any, assert_type

import torch
from tensorclass_declared import Batch, Fixed, Point

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(batch.get("tokens"), Any)
assert_type(batch.get(("point", "weight"), None), Any)
assert_type(batch.set("tokens", x), Batch)
assert_type(batch.update({"tokens": x}), Batch)
assert_type(batch.select("tokens", "mask"), dict[str, Any])
assert_type(batch.replace(mask=x), Batch)
assert_type(batch.keys(), tuple[str, ...])
assert_type(batch.to_dict(), dict[str, Any])
assert_type(Batch.from_dict({"tokens": x, "point": {"position": x}}, batch_size=2), Batch)
assert_type(replace(batch, mask=x), Batch)
assert_type(asdict(batch), dict[str, Any])
print(fields(Fixed))
assert_type(batch.set_(("point", "weight"), 1), Batch)
assert_type(batch.update({("point", "weight"): x, "tokens": x}, inplace=True), Batch)
assert_type(batch.update(batch).update_(batch).copy_(batch).zero_().fill_(1), Batch)
assert_type(batch.setdefault("mask", x), Any)
assert_type(batch.pop("mask"), Any)
assert_type(batch.exclude("tokens", ("point", "weight")), dict[str, Any])
assert_type(batch.keys(leaves_only=True), tuple[str, ...])
assert_type(batch.keys(include_nested=True), tuple[str | tuple[str, ...], ...])
assert_type(batch.items(True, True), tuple[tuple[str | tuple[str, ...], Any], ...])
assert_type(batch.is_empty(), bool)
batch.update({1: x})  # E
batch.copy_(Point(x))  # E
batch.values()  # E
batch.get(3)  # E
batch.set("tokens")  # E
Batch.from_dict([x])  # E

match Fixed(x):
    case Fixed(tensor, name):
        assert_type(name, str)
        print(tensor)
