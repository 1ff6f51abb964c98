"""`qten-gen lock --load FILE`: the header of a checkpoint held against a lock."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from qten_gen import Module, ModuleList, compare, fake_mode, param, submodule
from qten_gen.common.state_differences import FileTensor
from qten_gen.tools.lock.headers import HeaderError, header, held
from qten_gen.tools.lock.lock import Line, Lock
from tests.command import Command

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.float8_e4m3fn, torch.complex64]
STATES = {str(dtype).removeprefix("torch."): torch.zeros(2, 3, dtype=dtype) for dtype in DTYPES}


def index(states: dict[str, Tensor], folder: Path) -> Path:
    names = list(states)
    files = {name: f"part-{position % 2}.safetensors" for position, name in enumerate(names)}
    for file in set(files.values()):
        save_file({name: states[name] for name in names if files[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    return folder


def safetensors(states: dict[str, Tensor], folder: Path) -> Path:
    save_file(states, folder / "model.safetensors")
    return folder / "model.safetensors"


@pytest.mark.parametrize("save", [safetensors, index])
def test_a_header_has_names_shapes_and_dtypes(save: Callable[[dict[str, Tensor], Path], Path], tmp_path: Path) -> None:
    found = header(str(save(STATES, tmp_path)))
    assert {name: (each.dtype, each.shape) for name, each in found.items()} == {
        name: (name, "[2, 3]") for name in STATES
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"abc",
        b"\0" * 100,
        (2**62).to_bytes(8, "little"),
        b"\x05\0\0\0\0\0\0\0{abc}",
        b'\x09\0\0\0\0\0\0\0{"a":[1]}',
    ],
)
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(HeaderError):
        header(str(tmp_path / "model.safetensors"))
    torch.save(STATES, tmp_path / "model.pt")
    with pytest.raises(HeaderError, match=r"for one of torch, qten_gen.compare\(model"):
        header(str(tmp_path / "model.pt"))
    with pytest.raises(HeaderError, match="has neither a model.safetensors"):
        header(str(tmp_path.parent))


LOCK = Lock(
    "m:Net",
    {},
    (
        Line("embedding", "float32", "param", "[4, 2]"),
        Line("head", tie="embedding"),
        Line("blocks.{0-1}.w", "float32", "param", "[2, 2]"),
        Line("blocks.{0-1}.mask", "float32", "unsaved", "[2]"),
    ),
)


class Block(Module):
    w: nn.Parameter = param(2, 2, initializer=nn.init.ones_)


class Net(Module):
    embedding: nn.Parameter = param(4, 2, initializer=nn.init.normal_)
    head: nn.Parameter = param(tie="embedding")
    blocks: ModuleList[Block] = submodule(Block, repeat=2)


def stored(states: dict[str, Tensor]) -> dict[str, FileTensor]:
    """Tensors as the header of a file has them."""
    return {
        name: FileTensor(str(value.dtype).removeprefix("torch."), str(list(value.shape)), value.data_ptr())
        for name, value in states.items()
    }


def named(lines: list[str]) -> list[str]:
    """The names of a report, each behind what is said of it."""
    heads = [line.strip().partition(":")[0] for line in lines[::2]]
    return [f"{head}: {line.strip()}" for head, line in zip(heads, lines[1::2], strict=True)]


@pytest.mark.parametrize(
    ("changed", "lines", "fails"),
    [
        ({}, [], False),
        ({"blocks.0.w": None, "blocks.1.w": None}, ["missing: blocks.{0-1}.w: float32 [2, 2] param"], True),
        ({"head": None}, ["missing: head: = embedding"], True),
        ({"blocks.2.w": torch.ones(2, 2)}, ["unexpected: blocks.2.w: float32 [2, 2]"], True),
        ({"blocks.0.w": torch.ones(3, 2)}, ["reshaped: blocks.0.w: [3, 2] -> [2, 2]"], True),
        ({"blocks.0.w": torch.ones(2, 2).bfloat16()}, ["recast: blocks.0.w: bfloat16 -> float32"], False),
        ({"head": torch.ones(4, 2)}, ["untied: head: embedding"], False),
    ],
)
def test_a_file_and_a_state_dict_are_compared_in_the_same_words(
    changed: dict[str, Tensor | None], lines: list[str], fails: bool
) -> None:
    net = Net()
    states = {name: value for name, value in {**net.state_dict(), **changed}.items() if value is not None}
    found = held(stored(states), LOCK)
    assert (named(found.lines()), found.fails) == (lines, fails)
    assert named(compare(net, states)) == lines


@pytest.mark.parametrize("prefix", ["model.", "module.", "_orig_mod."])
def test_a_prefix_before_all_names_is_said(prefix: str) -> None:
    found = held({f"{prefix}{name}": each for name, each in stored(Net().state_dict()).items()}, LOCK)
    assert found.lines() == [f"  the names begin with {prefix!r}, which has to be removed"]


def test_many_equal_casts_are_one_line() -> None:
    names = [f"part_{letter}" for letter in "abcdefgh"]
    lock = Lock("m:Net", {}, tuple(Line(name, "float32", "param", "[2]") for name in names))
    found = held({name: FileTensor("bfloat16", "[2]") for name in names}, lock)
    assert named(found.lines()) == ["recast: part_a and 7 others: bfloat16 -> float32"]


def test_a_layer_that_differs_leaves_the_others_folded() -> None:
    lock = Lock("m:Net", {}, (Line("layers.{0-3}.w", "float32", "param", "[2]"),))
    given = {f"layers.{number}.w": FileTensor("float16", "[2]") for number in range(4)}
    found = held({**given, "layers.2.extra": FileTensor("float32", "[1]")}, lock)
    assert [line.strip() for line in found.lines()[1::2]] == [
        "layers.2.extra: float32 [1]",
        "layers.{0-3}.w: float16 -> float32",
    ]


def test_the_command_reads_no_code_and_imports_no_torch(qten_gen: Command) -> None:
    qten_gen.write(
        "locks/shop.Net.lock",
        "# lock 1: shop:Net\nversions  Net 1\na  float32  param  [2, 3]\nb  float32  param  [4]\n",
    )
    save_file({"a": torch.zeros(2, 3), "c": torch.zeros(1)}, qten_gen.folder / "model.safetensors")
    done = qten_gen("lock", "shop:Net", "--load", "model.safetensors")
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        "model.safetensors does not fit locks/shop.Net.lock\n"
        "  missing: strict=True reports it; strict=False leaves it as it was initialised\n"
        "    b: float32 [4] param\n"
        "  unexpected: strict=True reports it; strict=False drops it\n"
        "    c: float32 [1]\n"
    )
    program = (
        "import sys; from qten_gen.cli.command import main; main(['lock', 'shop:Net', '--load', 'model.safetensors']);"
        "assert not {'torch', 'numpy', 'safetensors', 'shop'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], cwd=qten_gen.folder, check=True, capture_output=True)
    assert (
        qten_gen("lock", "shop:Net", "--load", "other.pt").err
        == "error: cannot read other.pt: No such file or directory\n"
    )


def test_fake_tensors_are_compared_too() -> None:
    with fake_mode():
        net = Net()
    assert compare(net, net.state_dict()) == []


def test_a_folded_tie_has_the_numbers_of_its_name_at_the_same_places() -> None:
    lines = (Line("a.b.c.{0-1}.w", "float32", "param", "[2]"), Line("d.{0-1}.e.{0-1}.w", tie="a.b.c.{0-1}.w"))
    tensors = {f"a.b.c.{number}.w": FileTensor("float32", "[2]", number) for number in range(2)}
    ties = {f"d.{layer}.e.{number}.w": tensors[f"a.b.c.{number}.w"] for layer in range(2) for number in range(2)}
    assert held({**tensors, **ties}, Lock("m:Net", {}, lines)).differences == []


def test_a_lock_that_is_not_there_is_to_be_written(qten_gen: Command) -> None:
    result = qten_gen("lock", "shop:Net", "--load", "model.safetensors")
    assert result.err.endswith("shop.Net.lock: No such file or directory; write it with qten-gen lock\n")
