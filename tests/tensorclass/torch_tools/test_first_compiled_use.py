"""The first use of a method in a process may be in compiled code whose graph breaks: tracing changes no class.

Each program runs in an interpreter of its own, which has not imported torch.compile when its classes are made.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qten_gen.runtime.tensorclass.tensorclass import LATE, LATE_ON_CLASS

CALLS = """
    b.get("x") | b.clone().set("x", b.x + 1) | b.clone().setdefault("m", b.x) | b.clone().pop("m")
    b.select("x", "part") | b.exclude("m") | b.keys() | b.items() | b.is_empty() | b.clone().update({"x": b.x + 1})
    b.replace(x=b.x + 1) | b.clone().set_("x", b.x + 1) | b.clone().update_({"x": b.x + 1})
    b.clone().copy_(b) | b.clone().lock_().unlock_() | locked(b)
    b.__getitems__([0, 2]) | assigned(b)
    [i.x + 0 for i in b] | torch.vmap(lambda i: i + 1)(b) | b.record_stream | b.clone().requires_grad_() | b.pin_memory
    b.apply(torch.sin) | b.named_apply(lambda n, v: v + 1) | b.to_dict() | b.copy() | copy.copy(b) | copy.deepcopy(b) | repr(b)
    pickle.loads(pickle.dumps(b)) | b.clone().share_memory_() | b.is_shared() | b.numpy() | b.tolist() | b.memmap(folder())
    b.clone().memmap_(folder()).memmap_refresh_() | b.memmap_like(folder()) | B.load_memmap(saved) | B.load(saved) | b.is_memmap()
    b.clone().load_memmap_(saved) | b.clone().load_(saved) | b.save(folder()) | b.dumps(folder()) | b.state_dict()
    b.clone().load_state_dict(state) | b.part.save_safetensors(folder() + ".st") | Part.load_safetensors(tensors)
    B.from_dict({"x": b.x, "part": b.part, "m": b.m}, batch_size=[3]) | Part.from_numpy | Part.from_namedtuple(Pair(b.x))
    Part.from_dataclass(Data(b.x)) | b.to_tensordict | B.from_tensordict
    b.send | b.recv | b.broadcast | b.all_gather | b.pack
    torch.stack([b, b]) | B.cat([b, b])
    B.zeros_like(b) | torch.sin(b) | b + 1 | b == b | torch.sum(b, 0) | torch.max(b, 0) | b.all() | b.reshape(3, 1)
    b.split(2) | b.unbind(0) | b.new_zeros(2) | b.double() | b[[0, 2]] | b[..., None] | b.numel()
    b.to("cpu") | b.to(torch.float64) | b.auto_batch_size_() | b.names | net(b) | net(b.x) | net(Sub(b.x, batch_size=3))
    length(b)
"""
"""Expressions about an object `b`. What is not called here needs other processes or libraries, but is looked up."""

EXPORTED = """
    torch.stack([b, b]) | b + 1 | torch.sum(b, 0) | b.replace(x=b.x + 1) | b.apply(torch.sin)
    [i.x + 0 for i in b] | b[[0, 2]] | b[..., None] | b.clone().set("x", b.x + 1) | assigned(b) | copy.copy(b) | net(b) | net(b.x)
"""

PROGRAM = r"""
import copy, pickle, sys, tempfile, dataclasses, typing
import torch
from torch import Tensor, nn
from qten_gen import Functional, Module, TensorClass, param

class Part(TensorClass):
    q: Tensor

class B(TensorClass):
    x: Tensor
    part: Part
    m: Tensor | None = None

class Sub(TensorClass):
    x: Tensor

class Net(Module):
    dim: int
    w: nn.Parameter = param("dim", initializer=nn.init.ones_)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.w

@Net.register(B)
def of_b(net: Net, b: B) -> Tensor:
    return net(Sub(b.x, batch_size=b.batch_size)) + 1

@Net.register(Sub)
def of_sub(net: Net, b: Sub) -> Tensor:
    return net.forward(b.x)

class Length(Functional):
    pass

@Length.register(TensorClass)
def of_any(length: Length, b: TensorClass) -> int:
    return len(b)

Pair = typing.NamedTuple("Pair", [("q", Tensor)])
Data = dataclasses.make_dataclass("Data", [("q", Tensor)])
net, length = Net(3), Length()
b = B(torch.tensor([1.0, 2.0, 3.0]), Part(torch.ones(3), batch_size=3), torch.ones(3), batch_size=3)

def locked(b):
    with b.clone().lock_() as found:
        return found.is_locked

def assigned(b):
    out = b.clone()
    out[0] = 7
    return out

def folder():
    return tempfile.mkdtemp(dir=".")

def leaves(value):
    found = torch.utils._pytree.tree_leaves(value)
    return [one.tolist() if isinstance(one, Tensor) else repr(one).partition(" at 0x")[0] for one in found]

assert "torch._dynamo" not in sys.modules
"""

COMPILED = r"""
from torch.utils._pytree import tree_leaves
# Saved in another process, so that nothing is used here before it is compiled.
saved, tensors, state = "saved", "part.safetensors", torch.load("state.pt", weights_only=False)

def compiled(use):
    def broken(b):
        first = use(b)
        total = sum(leaf.sum().item() for leaf in tree_leaves(first) if isinstance(leaf, Tensor))  # the graph breaks
        return use(b), total
    return torch.compile(broken, backend="eager")(b), broken(b)

for text in filter(None, map(str.strip, CALLS.replace("\n", "|").split("|"))):
    try:
        found, expected = map(leaves, compiled(eval(f"lambda b: {text}")))
        assert found == expected, (found, expected)
    except Exception as error:
        print(text, type(error).__name__, str(error)[:300])
    torch.compiler.reset()
"""

SAVED = """
b.memmap("saved")
b.part.save_safetensors("part.safetensors")
torch.save(b.state_dict(), "state.pt")
"""

EXPORT = r"""
class Calls(nn.Module):
    def __init__(self, use):
        super().__init__()
        self.use = use
        self.net = net

    def forward(self, b):
        return self.use(b)

for text in filter(None, map(str.strip, CALLS.replace("\n", "|").split("|"))):
    use = eval(f"lambda b: {text}")
    try:
        exported = torch.export.export(Calls(use), (b,), strict=STRICT).module()
        assert leaves(exported(b - 1)) == leaves(use(b - 1)), (leaves(exported(b - 1)), leaves(use(b - 1)))
    except Exception as error:
        print(text, type(error).__name__, str(error)[:300])
"""


def printed(program: str, folder: Path) -> str:
    """What a program prints in an interpreter of its own."""
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root, "QTEN_GEN_JIT": "on"}
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-W", "ignore", "program.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_late_method_is_among_the_calls() -> None:
    methods = {each.partition("=")[0] for names in (*LATE.values(), *LATE_ON_CLASS.values()) for each in names.split()}
    assert not [name for name in methods if not name.startswith("__") and f".{name}" not in CALLS]


def test_the_first_use_of_every_method_may_be_compiled_with_a_graph_that_breaks(tmp_path: Path) -> None:
    assert printed(PROGRAM + SAVED, tmp_path) == ""
    assert printed(f"{PROGRAM}CALLS = {CALLS!r}\n{COMPILED}", tmp_path) == ""


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not strict"])
def test_the_first_use_may_be_exported(strict: bool, tmp_path: Path) -> None:
    assert printed(f"{PROGRAM}CALLS = {EXPORTED!r}\nSTRICT = {strict}{EXPORT}", tmp_path) == ""
