"""Checkpoints of every format, read in parts; names that do not fit; what is refused."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.distributed.checkpoint import state_dict_saver

from qten_gen import Module, param, submodule
from qten_gen.large_models.materializing.checkpoint_files import Checkpoint, CheckpointError, opened, read, read_part
from qten_gen.large_models.materializing.checkpoint_sources import matched
from qten_gen.large_models.materializing.survey import survey
from qten_gen.large_models.sharding.placements import size_of, slices

STATE: dict[str, Tensor] = {
    "weight": torch.randn(7, 5),
    "deep.bias": torch.randn(6, dtype=torch.bfloat16),
    "deep.transposed": torch.randn(4, 6).t(),
    "deep.count": torch.tensor(3),
    "mask": torch.rand(2, 3, 4) > 0.5,
    "empty": torch.empty(0, 3),
    "wide": torch.randn(3, 600_000),
}


def folder_of_safetensors(path: Path, state: Mapping[str, Tensor]) -> Path:
    contiguous = {name: tensor.contiguous() for name, tensor in state.items()}
    first = {name: tensor for name, tensor in contiguous.items() if "deep" in name}
    rest = {name: tensor for name, tensor in contiguous.items() if "deep" not in name}
    path.mkdir()
    save_file(first, path / "model-00001-of-00002.safetensors")
    save_file(rest, path / "model-00002-of-00002.safetensors")
    return path


def with_index(path: Path, state: Mapping[str, Tensor]) -> Path:
    folder_of_safetensors(path, state)
    files = {name: f"model-0000{1 if 'deep' in name else 2}-of-00002.safetensors" for name in state}
    save_file({"other": torch.zeros(1)}, path / "adapter.safetensors")
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": files}))
    return path


def one_file(path: Path, state: Mapping[str, Tensor]) -> Path:
    path = path.with_suffix(".safetensors")
    save_file({name: tensor.contiguous() for name, tensor in state.items()}, path, {"format": "pt"})
    return path


def torch_save(path: Path, state: Mapping[str, Tensor]) -> Path:
    torch.save(dict(state), path.with_suffix(".pt"))
    return path.with_suffix(".pt")


def distributed(path: Path, state: Mapping[str, object]) -> Path:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled")
        state_dict_saver.save(dict(state), checkpoint_id=path, no_dist=True)
    return path


WRITERS: list[Callable[[Path, Mapping[str, Tensor]], Path]] = [
    folder_of_safetensors,
    with_index,
    one_file,
    torch_save,
    distributed,
]

every_format = pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)


@every_format
def test_every_tensor_is_found_with_its_values_whole_and_in_parts_and_the_file_stays(
    write: Callable[[Path, Mapping[str, Tensor]], Path], tmp_path: Path
) -> None:
    path = write(tmp_path / "saved", STATE)
    before = {file: file.read_bytes() for file in ([path] if path.is_file() else path.iterdir())}
    checkpoint = opened(path)
    assert checkpoint.tensors.keys() == STATE.keys()
    for name, expected in STATE.items():
        stored = checkpoint.tensors[name]
        assert (stored.shape, stored.dtype) == (tuple(expected.shape), expected.dtype)
        found = torch.empty(expected.shape, dtype=expected.dtype)
        assert read(stored, found) == expected.numel() * expected.element_size()
        assert torch.equal(found, expected)
        found.zero_()
    for name, part in [
        ("weight", ((2, 5), (1, 4))),
        ("wide", ((1, 3), (599_000, 600_000))),
        ("empty", ((0, 0), (1, 2))),
    ]:
        found = torch.empty(size_of(part), dtype=STATE[name].dtype)
        assert read_part(checkpoint.tensors[name], part, found) == found.numel() * 4
        assert torch.equal(found, STATE[name][slices(part)])
    assert {file: file.read_bytes() for file in before} == before


def test_only_the_pages_of_a_part_are_read(tmp_path: Path) -> None:
    """The file has 40 MB. The system reads a few megabytes around what is touched."""
    state = {"a": torch.zeros(5000, 1000), "b": torch.zeros(5000, 1000)}
    for path in (one_file(tmp_path / "one", state), distributed(tmp_path / "many", state)):
        ((_, values),) = opened(path).tensors["b"].chunks
        tensor = values()
        before = mapped_pages(path)
        assert float(tensor[2500:2510].sum()) == 0.0
        assert mapped_pages(path) - before <= 5 << 20


def mapped_pages(path: Path) -> int:
    """Bytes of the mappings of a file or of the files in a folder that are in this process's memory."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if "-" in line.split(" ", 1)[0]:
            inside = str(path) in line
        elif inside and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


