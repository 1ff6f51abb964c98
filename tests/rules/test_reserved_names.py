"""The tables of reserved names against the runtime."""

import re
from pathlib import Path

from torch import nn

from qten_gen import Module, TensorClass
from qten_gen.rules.field_names import FREE, MODULE, TENSORCLASS

REPOSITORY = Path(__file__).parents[2]

# Not members of the class: the constructor takes the first two, the third is generated, and the last is of the metaclass.
GENERATED = {"device", "dtype", "reset_parameters", "on_meta"}
KEYWORDS = {"lock"}
"""What the constructor of a TensorClass takes that is no member."""

GIVING_WAY = frozenset(
    """
    allows export export_all freeze from_config get_applicable_types get_config gpu invoke kept_names
    materialize optimizer_groups register to_device unfreeze
    """.split()
)
"""The other public members of `Module`. A field takes the place of one."""


def public(names: object) -> set[str]:
    return {name for name in dir(names) if not name.startswith("_")}


def test_every_public_member_of_a_tensorclass_is_reserved_and_nothing_else() -> None:
    assert public(TensorClass) | KEYWORDS == TENSORCLASS | FREE
    assert not TENSORCLASS & FREE


def test_every_public_member_of_a_module_is_reserved_and_nothing_else() -> None:
    instance = {name for name in vars(nn.Module()) if not name.startswith("_")}

    assert public(Module) | instance | GENERATED == MODULE | GIVING_WAY
    assert not MODULE & GIVING_WAY


def test_the_page_lists_the_names_that_are_reserved() -> None:
    text = (REPOSITORY / "docs" / "declarations.md").read_text(encoding="utf-8")
    listed = text.partition("are free.\n\n")[2].partition(".\n")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == TENSORCLASS
