"""What rules report beyond their own examples."""

from textwrap import dedent

import pytest

from qten_gen.model.diagnostics import Diagnostic
from tests.rules.reported import reported

HEAD = """\
from typing import Callable, Generic, Self, TypeVar
import torch
from torch import Tensor, nn
from qten_gen import AsTensor, Module, PerItem, TensorClass, Unbatched, buffer, const, field, param, submodule, virtual
"""


def found(text: str, **others: str) -> list[Diagnostic]:
    """What a run says about `shop/model.py` with this text below the usual imports, beside other files of the package."""
    return [item for item in reported(HEAD, text, **others) if item.path == "shop/model.py"]


def codes(text: str, **others: str) -> list[str]:
    return [item.code for item in found(text, **others)]


def field(declaration: str, flags: str = "", before: str = "") -> list[str]:
    """The codes for a TensorClass with one field."""
    return codes(f"{dedent(before)}\nclass Batch(TensorClass{flags}):\n    {declaration}\n")


@pytest.mark.parametrize(
    "annotation",
    [
        "Tensor | str",
        "Inner | Other",
        "Inner | Tensor",
        "Inner | str",
        "dict[int, Tensor]",
        "dict[str, list[Tensor]]",
        "list[Tensor | None]",
        "list[Tensor] | Tensor",
        "list[Float[Tensor, '*batch']]",
        "tuple[str, list[Inner]]",
        "Unbatched[list[Inner]]",
        "TensorClass",
        "Self",
        "Free | Tensor",
        "Unbatched[Free]",
        "Unbatched[Inner]",
        "Unbatched[Tensor] | Tensor",
        "PerItem[str] | str",
        "PerItem[list[Inner]]",
        "AsTensor[str]",
        "AsTensor[int] | None",
    ],
)
def test_a_type_that_says_several_kinds_is_refused(annotation: str) -> None:
    before = """
    from jaxtyping import Float
    Free = TypeVar("Free")
    class Inner(TensorClass): ...
    class Other(TensorClass): ...
    """

    assert field(f"x: {annotation}", before=before) == ["QG208"]


@pytest.mark.parametrize(
    ("annotation", "message", "help"),
    [
        ("KW_ONLY", "is KW_ONLY, which only dataclasses support", "write field(kw_only=True)"),
        ("InitVar[int]", "is InitVar, which only dataclasses support", "write a class method"),
    ],
)
def test_what_only_dataclasses_support_is_said_with_what_to_write(annotation: str, message: str, help: str) -> None:
    (item,) = found(f"from dataclasses import KW_ONLY, InitVar\nclass Batch(TensorClass):\n    x: {annotation}\n")

    assert (item.code, item.message.endswith(message), item.help.startswith(help)) == ("QG208", True, True)


@pytest.mark.parametrize(
    "annotation",
    [
        "PerItem[str]",
        "PerItem[str | None] | None",
        "Unbatched[Tensor]",
        "Unbatched[Tensor] | None",
        "Unbatched[Tensor | None]",
        "list[Tensor]",
        "dict[str, Tensor] | None",
        "Unbatched[dict[str, Tensor]]",
        "list[str]",
        "Callable[[Tensor], Tensor]",
        "type[Tensor]",
        "nn.Parameter | Tensor",
        "object",
        "str | int",
    ],
)
def test_a_type_that_says_one_kind_is_accepted(annotation: str) -> None:
    assert field(f"x: {annotation}", flags=", nocast=True") == []


@pytest.mark.parametrize(("flag", "expected"), [("", ["QG210"]), (", nocast=True", []), (", autocast=True", [])])
def test_a_number_is_warned_about_only_where_it_becomes_a_tensor(flag: str, expected: list[str]) -> None:
    assert field("x: float | None", flags=flag) == expected
    assert field("x: AsTensor[float | None]", flags=flag) == []


