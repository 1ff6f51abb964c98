"""Checkpoints in memory and in files of safetensors; names that do not fit; what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from qten_gen import CheckpointError, Module, param, submodule
from qten_gen.large_models.materializing.checkpoints import load, matched, opened
from qten_gen.large_models.materializing.survey import survey

STATE: dict[str, Tensor] = {
    "weight": torch.randn(7, 5),
    "deep.bias": torch.randn(6, dtype=torch.bfloat16),
    "deep.count": torch.tensor(3),
    "mask": torch.rand(2, 3, 4) > 0.5,
    "empty": torch.empty(0, 3),
}


def folder(path: Path) -> Path:
    path.mkdir()
    save_file({name: each for name, each in STATE.items() if "deep" in name}, path / "model-1.safetensors")
    save_file({name: each for name, each in STATE.items() if "deep" not in name}, path / "model-2.safetensors")
    return path


def with_index(path: Path) -> Path:
    folder(path)
    files = {name: f"model-{1 if 'deep' in name else 2}.safetensors" for name in STATE}
    save_file({"other": torch.zeros(1)}, path / "adapter.safetensors")
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))
    return path


def one_file(path: Path) -> Path:
    path = path.with_suffix(".safetensors")
    save_file(STATE, path, {"format": "pt"})
    return path


@pytest.mark.parametrize("write", [folder, with_index, one_file])
def test_every_tensor_is_found_and_the_file_stays(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path / "saved")
    before = {file: file.read_bytes() for file in ([path] if path.is_file() else path.iterdir())}
    tensors = opened(path)
    assert tensors.keys() == STATE.keys()
    for name, expected in STATE.items():
        found = torch.empty(expected.shape, dtype=expected.dtype)
        load(tensors[name], found)
        assert torch.equal(found, expected)
        tensors[name].zero_()
    assert {file: file.read_bytes() for file in before} == before


def test_only_the_pages_of_a_part_are_read(tmp_path: Path) -> None:
    """The file has 40 MB. The system reads a few megabytes around what is touched."""
    path = tmp_path / "large.safetensors"
    save_file({"a": torch.zeros(5000, 1000), "b": torch.zeros(5000, 1000)}, path)
    assert float(opened(path)["b"][2500:2510].sum()) == 0.0
    inside, total = False, 0
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if "-" in line.split(" ", 1)[0]:
            inside = str(path) in line
        elif inside and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    assert total <= 5 << 20


def test_what_is_not_a_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "empty.safetensors").touch()
    (tmp_path / "folder").mkdir()
    torch.save({"weight": torch.zeros(2)}, tmp_path / "model.pt")
    lost = with_index(tmp_path / "lost")
    (lost / "model-2.safetensors").unlink()
    twice = folder(tmp_path / "twice")
    save_file({"weight": torch.zeros(2)}, twice / "z.safetensors")
    outside = with_index(tmp_path / "outside")
    (outside / "model.safetensors.index.json").write_text('{"weight_map": {"weight": "../z.safetensors"}}')
    for path, message in {
        "empty.safetensors": "/empty.safetensors: expected a file of safetensors: ",
        "nothing.safetensors": "/nothing.safetensors: expected a file of safetensors: No such file",
        "folder": "there are no files of safetensors in it; torch.distributed.checkpoint.load reads a folder that",
        "model.pt": "expected a file of safetensors or a folder of them; open other checkpoints yourself, and give the mapping:"
        " torch.load(path, mmap=True, weights_only=True)",
        "lost": "/lost/model-2.safetensors: expected a file of safetensors: No such file",
        "twice": "z.safetensors has 'weight', and another file too",
        "outside": "it names a file outside of the folder, '../z.safetensors'",
    }.items():
        with pytest.raises(CheckpointError) as caught:
            opened(tmp_path / path)
        assert message in str(caught.value)
    with pytest.raises(TypeError, match=r"^materialize\(\): state_dict is a mapping or a path, got list$"):
        opened([])  # type: ignore[arg-type] # the mistake that is reported


class Net(nn.Module):
    """A module with a tie, a child and a buffer of each kind."""

    table: Tensor
    step: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(6, 4, device="meta")
        self.head = nn.Linear(4, 6, bias=False, device="meta")
        self.head.weight = self.embed.weight
        self.norm = nn.LayerNorm(4, device="meta")
        self.register_buffer("step", torch.zeros(2, device="meta"))
        self.register_buffer("table", torch.zeros(3, device="meta"), persistent=False)


def found_in(module: nn.Module, given: Mapping[str, object], prefix: str = "") -> dict[str, Tensor]:
    """The tensors that a checkpoint has by name."""
    matches = matched(survey(module), given, prefix).tensors  # type: ignore[arg-type] # some have other things than tensors
    return {held.homes[0].qualified: tensor for held, tensor in matches.items()}


@pytest.mark.parametrize("names", [["embed.weight"], ["head.weight"], ["embed.weight", "head.weight"]])
def test_a_tied_tensor_is_found_under_any_of_its_names(names: list[str]) -> None:
    assert found_in(Net(), {name: torch.zeros(6, 4) for name in names}).keys() == {"embed.weight"}
    with pytest.raises(CheckpointError, match=r"head\.weight: the module ties it to embed\.weight, and it has other"):
        found_in(Net(), {"embed.weight": torch.zeros(6, 4), "head.weight": torch.ones(6, 4)})


def test_a_checkpoint_may_be_partial_and_of_a_larger_module_and_have_the_names_of_wrappers() -> None:
    assert found_in(Net(), {"norm.bias": torch.zeros(4)}).keys() == {"norm.bias"}
    assert found_in(Net(), {}) == {}
    assert found_in(Net(), {"_orig_mod.norm.bias": torch.zeros(4)}).keys() == {"norm.bias"}
    assert found_in(Net(), {"a.0.norm.bias": torch.zeros(4), "b": torch.ones(1)}, "a.0.").keys() == {"norm.bias"}
    with pytest.raises(CheckpointError, match=r"no name in state_dict begins with 'a\.1\.', the prefix"):
        found_in(Net(), {"a.0.norm.bias": torch.zeros(4)}, "a.1.")
    compiled = torch.compile(Net(), backend="eager")
    assert isinstance(compiled, nn.Module)
    assert found_in(compiled, {"norm.bias": torch.zeros(4)}).keys() == {"_orig_mod.norm.bias"}


def test_everything_that_does_not_fit_is_listed() -> None:
    state = {
        "norm.weight": torch.zeros(5),
        "norm.bais": torch.zeros(4),
        "norm.bias": torch.zeros(4, device="meta"),
        "table": torch.zeros(3),
        "step": torch.zeros(2, dtype=torch.complex64),
        "epoch": 3,
        "model": {"norm.weight": torch.zeros(4)},
        "norm._extra_state": torch.zeros(4),
    }
    with pytest.raises(CheckpointError) as caught:
        found_in(Net(), state)
    assert str(caught.value).split("\n    ") == [
        "materialize(): state_dict does not fit the module:",
        "norm.weight: expected shape [4], got [5]",
        "norm.bais: the module has no parameter or persistent buffer of this name",
        "norm.bias: it is on meta and has no values",
        "table: the module has no parameter or persistent buffer of this name",
        "step: expected torch.float32, got torch.complex64, which has imaginary parts",
        "epoch: expected a tensor, got int",
        "model: expected a tensor, got dict; give the state dict that is in it",
        "norm._extra_state: the module has no set_extra_state",
    ]


class Renamed(Module):
    """A declared class whose state dict had other names."""

    weight: nn.Parameter = param(2, 3, initializer=nn.init.ones_)
    version: ClassVar[int] = 2

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        if "w" in state_dict:
            state_dict["weight"] = state_dict.pop("w")
        if "columns" in state_dict:
            state_dict["weight"] = state_dict.pop("columns").t()


class Holder(Module):
    """Holds one below a name."""

    part: Renamed = submodule(Renamed)


def test_migrate_brings_names_up_to_date_and_may_compute_tensors() -> None:
    values, module = torch.randn(2, 3), Holder(device="meta")
    for state in ({"part.w": values}, {"part.columns": values.t()}):
        assert torch.equal(found_in(module, state)["part.weight"], values)
        assert "part.weight" not in state
    today = Holder().state_dict()
    today["part.w"] = today.pop("part.weight")
    with pytest.raises(CheckpointError, match=r"part\.w: the module has no parameter"):
        found_in(module, today)


class Counted(nn.Linear):
    """A layer with a number beside its tensors in its state dict."""

    steps = 0

    def get_extra_state(self) -> dict[str, int]:
        return {"steps": self.steps}

    def set_extra_state(self, state: dict[str, int]) -> None:
        assert not self.weight.is_meta
        self.steps = state["steps"]


class Counting(Module):
    first: Counted = submodule(Counted, 2, 3)
    second: Counted = submodule(Counted, 2, 3)

    def __post_init__(self) -> None:
        self.register_module("again", self.first)


def test_extra_state_is_set_once_the_tensors_are_there_and_not_beside_tensors_that_stay() -> None:
    """One module is registered under two names, and the state dict has both."""
    trained, module = Counting(), Counting.on_meta()
    trained.first.steps, trained.second.steps = 3, 4
    module.second = Counted(2, 3)
    module.materialize("cpu", state_dict=trained.state_dict())
    assert (module.first.steps, module.second.steps) == (3, 0)
    assert torch.equal(module.first.weight, trained.first.weight)


class Own(nn.Linear):
    def _load_from_state_dict(self, *args: object, **keywords: object) -> None:
        raise AssertionError


def test_a_module_that_loads_in_its_own_way_is_refused() -> None:
    hooked = nn.Linear(2, 2, device="meta")
    hooked.register_load_state_dict_pre_hook(found_in)  # type: ignore[no-untyped-call] # torch gives it no types
    with pytest.raises(CheckpointError) as caught:
        found_in(nn.Sequential(Own(2, 2, device="meta"), hooked), {"0.weight": torch.zeros(2, 2)})
    advice = "is not run; materialize without state_dict, and call load_state_dict"
    assert str(caught.value).split("\n    ")[1:] == [
        f"0 (Own): Own._load_from_state_dict {advice}",
        f"1 (Linear): found_in {advice}",
    ]
