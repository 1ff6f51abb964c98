"""`qten-gen lock` as a user runs it: what it writes, what it refuses, and its exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.command import Command
from tests.contracts.edits import DECODER

LOCK = "locks/goods.model.Decoder.lock"
MIGRATE = """    version = 2

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        for name in ("weight", "bias"):
            state_dict[f"in_proj.{name}"] = state_dict.pop(f"qkv.{name}")

"""


@pytest.fixture
def shop(qten_gen: Command) -> Iterator[Command]:
    """A project with a decoder, whose modules are imported anew by each command."""
    qten_gen.write(
        "pyproject.toml", '[tool.qten-gen]\nsource-roots = ["."]\nlocks = ["goods.model:Decoder(depth=2)"]\n'
    )
    qten_gen.write("goods/__init__.py", "")
    qten_gen.write("goods/model.py", DECODER)
    path = list(sys.path)
    yield qten_gen
    sys.path[:] = path
    forget()


def forget() -> None:
    """Forget the modules of the project, as a new process would."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "goods"]:
        del sys.modules[name]


def edit(shop: Command, old: str, new: str) -> None:
    """Edit the decoder."""
    shop.write("goods/model.py", shop.read("goods/model.py").replace(old, new))
    forget()


def test_a_lock_is_written_once(shop: Command) -> None:
    assert shop("lock").out == f"written: {LOCK}\n"
    text = shop.read(LOCK)
    forget()
    done = shop("lock")
    assert (done.status, done.out, shop.read(LOCK)) == (0, f"up to date: {LOCK}\n", text)


def test_an_edited_lock_is_stale(shop: Command) -> None:
    shop("lock")
    forget()
    shop.write(LOCK, shop.read(LOCK).replace("[10, 8]       [10, width]", "[10, 9]       [10, width]"))
    done = shop("lock", "--check")
    assert done.status == 1
    assert "  reshaped: loading fails, with strict=False too\n    embedding: [10, 9] -> [10, 8]\n" in done.out


def test_a_check_of_a_lock_that_is_missing_fails_and_writes_nothing(shop: Command) -> None:
    done = shop("lock", "--check")
    assert (done.status, done.out) == (1, f"missing: {LOCK}\n")
    assert done.err == "help: run qten-gen lock, and commit what it writes\n"
    assert not shop.exists(LOCK)


def test_a_change_without_a_higher_version_is_not_written(shop: Command) -> None:
    shop("lock")
    before = shop.read(LOCK)
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    done = shop("lock")
    assert (done.status, shop.read(LOCK)) == (1, before)
    assert "set version = 2 in Block" in done.err


def test_the_lock_of_a_lower_version_is_kept(shop: Command) -> None:
    shop("lock")
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    edit(shop, "class Block(Module):", f"class Block(Module):\n{MIGRATE}")
    assert shop("lock").status == 0
    lines = shop.read(LOCK).splitlines()
    assert [line.split()[1:] for line in lines if line.startswith("versions")] == [
        ["Decoder", "1,", "Block", "2"],
        ["Decoder", "1,", "Block", "1"],
    ]
    forget()
    assert shop("lock", "--check").status == 0


def test_a_change_that_no_checkpoint_notices_is_written(shop: Command) -> None:
    shop("lock")
    edit(shop, 'param(10, "width"', 'param("width + 2", "width"')
    done = shop("lock")
    assert done.status == 0
    assert (
        "respelled: loads; models of other sizes may have another shape\n    embedding: [10, width] -> [width+2, width]"
        in done.out
    )


def test_a_dtype_that_stays_is_in_the_lock(shop: Command) -> None:
    edit(
        shop,
        'submodule(nn.LayerNorm, "width")',
        'submodule(nn.LayerNorm, "width", dtype=torch.float32, keep_dtype=True)',
    )
    shop("lock")
    assert (
        "blocks.{0-1}.norm.weight        float32 kept  param    [8]           LayerNorm(width, dtype=torch.float32)\n"
        in shop.read(LOCK)
    )
    edit(shop, ", keep_dtype=True", "")
    done = shop("lock")
    assert done.status == 0
    meaning = "loads; a cast of the module changes its dtype now"
    assert f"  unkept: {meaning}\n    blocks.{{0-1}}.norm.weight\n    blocks.{{0-1}}.norm.bias\n" in done.out