@pytest.mark.parametrize("annotation", ['"Tensor"', "'Tensor'", "Tensor"])
def test_an_annotation_that_is_a_string_stays_one_in_the_help(annotation: str) -> None:
    (item,) = found(f"class Batch(TensorClass):\n    x: {annotation} = None\n")
    quote = annotation.replace("Tensor", "")[:1]
    assert (item.code, item.help) == ("QG213", f"write x: {quote}Tensor | None{quote} = None")


def test_shadow_frees_the_names_of_methods_but_not_of_constructor_arguments() -> None:
    assert field("keys: Tensor", flags=", shadow=True") == []
    assert field("device: str", flags=", shadow=True") == ["QG203"]


def test_an_unknown_name_inside_a_type_is_marked_by_itself() -> None:
    (item,) = found("class Batch(TensorClass):\n    x: dict[str, Tensr]\n")

    assert (item.code, item.span.column, item.span.end_column, item.help) == ("QG207", 18, 23, "did you mean Tensor?")


def test_a_module_as_a_type_is_called_a_module() -> None:
    assert found("import torch\nclass A(TensorClass):\n    x: torch\n")[0].message == "torch is a module, not a type"


def test_a_constant_of_the_file_in_const_is_a_plain_string() -> None:
    text = """
    MODE = "circular"
    class Net(Module):
        conv: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode={})
    """

    assert codes(text.format("const(MODE)")) == []
    assert codes(text.format("MODE")) == ["QG302"]


def test_a_string_for_a_submodule_that_is_not_a_dimension_gets_advice() -> None:
    text = 'class Net(Module):\n    conv: nn.Conv1d = submodule(nn.Conv1d, 1, 1, 3, padding_mode="{}")\n'

    (name,) = found(text.format("circular"))
    path, _ = found(text.format("a/b"))
    (mode,) = found(text.format("same pad"))

    assert (name.code, name.help.endswith("for a plain string, write const('circular')")) == (
        "QG302",
        True,
    )
    assert (path.code, path.help.endswith("for a plain string, write const('a/b')")) == ("QG302", True)
    assert (mode.code, mode.help) == ("QG301", "for a plain string, write const('same pad')")


def test_a_dataclass_with_a_base_that_only_the_program_knows_is_no_declaration() -> None:
    text = """
    import dataclasses

    try:
        from library import Output
    except ImportError:
        Output = object

    {}class Loss(Output):
        loss: Tensor
    """

    assert codes(dedent(text.format(""))) == ["QG008"]
    assert codes(dedent(text.format("@dataclasses.dataclass\n    "))) == []


@pytest.mark.parametrize(
    ("call", "marked"),
    [
        ("param(*sizes, initializer=nn.init.ones_)", "sizes"),
        ("param(SIZE, initializer=nn.init.ones_)", "SIZE"),
        ("param(size(), initializer=nn.init.ones_)", "size()"),
        ("param(8, initializer=nn.init.ones_, requires_grad=FLAG)", "FLAG"),
        ("submodule(nn.Linear, 2, 2, repeat=SIZE)", "SIZE"),
        ("submodule(nn.Linear, f'{SIZE}*dim', 2)", "f'{SIZE}*dim'"),
    ],
)
def test_an_argument_that_only_the_program_knows_is_reported(call: str, marked: str) -> None:
    line = f"    x: nn.Parameter = {call}"

    (item,) = found(
        f"def size(): ...\nSIZE = size()\nsizes = (1, 2)\nFLAG = bool(SIZE)\nclass Net(Module):\n    dim: int\n{line}\n"
    )

    assert (item.code, "known only at run time" in item.message) == ("QG008", True)
    assert line[item.span.column - 1 : item.span.end_column - 1] == marked


