"""What the stub of a TensorClass says once, and what it leaves to the stub of TensorClass."""

from __future__ import annotations

from qten_gen.generate.render_stub import render_stub
from tests.emit.declared import linked

FLAT = """
class Point(TensorClass):
    x: Tensor
    label: str = ""
"""
NESTED = f"""{FLAT}

class Path(TensorClass):
    point: Point
"""


def methods(text: str, name: str) -> list[str]:
    """The names of the methods of one class in its stub, in their order, once for each overload."""
    body = (
        render_stub(linked(shop__model=text)["shop.model"])
        .partition(f"\nclass {name}(_decl")[2]
        .partition("\nclass ")[0]
    )
    return [
        line.removeprefix("    def ").partition("(")[0] for line in body.splitlines() if line.startswith("    def ")
    ]


def test_a_class_says_in_one_method_what_methods_of_tensorclass_give() -> None:
    found = methods(FLAT, "Point")
    assert found.count("__listed__") == 1
    assert not {"keys", "values", "items", "to_dict", "numpy"} & set(found)


def test_what_is_listed_has_the_types_of_the_fields_in_their_order() -> None:
    stub = render_stub(linked(shop__model=FLAT)["shop.model"])
    assert (
        """\
    def __listed__(
        self,
        keys: tuple[_t.Literal["x"], _t.Literal["label"]],
        values: tuple[Tensor, str],
        items: tuple[tuple[_t.Literal["x"], Tensor], tuple[_t.Literal["label"], str]],
        to_dict: PointDict,
        numpy: PointArrays,
        leaves: _torch.Tensor,
        /,
    ) -> None: ...
"""
        in stub
    )


def leaves(text: str, name: str) -> str:
    """What the stub says of the leaves of a class."""
    stub = render_stub(linked(shop__model=text)["shop.model"]).partition(f"\nclass {name}(_decl")[2]
    return stub.partition("        leaves: ")[2].partition(",\n")[0]


def test_leaves_are_the_tensors_of_an_object_and_of_those_in_it() -> None:
    assert [leaves(NESTED, name) for name in ("Point", "Path")] == ["_torch.Tensor", "_torch.Tensor"]


def test_leaves_are_the_containers_of_tensors_too() -> None:
    text = "class Heads(TensorClass):\n    logits: dict[str, Tensor]\n    age: Tensor | None = None"
    assert leaves(text, "Heads") == "dict[str, Tensor] | _torch.Tensor"


def test_a_class_of_static_values_has_no_leaves() -> None:
    assert leaves("class Name(TensorClass):\n    name: str", "Name") == "_t.Never"


def test_what_is_in_a_tensordict_may_be_anything() -> None:
    text = "from tensordict import TensorDict\nclass Stall(TensorClass):\n    stock: TensorDict"
    assert leaves(text, "Stall") == "_t.Any"


def test_a_generic_parent_holds_generated_classes() -> None:
    text = f"""
from typing import Generic, TypeVar
{FLAT}
T = TypeVar("T", bound=Point)
class Kept(TensorClass, Generic[T]):
    inner: T
class KeptPoint(Kept[Point]):
    weight: Tensor
class Same(Kept[T]):
    weight: Tensor
"""
    lines = render_stub(linked(shop__model=text)["shop.model"]).splitlines()
    assert "class KeptPoint(_decl.KeptPoint, Kept[Point]):  # pyright: ignore[reportGeneralTypeIssues]" in lines
    assert "class Same(_decl.Same[_decl.T], Kept[_decl.T]):" in lines


def test_a_class_without_nested_fields_selects_names_only() -> None:
    flat, nested = methods(FLAT, "Point"), methods(NESTED, "Path")
    assert [flat.count(name) for name in ("select", "exclude")] == [1, 1]
    assert [nested.count(name) for name in ("select", "exclude")] == [2, 2]


def test_a_class_without_nested_fields_has_the_same_keys_in_a_flat_state_dict() -> None:
    assert methods(FLAT, "Point").count("state_dict") == 4
    assert methods(NESTED, "Path").count("state_dict") == 5
