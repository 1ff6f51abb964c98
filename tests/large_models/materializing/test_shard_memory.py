"""Making or loading a part needs little memory beside the part. Each case is measured in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.fresh_process import run

MEASURED = """
import sys
from pathlib import Path

import torch
from torch import nn

from qten_gen.large_models.materializing.matching import opened
from qten_gen.large_models.materializing.checkpoints import _read_part
from tests.large_models.materializing.recorded import record

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

part = {"rows": ((0, 2048), (0, 2560)), "columns": ((0, 4096), (640, 1920))}[sys.argv[1]]
size = [stop - start for start, stop in part]
dtype = torch.bfloat16 if sys.argv[2] == "bfloat16" else torch.float32

def make(part, into):
    if sys.argv[2] == "file":
        _read_part(opened(sys.argv[3]).tensors["weight"], part, into)
    else:
        record(nn.init.normal_, (4096, 2560), dtype).into(into, part)

make(((0, 1), (0, 1)), torch.empty(1, 1, dtype=dtype))  # what is loaded at the first use
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forgets the highest use so far
made = torch.empty(size, dtype=dtype)
make(part, made)
print(status("VmHWM") - before - made.numel() * made.element_size(), made.numel() * made.element_size())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("part", ["rows", "columns"])
@pytest.mark.parametrize("source", ["float32", "bfloat16", "file"])
def test_a_part_needs_a_buffer_and_no_second_copy(part: str, source: str, tmp_path: Path) -> None:
    header = {"weight": {"dtype": "F32", "shape": [4096, 2560], "data_offsets": [0, 4096 * 2560 * 4]}}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = tmp_path / "zeros.safetensors"
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + 4096 * 2560 * 4)
    done = run("-W", "ignore", "-c", MEASURED, part, source, path)
    assert done.returncode == 0, done.stderr
    extra, size = map(int, done.stdout.split())
    assert size > 10_000_000
    assert extra < 6_000_000


CAST = """
from pathlib import Path

import torch
from torch import nn

from qten_gen import Module, submodule

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

class Net(Module):
    rows: int
    linear: nn.Linear = submodule(nn.Linear, 2560, "rows", bias=False)

Net.on_meta(1).materialize("cpu", dtype=torch.bfloat16)  # what is loaded at the first use
net = Net.on_meta(4096)
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forgets the highest use so far
net.materialize("cpu", dtype=torch.bfloat16)
print(status("VmHWM") - before - net.linear.weight.nbytes, net.linear.weight.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_tensor_of_another_dtype_needs_no_second_copy() -> None:
    done = run("-W", "ignore", "-c", CAST)
    assert done.returncode == 0, done.stderr
    extra, size = map(int, done.stdout.split())
    assert size == 4096 * 2560 * 2
    assert extra < 6_000_000