def test_a_sharded_checkpoint_is_put_together(tmp_path: Path) -> None:
    """Chunks that other processes saved are read where a part touches them."""
    whole = torch.arange(40.0).view(8, 5)
    chunks = opened({"a": whole[:3], "b": whole[3:]}).tensors
    stored = opened({"w": whole}).tensors["w"]
    parts = [((0, 3), (0, 5)), ((3, 8), (0, 5))]
    split = replace(stored, chunks=tuple((p, chunks[n].chunks[0][1]) for n, p in zip("ab", parts, strict=True)))
    for part in [((0, 8), (0, 5)), ((2, 4), (1, 3)), ((5, 8), (0, 5))]:
        found = torch.empty(size_of(part))
        read_part(split, part, found)
        assert torch.equal(found, whole[slices(part)])
    with pytest.raises(CheckpointError, match=r"^state_dict: it has 15 of the 40 values that are needed$"):
        read_part(replace(split, chunks=split.chunks[:1]), ((0, 8), (0, 5)), torch.empty(8, 5))


class Exploding:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('code of a checkpoint ran')",)


@pytest.mark.parametrize("where", ["file", "folder"])
def test_no_code_of_a_checkpoint_runs(where: str, tmp_path: Path) -> None:
    if where == "file":
        path = tmp_path / "model.pt"
        torch.save({"weight": torch.zeros(2), "extra": Exploding()}, path)
        expected = r"model\.pt: torch\.load\(mmap=True, weights_only=True\) refuses it: Weights only load failed"
    else:
        path = distributed(tmp_path / "saved", STATE)
        (path / ".metadata").write_bytes(pickle.dumps(Exploding()))
        expected = r"\.metadata: expected metadata of torch\.distributed\.checkpoint; it holds something else"
    with pytest.raises(CheckpointError, match=expected):
        opened(path)