def test_a_field_of_a_tensorclass_is_locked(shop: Command) -> None:
    shop.write(
        "goods/batch.py",
        """
        from torch import Tensor
        from qten_gen import TensorClass

        class Batch(TensorClass):
            tokens: Tensor
            source: str = ""
        """,
    )
    assert shop("lock", "goods.batch:Batch").status == 0
    shop.write("goods/batch.py", shop.read("goods/batch.py").replace("tokens: Tensor", "tokens: Tensor | None"))
    forget()
    done = shop("lock", "--check", "goods.batch:Batch")
    assert "  kind: old values are stored in another way\n    tokens: tensor -> tensor?\n" in done.out
    assert done.err.endswith("write it with --accept if that is meant\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["goods.model:Dekoder"], "goods.model has no Dekoder; did you mean Decoder?"),
        (["goods.model:Decoder(dept=3)"], "dtype=None): got an unexpected keyword argument 'dept'"),
        (
            ["goods.model:Block(heads=2)"],
            "Block(width, heads, *, device=None, dtype=None): missing a required argument: 'width'",
        ),
        (["goods.model:Decoder(depth=3)", "goods.model:Decoder"], "goods.model:Decoder is named twice"),
    ],
)
def test_a_mistake_is_one_message(shop: Command, arguments: list[str], said: str) -> None:
    done = shop("lock", *arguments)
    assert done.status == 2
    assert said in done.err
    assert not shop.exists("locks")


def test_a_damaged_lock_is_left(shop: Command) -> None:
    shop.write(LOCK, "<<<<<<< HEAD\n")
    done = shop("lock")
    assert (done.status, shop.read(LOCK)) == (2, "<<<<<<< HEAD\n")
    assert done.err == (
        f"error: {LOCK}: line 1: expected '# lock 1: ' and a target, got '<<<<<<< HEAD'; delete it and run qten-gen lock\n"
    )


def test_a_migrate_that_forgets_a_name_is_refused(shop: Command) -> None:
    shop("lock")
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    forgetful = MIGRATE.replace(', "bias")', ",)")
    edit(shop, "class Block(Module):", f"class Block(Module):\n{forgetful}")
    before = shop.read(LOCK)
    done = shop("lock")
    assert (done.status, shop.read(LOCK)) == (1, before)
    assert done.err == (
        f"error: {LOCK}: a checkpoint of Decoder 1, Block 1 does not load: Missing key(s) in state_dict: "
        '"blocks.0.in_proj.bias", "blocks.1.in_proj.bias". Unexpected key(s) in state_dict: "blocks.0.qkv.bias", '
        '"blocks.1.qkv.bias".\n'
    )


def test_a_migration_that_an_edit_breaks_later_is_found(shop: Command) -> None:
    shop("lock")
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    edit(shop, "class Block(Module):", f"class Block(Module):\n{MIGRATE}")
    assert shop("lock").status == 0
    edit(shop, 'f"qkv.{name}"', 'f"kqv.{name}"')
    done = shop("lock", "--check")
    assert (done.status, "does not load: KeyError: 'kqv.weight'" in done.err) == (1, True)


def test_accept_forgets_the_locks_whose_checkpoints_do_not_load(shop: Command) -> None:
    shop("lock")
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    edit(shop, "class Block(Module):", "class Block(Module):\n    version = 2")
    assert shop("lock").status == 1
    forget()
    assert shop("lock", "--accept").status == 0
    assert "in_proj" in shop.read(LOCK) and shop.read(LOCK).count("versions") == 1
    forget()
    assert shop("lock", "--check").status == 0


def test_a_plain_module_raises_its_version_too(shop: Command) -> None:
    plain = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    shop.write("goods/plain.py", f"{plain}        self.a = nn.Linear(2, 2)\n")
    shop("lock", "goods.plain:Net")
    shop.write("goods/plain.py", f"{plain}        self.b = nn.Linear(2, 2)\n")
    forget()
    done = shop("lock", "goods.plain:Net")
    assert (done.status, "set version = 2 in Net, with" in done.err) == (1, True)
