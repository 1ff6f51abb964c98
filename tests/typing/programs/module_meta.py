"""`on_meta` takes the constructor's arguments, and `materialize` gives the module itself."""

from collections.abc import Mapping
from typing import assert_type

import torch
from kinds.modules import Layer, Tower
from kinds.modules import Layer as DeclaredLayer
from module_declared import Attention, Classic

from qten_gen import CheckpointError, MaterializeReport

assert_type(Attention.on_meta(4), Attention)
assert_type(Attention.on_meta(dim=4, heads=2, tags=["a"], dtype=torch.float16), Attention)
assert_type(Classic.on_meta(3), Classic)
assert_type(Layer.on_meta(3, use_bias=False), Layer)
assert_type(DeclaredLayer.on_meta(3), DeclaredLayer)
assert_type(Attention.on_meta(4).materialize("cpu"), Attention)
assert_type(Tower.on_meta(3).layers[0].materialize(torch.device("cuda", 1), seed=3, dtype=torch.float16), Layer)
Attention(4).materialize("cpu", report=print, state_dict={"qkv": torch.ones(2)}, prefix="layers.0")
Attention(4).materialize("cpu", state_dict="model.safetensors")

reports: list[MaterializeReport] = []
Attention(4).materialize("cpu", report=reports.append)
assert_type(reports[0].sources, Mapping[str, str])
assert_type(reports[0].seed, int | None)
try:
    Attention(4).materialize("cpu", state_dict={})
except CheckpointError as error:
    assert_type(error, CheckpointError)

reports[0].named("tie")  # E
Attention.on_meta()  # E
Attention.on_meta("4")  # E
Attention.on_meta(4, head=2)  # E
Classic.on_meta(3, device="meta")  # E
Layer.on_meta("3")  # E
Layer.on_meta(3, rows=3)  # E
Attention(4).materialize()  # E
Attention(4).materialize("cpu", 3)  # E
Attention(4).materialize("cpu", seed="3")  # E
Attention(4).materialize("cpu", dtype="half")  # E
Attention(4).materialize("cpu", state_dict={"qkv": 3})  # E
Attention(4).materialize("cpu", report=3)  # E