@pytest.mark.parametrize(
    ("type", "default", "code"),
    [
        ("tuple[int, ...]", "SIZE", "QG213"),
        ("tuple[int, ...]", "common.SIZE", "QG213"),
        ("str", "2 * SIZE", "QG213"),
        ("str", "field(default=-SIZE)", "QG213"),
        ("str", "FLAG", "QG213"),
        ("int", "(SIZE, 1)", "QG213"),
        ("list[int]", "SIZES", "QG206"),
        ("list[int]", "common.SIZES", "QG206"),
    ],
)
@pytest.mark.parametrize("base", ["TensorClass", "Module"])
def test_a_constant_is_a_default_like_the_value_that_it_has(base: str, type: str, default: str, code: str) -> None:
    text = (
        f"from . import common\nfrom .common import FLAG, SIZE, SIZES\nclass Own({base}):\n    x: {type} = {default}\n"
    )
    common = "FLAG = True\nSIZE = 3\nSIZES = [1, 2]\n"

    assert code in codes(text, common=common)
    assert codes(text.replace(f": {type}", ": object"), common=common) == (["QG206"] if code == "QG206" else [])


@pytest.mark.parametrize(
    ("call", "marked"),
    [
        ("param(8, initializer=nn.init.ones_, init=3)", "3"),
        ("param(8, initialiser=nn.init.ones_, initializer=nn.init.ones_)", "initialiser"),
        ("submodule(nn.Linear, 2, 2, keys=3)", "3"),
    ],
)
def test_an_argument_that_cannot_be_read_from_the_text_is_reported(call: str, marked: str) -> None:
    line = f"    x: nn.Parameter = {call}"

    (item,) = found(f"SIZE = 3\nsizes = (1, 2)\nFLAG = True\nclass Net(Module):\n{line}\n")

    assert item.code == "QG305"
    assert line[item.span.column - 1 : item.span.end_column - 1] == marked


@pytest.mark.parametrize("base", ["Generic[Item]", "Pair[Item]"])
def test_a_type_variable_whose_bound_is_tensorclass_is_named(base: str) -> None:
    text = f"""
    Item = TypeVar("Item", bound=TensorClass)
    class Pair(TensorClass, Generic[Item]):
        n: int
    class Batch({"TensorClass, " if base.startswith("Generic") else ""}{base}):
        x: Item | None
        y: TensorClass
    """

    assert [item.message for item in found(text) if item.code == "QG208"] == [
        "the type of x is the type variable Item, whose bound is TensorClass itself",
        "the type of y is TensorClass itself",
    ]


def test_a_group_of_a_member_is_advised_to_stand_in_its_sequence() -> None:
    text = """
    from qten_gen import Sequential, sequential
    class Net(Module):
        x: Sequential = sequential(submodule(nn.Linear, 2, 2, group="slow"))
    """

    (item,) = found(text)

    assert item.message == "group is for a submodule that is a field, not for a member of a sequence"
    assert item.help.startswith("give it to the sequence")


def test_registering_with_something_that_is_not_a_declared_module_is_not_reported() -> None:
    assert codes("import abc\nclass A(abc.ABC): ...\n@A.register(int)\ndef f(x): ...\n") == []


@pytest.mark.parametrize(
    ("field", "help"),
    [
        ("head: nn.Linear = nn.Linear(3, 4)", "write head: nn.Linear = submodule(nn.Linear, 3, 4), or field("),
        ("act: nn.Module = nn.ReLU()", "write act: nn.ReLU = submodule(nn.ReLU), or field("),
        ("head = nn.Linear(3, 4)", "write head: nn.Linear = submodule(nn.Linear, 3, 4)"),
        ("body = nn.Sequential(nn.Linear(3, 4))", "write body: ... = submodule(...), with the class and its arguments"),
    ],
)
def test_the_help_for_a_constructed_module_is_the_specifier_that_constructs_it(field: str, help: str) -> None:
    (item,) = found(f"class Net(Module):\n    dim: int\n    {field}\n")

    assert item.help is not None
    assert item.help.startswith(help)


def test_the_help_for_an_attribute_in_an_expression_is_the_field() -> None:
    (item,) = found('class Net(Module):\n    dim: int\n    head: nn.Linear = submodule(nn.Linear, "self.dim", 2)\n')

    assert item.help == "expressions name fields without self; the config fields are dim"


def test_the_help_for_a_child_without_an_annotation_names_its_class() -> None:
    (item,) = found("class Net(Module):\n    head = submodule(nn.Linear, 3, 2)\n")

    assert item.help == "write head: nn.Linear = submodule(...)"
