"""Sharding plans held against a model by `qten-gen inspect --mesh`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import ClassVar

import pytest
from torch import nn

from qten_gen import Module, ModuleList, check, param, submodule
from qten_gen.tools.inspect.model_tree import contents_of
from qten_gen.tools.inspect.plans import Plan, mesh_of, plan_of
from qten_gen.tools.inspect.request import InspectionError
from qten_gen.tools.inspect.views.text import plan_lines
from tests.command import Command


class Attention(Module):
    width: int
    heads: int = 4
    check("width % heads == 0")
    qkv: nn.Linear = submodule(nn.Linear, "width", "3*width")
    out: nn.Linear = submodule(nn.Linear, "width", "width")


class Block(Module):
    width: int
    attention: Attention = submodule(Attention, "width")
    up: nn.Linear = submodule(nn.Linear, "width", "4*width", bias=False)
    down: nn.Linear = submodule(nn.Linear, "4*width", "width", bias=False)


class Decoder(Module):
    width: int = 64
    depth: int = 2
    embedding: nn.Parameter = param(256, "width", initializer=nn.init.normal_)
    blocks: ModuleList[Block] = submodule(Block, "width", repeat="depth")
    head: nn.Parameter = param(tie="embedding")


@cache
def decoder() -> Decoder:
    return Decoder(device="meta")


GOOD = {"qkv": "colwise", "out": "rowwise", "up": "colwise", "down": "rowwise"}


def held(plan: object, mesh: dict[str, int], tmp_path: Path, model: nn.Module | None = None) -> Plan:
    """A plan in a file, held against a model."""
    place = tmp_path / "plan.json"
    place.write_text(json.dumps(plan))
    model = model or decoder()
    return plan_of(model, contents_of(model), mesh, str(place))


def problems(plan: object, mesh: dict[str, int], tmp_path: Path, model: nn.Module | None = None) -> list[str]:
    return [line for line in plan_lines(held(plan, mesh, tmp_path, model)) if line.startswith(("error", "note"))]


def test_a_plan_that_fits_says_what_a_rank_has(tmp_path: Path) -> None:
    assert list(plan_lines(held(GOOD, {"tp": 4}, tmp_path)))[:-1] == [
        "cut on tp=4                        shape on a rank  dimension",
        "blocks.{0-1}.attention.qkv.weight           48, 64  tp 0",
        "blocks.{0-1}.attention.qkv.bias                 48  tp 0",
        "blocks.{0-1}.attention.out.weight           64, 16  tp 1",
        "blocks.{0-1}.up.weight                      64, 64  tp 0",
        "blocks.{0-1}.down.weight                    64, 64  tp 1",
    ]


def test_the_bytes_of_a_rank_are_those_of_the_parts(tmp_path: Path) -> None:
    whole = 256 * 64 + 2 * 64  # the embedding, and the biases of the rows
    cut = 2 * (3 * 64 * 64 + 3 * 64 + 64 * 64 + 2 * 4 * 64 * 64)
    assert held(GOOD, {"tp": 4}, tmp_path).bytes == 4 * (whole + cut // 4)


@pytest.mark.parametrize(
    ("plan", "mesh", "expected"),
    [
        ({"qvk": "colwise"}, {"tp": 2}, ["error: 'qvk' matches nothing: did you mean qkv?"]),
        ({"embedding": "colwize"}, {"tp": 2}, ["error: 'embedding': 'colwize' is not known; did you mean colwise?"]),
        ({"embedding": {"ep": 0}}, {"tp": 2}, ["error: 'embedding' cuts along 'ep'; the mesh has tp"]),
        (
            {"head": 0},
            {"tp": 2},
            ["error: head: cut in dimension 0 by tp, but embedding, the same tensor, is whole"],
        ),
        (
            {"embedding": 0},
            {"tp": 2},
            ["error: head: whole, but embedding, the same tensor, is cut in dimension 0 by tp"],
        ),
        (
            {**GOOD, "down": "replicate"},
            {"tp": 2},
            ["note: blocks.{0-1}.up: gives a part of its result, and no layer beside it takes one (rowwise)"],
        ),
        (
            {**GOOD, "up": "replicate"},
            {"tp": 2},
            ["note: blocks.{0-1}.down: takes a part of its input, and no layer beside it gives one (colwise)"],
        ),
        (
            {"embedding": 0, "head": 0},
            {"tp": 3},
            ["error: embedding: dimension 0: `256 % tp`: tp is 1 or 2"],
        ),
    ],
)
def test_a_mistake_in_a_plan_is_said(
    plan: dict[str, object], mesh: dict[str, int], expected: list[str], tmp_path: Path
) -> None:
    assert problems(plan, mesh, tmp_path) == expected


def test_heads_that_do_not_divide_are_said_in_words_of_the_declaration(tmp_path: Path) -> None:
    assert problems({"qkv": "colwise", "out": "rowwise"}, {"tp": 8}, tmp_path) == [
        f"error: blocks.{{0-1}}.attention.{name}: dimension {dimension}: `heads % tp`: tp is 1, 2 or 4, as heads is 4, "
        "and width % heads == 0"
        for name, dimension in (("qkv.weight", 0), ("qkv.bias", 0), ("out.weight", 1))
    ]


def test_a_dimension_is_said_as_it_is_declared(tmp_path: Path) -> None:
    assert problems({"up": "colwise", "down": "rowwise"}, {"tp": 6}, tmp_path) == [
        "error: blocks.{0-1}.up.weight: dimension 0: `4*width % tp`: tp is 1, 2 or 4, as 4*width is 256",
        "error: blocks.{0-1}.down.weight: dimension 1: `4*width % tp`: tp is 1, 2 or 4, as 4*width is 256",
    ]


def test_two_axes_cut_two_dimensions(tmp_path: Path) -> None:
    found = held({"up.weight": {"tp": 0, "ep": 1}}, {"tp": 2, "ep": 4}, tmp_path)
    assert found.cuts[0] == ("blocks.0.up.weight", (128, 16), (("tp", 0), ("ep", 1)))


def test_calls_of_torch_are_read_from_python_code(tmp_path: Path) -> None:
    (tmp_path / "plans.py").write_text(
        "def parallelize(model, mesh):\n"
        "    layer_plan = {\n"
        '        "attention.qkv": ColwiseParallel(use_local_output=False),\n'
        '        "attention.out": RowwiseParallel(output_layouts=Shard(1)),\n'
        '        "attention": PrepareModuleInput(input_layouts=(Shard(1),)),\n'
        '        "up": parallel.ColwiseParallel(output_layouts=Replicate()),\n'
        '        "embedding": Shard(0),\n'
        '        "head": Shard(0),\n'
        "    }\n"
    )
    plan = plan_of(decoder(), contents_of(decoder()), {"tp": 2}, str(tmp_path / "plans.py:parallelize.layer_plan"))
    assert (plan.problems, [cut.path for cut in plan.cuts if "blocks.1" not in cut.path]) == (
        (),
        ["embedding", "head"]
        + [f"blocks.0.{name}" for name in ("attention.qkv.weight", "attention.qkv.bias")]
        + ["blocks.0.attention.out.weight", "blocks.0.up.weight"],
    )


def test_torch_cuts_the_table_of_an_embedding_the_other_way_round(tmp_path: Path) -> None:
    model = nn.ModuleDict({"tokens": nn.Embedding(10, 4), "types": nn.Embedding(10, 4)})
    (tmp_path / "plans.py").write_text('plan = {"tokens": RowwiseParallel(), "types": ColwiseParallel()}\n')
    plan = plan_of(model, contents_of(model), {"tp": 2}, str(tmp_path / "plans.py:plan"))
    assert [cut.shape for cut in plan.cuts] == [(5, 4), (10, 2)]


def test_packed_parts_are_cut_each(tmp_path: Path) -> None:
    model = nn.ModuleDict({"gate_up": nn.Linear(4, 12, bias=False), "down": nn.Linear(6, 4, bias=False)})
    plan = {"gate_up": "packed_colwise", "down": "rowwise"}
    assert problems(plan, {"tp": 4}, tmp_path, model) == [
        "error: gate_up.weight: dimension 0: `12 % tp`: tp is 1, 2 or 3",
        "error: down.weight: dimension 1: `6 % tp`: tp is 1, 2 or 3",
    ]


class Planned(nn.Module):
    _tp_plan: ClassVar = {"layers.*.up": "colwise", "layers.*.down": "rowwise", "layers.*.gate": "colwise"}
    _ep_plan: ClassVar = {"layers.*.experts": "grouped_gemm"}

    def __init__(self) -> None:
        super().__init__()
        layer = nn.ModuleDict({"up": nn.Linear(2, 8), "down": nn.Linear(8, 2), "experts": nn.Bilinear(2, 2, 4)})
        self.layers = nn.ModuleList([layer])


def test_the_plan_of_a_model_may_have_rules_for_other_configurations() -> None:
    model = Planned()
    plan = plan_of(model, contents_of(model), {"tp": 2, "ep": 4}, None)
    assert ([str(each) for each in plan.problems], plan.is_good, plan.unmatched) == (
        ["'layers.*.gate' matches nothing: below 'layers.*' are down, experts, up"],
        True,
        1,
    )
    assert ("layers.0.experts.weight", (1, 2, 2), (("ep", 0),)) in plan.cuts


@pytest.mark.parametrize("text", ["tp", "tp=0", "tp=2,tp=4", "tp=two", ""])
def test_a_mesh_is_axes_with_sizes(text: str) -> None:
    with pytest.raises(InspectionError, match="expected axes with sizes, such as tp=8,ep=4"):
        mesh_of(text)


def test_the_command_exits_with_1_if_a_plan_does_not_fit(qten_gen: Command, tmp_path: Path) -> None:
    place = tmp_path / "plan.json"
    place.write_text('{"linear1": "colwise", "linear2": "rowwise", "nrm1": "colwise"}')
    target = ("inspect", "torch.nn:TransformerEncoderLayer", "--config", "d_model=8", "nhead=2")
    done = qten_gen(*target, "--mesh", "tp=2", "--plan", str(place))
    assert done.status == 1
    assert "error: 'nrm1' matches nothing: did you mean norm1?\n" in done.out
    document = json.loads(qten_gen(*target, "--mesh", "tp=2", "--plan", str(place), "--json").out)["plan"]
    assert (document["rules"], document["unmatched"], document["cuts"][0]) == (
        3,
        1,
        {"path": "linear1.weight", "shape": [1024, 8], "axes": [["tp", 0]]},
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--mesh", "tp=2"), "the model has no _tp_plan and no _ep_plan; name a plan: --plan shop/plans.py:tp_plan"),
        (("--plan", "plan.json"), "--plan needs a mesh, such as --mesh tp=8"),
        (
            ("--mesh", "tp=4", "--plan", "absent.json"),
            "--plan: absent.json: cannot read it: No such file or directory",
        ),
    ],
)
def test_a_plan_that_cannot_be_read_is_wrong_usage(qten_gen: Command, options: tuple[str, ...], error: str) -> None:
    done = qten_gen("inspect", "torch.nn:Linear", "--config", "in_features=2", "out_features=2", *options)
    assert (done.status, done.err) == (2, f"error: {error}\n")
