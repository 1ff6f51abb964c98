"""`qten-gen lock --fix` writes what migrate follows, and each run tests migrations without a tensor."""

from __future__ import annotations

import io
from importlib import import_module

import pytest
import torch
from torch import nn

from qten_gen.tools.lock.codemod import with_migration
from tests.command import Command
from tests.contracts.edits import EDITS
from tests.contracts.test_lock_command import LOCK, MIGRATE, edit, forget, shop

__all__ = ["shop"]

FIXED = """
class Block(Module):
    version = 2
    width: int
    heads: int
    in_proj: nn.Linear = submodule(nn.Linear, "width", "3*width")
    norm: nn.LayerNorm = submodule(nn.LayerNorm, "width")
    scale: Tensor = buffer("heads", persistent=False, initializer=nn.init.ones_)

    @classmethod
    def migrate(cls, state_dict: dict[str, Tensor], version: int) -> None:
        if version < 2:
            for old, new in (("qkv.weight", "in_proj.weight"), ("qkv.bias", "in_proj.bias")):
                if old in state_dict:
                    state_dict[new] = state_dict.pop(old)


class Decoder(Module):
"""


def decoder() -> nn.Module:
    found = import_module("goods.model").Decoder()
    assert isinstance(found, nn.Module)
    return found


def test_a_rename_is_written_out(shop: Command) -> None:
    shop("lock")
    old = io.BytesIO()
    torch.save(decoder().state_dict(), old)
    edit(shop, "qkv: nn.Linear", "in_proj: nn.Linear")
    done = shop("lock", "--fix")
    assert (done.status, done.err) == (
        1,
        "fixed: goods/model.py: version = 2 and migrate in Block; read it, and run qten-gen, then qten-gen lock\n",
    )
    assert FIXED in shop.read("goods/model.py")
    forget()
    assert shop("lock").status == 0
    forget()
    assert shop("lock", "--check").status == 0
    old.seek(0)
    decoder().load_state_dict(torch.load(old))


@pytest.mark.parametrize("name", [name for name, each in EDITS.items() if each.needs_version])
def test_what_is_fixed_can_be_written(name: str, shop: Command) -> None:
    shop("lock")
    edit(shop, EDITS[name].old, EDITS[name].new)
    shop.write("pyproject.toml", shop.read("pyproject.toml").replace("depth=2", ""))
    assert shop("lock", "--fix").status == 1
    forget()
    done = shop("lock")
    assert (done.status, done.err) == (0, "")


def test_what_a_person_has_to_decide_raises_with_the_names(shop: Command) -> None:
    shop("lock")
    edit(shop, EDITS["a tie is cut"].old, EDITS["a tie is cut"].new)
    done = shop("lock", "--fix")
    assert "in Decoder; decide what it raises for" in done.err
    raised = (
        'raise NotImplementedError(\n                "old checkpoints"\n                "; untied head: embedding"\n'
    )
    assert raised in shop.read("goods/model.py")


def test_a_migrate_that_is_there_is_extended(shop: Command) -> None:
    edit(shop, "class Block(Module):", f"class Block(Module):\n{MIGRATE}")
    shop("lock")
    edit(shop, "norm: nn.LayerNorm", "layer_norm: nn.LayerNorm")
    shop("lock", "--fix")
    text = shop.read("goods/model.py")
    assert "    version = 3\n" in text
    assert text.count("def migrate") == 1
    assert '        if version < 3:\n            for old, new in (("norm.weight", "layer_norm.weight")' in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("class A(M):\n    version = 1\n", "class A(M):\n    version = 2\n"),
        (
            "class A(M):\n    version: ClassVar[int] = 1  # now\n",
            "class A(M):\n    version: ClassVar[int] = 2  # now\n",
        ),
        (
            'class A(M):\n    """Doc."""\n\n    x: int\n',
            'class A(M):\n    """Doc."""\n\n    version = 2\n\n    x: int\n',
        ),
        ("class A(M): pass\n", None),
        ("def f():\n    class A(M):\n        x: int\n", None),
    ],
)
def test_the_version_stands_where_it_was_or_below_the_docstring(before: str, after: str | None) -> None:
    made = with_migration(before, "A", 2, ["if version < 2:", "    raise NotImplementedError"])
    assert (made is None) == (after is None)
    assert after is None or (made is not None and made.partition("import Tensor\n\n")[2].startswith(after))


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
    assert shop("lock", "--accept").status == 0
    assert shop.read(LOCK).count("versions") == 1
    forget()
    assert shop("lock", "--check").status == 0


def test_a_plain_module_is_for_a_person(shop: Command) -> None:
    plain = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    shop.write("goods/plain.py", f"{plain}        self.a = nn.Linear(2, 2)\n")
    shop("lock", "goods.plain:Net")
    shop.write("goods/plain.py", f"{plain}        self.b = nn.Linear(2, 2)\n")
    forget()
    done = shop("lock", "--fix", "goods.plain:Net")
    assert done.status == 1
    assert "error: goods/plain.py: Net is a plain nn.Module, for which --fix writes nothing" in done.err
