"""The generated module names the keys and says the type of each."""

from typing import Any, Literal, assert_type

import numpy as np
import torch
from shop.model_qten import Batch, Point
from torch import Tensor

x = torch.ones(2)
batch = Batch(x, Point(x, x, batch_size=2), batch_size=2)

assert_type(batch, Batch)
assert_type(batch.point, Point)
assert_type(batch[0].point, Point)
assert_type(batch.get("tokens"), Tensor)
assert_type(batch.get("mask"), Tensor | None)
assert_type(batch.get("tags"), list[str])
assert_type(batch.get(("point", "weight")), Tensor)
assert_type(batch.set("source", "test"), Batch)
assert_type(batch.replace(mask=x).to("cpu"), Batch)
assert_type(batch.update({"tokens": x, "point": {"weight": x}}), Batch)
assert_type(batch.update({("point", "weight"): x}), Batch)
assert_type(batch.pop("mask"), Tensor | None)
assert_type(batch.setdefault("mask", x), Tensor | None)
assert_type(batch.select("tokens").get("tokens"), Tensor | None)
assert_type(batch.point.keys(), tuple[Literal["position"], Literal["weight"]])
assert_type(batch.to_dict()["point"]["weight"], Tensor)
assert_type(Batch.from_dict({"tokens": x, "point": {"position": x}}, batch_size=2), Batch)
assert_type(Batch.from_dict(batch.to_dict(), batch_size=2), Batch)
assert_type(batch.update(batch.to_dict()).update_(batch.to_dict()), Batch)
assert_type(batch.point.update(batch.point.select("weight")), Point)
assert_type(batch.get_at("mask", 0), Tensor | None)
assert_type(batch.get_at(("point", "weight"), slice(2)), Tensor)
assert_type(batch.set("tokens", x, inplace=True).update(batch), Batch)
assert_type(batch.exclude("tokens").get("source"), str | None)
assert_type(batch.select(("point", "weight")), dict[str, object])
assert_type(batch.keys(include_nested=True), tuple[str | tuple[str, ...], ...])
assert_type(batch.keys(sort=True), tuple[str, ...])
assert_type(batch.point.values(), tuple[Tensor, Tensor])
assert_type(batch.point.items(), tuple[tuple[Literal["position"], Tensor], tuple[Literal["weight"], Tensor]])
assert_type(batch.values(leaves_only=True), tuple[Tensor, ...])
assert_type(batch.values(True, True), tuple[Tensor, ...])
assert_type(batch.items(leaves_only=True), tuple[tuple[str, Tensor], ...])
assert_type(batch.items(True, True), tuple[tuple[str | tuple[str, ...], Tensor], ...])
assert_type(batch.to_dict(retain_none=False), dict[str, object])
assert_type(batch.point.state_dict(flatten=bool(x.numel()))["weight"], Tensor)
batch.point.state_dict()["wieght"]  # E
batch.point.select("wieght")  # E

assert_type(batch.set_("tokens", x).set_at_(("point", "weight"), 1, 0), Batch)
batch.set_("tokns", x)  # E
batch.set_("source", x)  # E
batch.set_at_("tokns", x, 0)  # E
batch.get_at("tokns", 0)  # E
batch.exclude("tokns")  # E
batch.get("tokns")  # E
batch.get(("point", "wieght"))  # E
batch.set("tokens", "s")  # E
batch.set("tokns", x)  # E
batch.replace(tokns=x)  # E
batch.replace(tokens=None)  # E
batch.update({"tokns": x})  # E
batch.select("tokns")  # E
batch.to_dict()["tokns"]  # E
Batch.from_dict({"tokens": x})  # E
Batch.from_dict({"tokens": x, "point": Point(x), "tokns": x})  # E
Batch(x)  # E
print(batch.tokns)  # E

arrays = batch.numpy()
assert_type(arrays["point"]["weight"], np.ndarray[Any, np.dtype[Any]])
assert_type(arrays["mask"], np.ndarray[Any, np.dtype[Any]] | None)
assert_type(arrays["source"], str)
arrays["tokns"]  # E
assert_type(batch.numpy(force=True)["source"], str)
batch.pop("tokens")  # E
batch.pop("tokns")  # E
batch.setdefault("tokns", x)  # E
batch.update({"tokns": x})  # E
