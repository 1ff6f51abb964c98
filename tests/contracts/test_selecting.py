"""`select`, `partition` and `audit`, and the patterns that they take."""

from __future__ import annotations

from typing import cast

import pytest
import torch
from torch import nn

from qten_gen import Module, ModuleList, audit, param, partition, select, submodule
from qten_gen.common.name_patterns import compiled


class Attention(Module):
    dim: int
    q_proj: nn.Linear = submodule(nn.Linear, "dim", "dim")
    k_proj: nn.Linear = submodule(nn.Linear, "dim", "dim")
    norm: nn.BatchNorm1d = submodule(nn.BatchNorm1d, "dim")


class Decoder(Module):
    dim: int = 2
    embedding: nn.Parameter = param(3, "dim", initializer=nn.init.normal_)
    blocks: ModuleList[Attention] = submodule(Attention, "dim", repeat=2)
    head: nn.Parameter = param(tie="embedding")


@pytest.mark.parametrize(
    ("pattern", "matched", "unmatched"),
    [
        ("a.*.c", ["a.b.c", "a.0.c"], ["a.c", "a.b.b.c", "x.a.b.c", "a.b.c.d"]),
        ("a.**.c", ["a.c", "a.b.c", "a.b.b.c"], ["a.b", "xa.c"]),
        ("a.**", ["a.b", "a.b.c"], ["a", "ab.c"]),
        ("**.c", ["c", "a.b.c"], ["a.bc", "c.d"]),
        ("**", ["a", "a.b.c"], []),
        ("{q,k}_proj.w*", ["q_proj.weight", "k_proj.w"], ["v_proj.weight", "q_proj.bias"]),
        ("a.{8-11}.b", ["a.8.b", "a.10.b"], ["a.7.b", "a.12.b"]),
        ("a+b.(c)", ["a+b.(c)"], ["aab.c"]),
    ],
)
def test_a_pattern_is_compared_segment_by_segment(pattern: str, matched: list[str], unmatched: list[str]) -> None:
    assert [name for name in (*matched, *unmatched) if compiled(pattern).fullmatch(name)] == matched


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("bloks.**", "'bloks.**' matches nothing: did you mean blocks?"),
        ("blocks.*.q_prj.weight", "'blocks.*.q_prj.weight' matches nothing: did you mean q_proj?"),
        ("blocks.*.{q,v}_proj.bias", "'blocks.*.v_proj.bias' matches nothing: did you mean q_proj?"),
        ("blocks.{0-2}.norm.bias", "'blocks.2.norm.bias' matches nothing: below 'blocks' are 0, 1"),
        ("blocks.0.norm", "'blocks.0.norm' matches nothing: write 'blocks.0.norm.**' for all below it"),
        ("**.wieght", "'**.wieght' matches nothing: did you mean weight?"),
        ("embedding.weight", "'embedding.weight' matches nothing: 'embedding' has nothing below it"),
        ("blocks..norm", "the pattern 'blocks..norm' has an empty segment"),
        ("blocks.{0.norm", "the pattern 'blocks.{0.norm' has a brace without the other in '{0'"),
    ],
)
def test_a_pattern_that_matches_nothing_says_why(pattern: str, why: str) -> None:
    with pytest.raises(ValueError) as raised:
        select(Decoder(), pattern)
    assert str(raised.value) == f"select(): {why}"


def test_names_are_in_the_order_of_the_module_and_each_tensor_is_given_once() -> None:
    decoder = Decoder()
    assert list(select(decoder, "blocks.1.q_proj.*", "embedding")) == [
        "embedding",
        "blocks.1.q_proj.weight",
        "blocks.1.q_proj.bias",
    ]
    assert list(select(decoder, "head")) == ["head"]
    assert len(select(decoder, "**")) == len(list(decoder.parameters()))


def test_buffers_and_modules_are_selected_too() -> None:
    decoder = Decoder()
    assert list(select(decoder, "**.running_mean", of="buffers")) == [
        "blocks.0.norm.running_mean",
        "blocks.1.norm.running_mean",
    ]
    assert select(decoder, "blocks.*.q_proj", of="modules")["blocks.1.q_proj"] is decoder.blocks[1].q_proj


def test_what_is_no_pattern_and_no_optimizer_is_refused_in_words() -> None:
    model, patterns = Decoder(), cast("str", ["**.bias"])
    with pytest.raises(ValueError, match="takes a pattern"):
        select(model)
    with pytest.raises(TypeError, match=r'select\(\) takes patterns, such as "\*\*.weight", got list'):
        select(model, patterns)
    with pytest.raises(TypeError, match=r"one by one, got a list; write audit\(model, \*optimizers\)"):
        audit(model, [torch.optim.SGD(model.parameters())])  # type: ignore[arg-type] # the mistake


def test_every_parameter_is_in_one_group() -> None:
    groups = partition(Decoder(), {"norms": "blocks.*.norm.*", "rest": ..., "tables": "embedding"})
    assert {name: len(group) for name, group in groups.items()} == {"norms": 4, "rest": 8, "tables": 1}
    assert list(groups["tables"]) == ["embedding"]


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ({"a": "blocks.**"}, "in no group: embedding; add a group with `...` for the rest"),
        ({"a": "**.weight", "b": "blocks.0.q_proj.*", "c": ...}, "blocks.0.q_proj.weight is in 'b' and in 'a'"),
        ({"a": "embedding", "b": ["head", "blocks.**"]}, "head is in 'b' and in 'a', as embedding"),
        ({"a": ..., "b": ...}, "'a' and 'b' are both `...`"),
        ({"a": "**.gate", "b": ...}, "a '**.gate' matches nothing"),
    ],
)
def test_a_parameter_in_no_group_or_two_is_named(groups: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError) as raised:
        partition(Decoder(), groups)
    assert why in str(raised.value)


def test_an_optimizer_of_a_partition_passes_the_audit() -> None:
    decoder = Decoder()
    groups = partition(decoder, {"norms": "**.norm.*", "rest": ...})
    optimizers = [torch.optim.SGD(group.values()) for group in groups.values()]
    audit(decoder, *optimizers)
    decoder.embedding.requires_grad_(False)
    with pytest.raises(ValueError, match="in several groups: embedding, blocks.0.q_proj.weight"):
        audit(decoder, optimizers[1], optimizers[1], optimizers[0])


def test_an_optimizer_from_before_a_layer_was_replaced_fails_the_audit() -> None:
    model = nn.ModuleDict({"body": nn.Linear(2, 2), "head": nn.Linear(2, 4)})
    optimizer = torch.optim.AdamW(model.parameters())
    model["head"] = nn.Linear(2, 3)
    said = (
        r"^audit\(\): in no group: head.weight, head.bias; 2 that the module does not have, of shape \(4, 2\), \(4,\)$"
    )
    with pytest.raises(ValueError, match=said):
        audit(model, optimizer)


def test_a_parameter_without_gradients_needs_no_group() -> None:
    decoder = Decoder().freeze()
    decoder.embedding.requires_grad_(True)
    audit(decoder, torch.optim.SGD([decoder.head]))


def test_the_names_of_a_compiled_model_are_reached_from_any_depth() -> None:
    model = nn.ModuleDict({"_orig_mod": nn.Sequential(nn.Linear(2, 3))})  # as torch.compile names it
    assert list(select(model, "**.weight")) == ["_orig_mod.0.weight"]