def test_what_is_not_a_checkpoint_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "empty.safetensors").touch()
    (tmp_path / "short.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    (tmp_path / "folder").mkdir()
    torch.save([torch.zeros(2)], tmp_path / "list.pt")
    lost = with_index(tmp_path / "lost", STATE)
    (lost / "model-00002-of-00002.safetensors").unlink()
    twice = folder_of_safetensors(tmp_path / "twice", STATE)
    save_file({"weight": torch.zeros(2)}, twice / "z.safetensors")
    gone = distributed(tmp_path / "gone", STATE)
    (gone / "__0_0.distcp").unlink()
    for path, message in {
        "empty.safetensors": "expected a file of safetensors; cannot mmap an empty file",
        "short.safetensors": "expected a file of safetensors; its header is cut off",
        "folder": "expected files of safetensors or a folder of torch.distributed.checkpoint, got a folder with neither",
        "nothing.pt": "there is no such file or folder",
        "list.pt": "expected a state dict, got list",
        "lost/model.safetensors.index.json": "there is no file 'model-00002-of-00002.safetensors' beside it",
        "twice": "model-00002-of-00002.safetensors and z.safetensors both have 'weight'",
        "gone/__0_0.distcp": "the metadata names it, and it cannot be read: ",
    }.items():
        given = path.split("/")[0] if "/" in path else path
        with pytest.raises(CheckpointError) as caught:
            opened(tmp_path / given)
        assert str(caught.value).startswith(f"{tmp_path / path}: {message}")
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


def found_in(module: nn.Module, checkpoint: Checkpoint) -> dict[str, str]:
    """The names of tensors that a checkpoint has, and their names in it."""
    matches, _ = matched(survey(module), checkpoint)
    return {held.homes[0].qualified: match.name for held, match in matches.items()}


@pytest.mark.parametrize("names", [["embed.weight"], ["head.weight"], ["embed.weight", "head.weight"]])
def test_a_tied_tensor_is_found_under_any_of_its_names(names: list[str]) -> None:
    state = {name: torch.zeros(6, 4) for name in names}
    assert found_in(Net(), opened(state)) == {"embed.weight": names[-1]}


def test_a_checkpoint_may_be_partial_in_memory_and_have_the_names_of_wrappers() -> None:
    checkpoint = opened({"norm.bias": torch.zeros(4)})
    assert found_in(Net(), checkpoint) == {"norm.bias": "norm.bias"}
    assert found_in(Net(), opened({})) == opened({"step": 3}).tensors == {}  # type: ignore[dict-item] # no tensor
    assert opened({"step": 3}).others == {"step": 3}  # type: ignore[dict-item] # no tensor
    assert found_in(Net(), opened({"_orig_mod.norm.bias": torch.zeros(4)})).keys() == {"norm.bias"}
    compiled = torch.compile(Net(), backend="eager")
    assert isinstance(compiled, nn.Module)
    assert found_in(compiled, checkpoint).keys() == {"_orig_mod.norm.bias"}


@pytest.mark.parametrize("above", ["model", "state_dict", "module"])
def test_a_state_dict_below_a_common_name_is_found(above: str, tmp_path: Path) -> None:
    state: dict[str, object] = {
        above: {"norm.bias": torch.zeros(4), "step": torch.zeros(2)},
        "optimizer": {"step": 3},
        "epoch": 1,
    }
    torch.save(state, tmp_path / "model.pt")
    assert found_in(Net(), opened(tmp_path / "model.pt")).keys() == {"norm.bias", "step"}
    assert found_in(Net(), opened(distributed(tmp_path / "folder", state))).keys() == {"norm.bias", "step"}


def test_everything_that_does_not_fit_is_listed() -> None:
    state = {
        "norm.weight": torch.zeros(5),
        "norm.bais": torch.zeros(4),
        "table": torch.zeros(3),
        "step": torch.zeros(2, dtype=torch.complex64),
        "epoch": 3,
    }
    with pytest.raises(CheckpointError) as caught:
        found_in(Net(), opened(state))  # type: ignore[arg-type] # one of them is no tensor
    assert str(caught.value).split("\n    ") == [
        "materialize(): state_dict does not fit the module:",
        "norm.weight: expected shape [4], got [5] (state_dict)",
        "norm.bais: the module has no parameter or persistent buffer of this name (state_dict)",
        "table: the module has no parameter or persistent buffer of this name (state_dict)",
        "step: expected torch.float32, got torch.complex64, which has imaginary parts",
        "epoch: expected a tensor, got int",
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


def test_migrate_brings_names_up_to_date_without_reading_and_may_compute_tensors(tmp_path: Path) -> None:
    values, module = torch.randn(2, 3), Holder(device="meta")
    for state, origin in (
        (opened(one_file(tmp_path / "old", {"part.w": values})), "part.w"),
        (opened({"part.columns": values.t()}), "Renamed.migrate"),
    ):
        (match,) = matched(survey(module), state)[0].values()
        assert origin in (match.name, match.stored.origin)
        found = torch.empty(2, 3)
        read(match.stored, found)
        assert torch.equal(found, values)
    today = Holder().state_dict()
    today["part.w"] = today.pop("part.weight")
    with pytest.raises(CheckpointError, match=r"part\.w: the module has no parameter"):
        matched(survey(module), opened(today))


def test_a_module_that_loads_in_its_own_way_is_refused() -> None:
    class Own(nn.Linear):
        def _load_from_state_dict(self, *args: object, **keywords: object) -> None:
            raise AssertionError

    hooked = nn.Linear(2, 2, device="meta")

    def rename(*args: object) -> None:
        raise AssertionError

    hooked.register_load_state_dict_pre_hook(rename)  # type: ignore[no-untyped-call] # torch gives it no types
    module = nn.Sequential(Own(2, 2, device="meta"), hooked)
    with pytest.raises(CheckpointError) as caught:
        found_in(module, opened({"0.weight": torch.zeros(2, 2)}))
    first, second = str(caught.value).split("\n    ")[1:]
    assert first.startswith("0 (Own): ")
    assert first.endswith(
        "Own._load_from_state_dict is not run; materialize without state_dict, and call load_state_dict"
    )
    assert second.endswith("rename is not run; materialize without state_dict, and call load_state_dict")


class Counting(Module):
    """A module with extra state."""

    weight: nn.Parameter = param(2, initializer=nn.init.ones_)
    steps: int = 0

    def get_extra_state(self) -> dict[str, int]:
        return {"steps": self.steps}

    def set_extra_state(self, state: dict[str, int]) -> None:
        self.steps = state["steps"]


class Around(Module):
    inner: Counting = submodule(Counting, steps=3)


@pytest.mark.parametrize("write", [None, torch_save])
def test_extra_state_is_that_of_the_state_dict(
    write: Callable[[Path, Mapping[str, Tensor]], Path] | None, tmp_path: Path
) -> None:
    state = Around().state_dict()
    module = Around.on_meta()
    module.inner.steps = 0
    module.materialize("cpu", state_dict=write(tmp_path / "saved", state) if write else state)
    assert module.inner.steps == 3 and module.inner.weight.tolist() == [1, 1]


def test_extra_state_that_nobody_takes_or_that_is_not_read_is_a_finding(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"inner\._extra_state: expected a tensor, got int"):
        found_in(nn.Sequential(), opened({"inner._extra_state": 3}))  # type: ignore[dict-item] # as state dicts have it
    folder = distributed(tmp_path / "folder", Around().state_dict())
    with pytest.raises(
        CheckpointError, match=r"inner\._extra_state\.steps: extra state in a folder is not read; call load_state"
    ):
        Around.on_meta().materialize("cpu", state_dict=folder)
