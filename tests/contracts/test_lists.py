"""Lists of names in files, held against a lock by `qten-gen lock --check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qten_gen.tools.lock.lock import Line, Lock
from qten_gen.tools.lock.name_lists import ListError, entries, unmatched
from tests.command import Command
from tests.contracts.edits import DECODER
from tests.contracts.test_lock_command import edit, shop

__all__ = ["shop"]

LOCK = Lock("m:Net", {}, (Line("layers.{0-1}.q_proj.weight"), Line("layers.{0-1}.norm.weight"), Line("head", tie="x")))


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("a.yaml", "lora:\n  targets: [q_proj, norm]\n", "lora.targets"),
        ("a.json", '{"targets": ["q_proj", "norm"]}', "targets"),
        ("a.toml", '[lora]\ntargets = ["q_proj", "norm"]\n', "lora.targets"),
        ("a.json", '["q_proj", "norm"]', ""),
    ],
)
def test_a_list_is_read_from_a_file(name: str, text: str, key: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert entries(f"{name}:{key}", str(tmp_path)) == ["q_proj", "norm"]


@pytest.mark.parametrize(
    ("name", "text", "key", "why"),
    [
        ("a.json", "{}", "targets", "a.json:targets: cannot read it: no 'targets'"),
        (
            "a.json",
            '{"targets": 3}',
            "targets",
            "a.json:targets: expected a list of names, a table with names as keys,",
        ),
        ("a.ini", "", "targets", "a.ini:targets: cannot read it: expected a file of TOML, JSON or YAML"),
    ],
)
def test_a_list_that_cannot_be_read_is_one_message(name: str, text: str, key: str, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ListError) as raised:
        entries(f"{name}:{key}", str(tmp_path))
    assert str(raised.value).startswith(why)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("q_proj", None),
        ("layers.0.q_proj", None),
        ("layers.*.q_proj", None),
        (".norm.", None),
        ("head", None),
        ("all-linear", None),
        (r".*\.(q|k)_proj", None),
        (r".*\.(k|v)_proj", "is a regular expression that is found in no name"),
        ("(", "is not a regular expression: missing ), unterminated subpattern at position 0"),
        ("q_prj", "matches nothing: did you mean q_proj?"),
        ("layers.{0-3}.q_proj", "matches nothing: below 'layers' are 0, 1"),
    ],
)
def test_an_entry_is_the_end_of_a_name_a_pattern_or_a_regular_expression(
    entry: str, why: str | None, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps([entry]))
    found = list(unmatched("a.json:", str(tmp_path), LOCK))
    assert found == ([] if why is None else [f"a.json:: {entry!r} {why}"])


def test_a_rename_turns_every_list_red_that_mentions_it(shop: Command) -> None:
    settings = shop.read("pyproject.toml")
    names = '"lora.json:targets" = "goods.model:Decoder"\n"freeze.json:" = "goods.model:Decoder"\n'
    shop.write("pyproject.toml", f"{settings}[tool.qten-gen.names]\n{names}")
    shop.write("lora.json", '{"targets": ["qkv"]}')
    shop.write("freeze.json", '["blocks.*.qkv.*"]')
    shop("lock")
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    assert "in_proj" in shop.read("goods/model.py") != DECODER
    done = shop("lock", "--accept")
    assert done.status == 1
    assert [line.split(" ")[1] for line in done.err.splitlines()] == ["lora.json:targets:", "freeze.json::"]


def test_a_list_needs_a_lock(shop: Command) -> None:
    settings = shop.read("pyproject.toml")
    shop.write("pyproject.toml", f'{settings}[tool.qten-gen.names]\n"lora.yaml:targets" = "goods.model:Net"\n')
    done = shop("lock")
    assert done.status == 2
    assert done.err.endswith("lora.yaml:targets the names of goods.model:Net, which is not among the locks\n")
