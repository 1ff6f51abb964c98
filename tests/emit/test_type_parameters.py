"""What generic classes are generic over, in a stub."""

from qten_gen.emit.stub_names import StubNames
from qten_gen.emit.type_parameters import TypeParameters, meanings, type_parameters
from qten_gen.model import Declaration, FileDecl

from .declared import linked

FILES = {
    "shop__base": """
        from typing import Generic, TypeVar
        T = TypeVar("T", bound=Tensor)
        class Box(TensorClass, Generic[T]):
            x: T
        """,
    "shop__model": """
        from .base import Box
        class Batch(Box[Tensor]): ...
        class Pair[A: Tensor, B](Box[A]):
            other: int
        """,
}


def found(file: FileDecl, name: str) -> Declaration:
    return next(declaration for declaration in file.declarations if declaration.name == name)


def test_variables_of_generic_are_reached_through_the_source() -> None:
    base = linked(**FILES)["shop.base"]
    parameters = type_parameters(found(base, "Box"), StubNames(base))
    assert parameters == TypeParameters(("T",), arguments="[_decl.T]")
    assert parameters.generic == ", _t.Generic[_decl.T]"


def test_parameters_after_the_name_stay_there() -> None:
    model = linked(**FILES)["shop.model"]
    parameters = type_parameters(found(model, "Pair"), StubNames(model))
    assert parameters == TypeParameters(("A", "B"), "[A: Tensor, B]", "[A, B]")
    assert parameters.generic == ""


def test_a_class_that_fixes_the_variables_of_its_parent_is_not_generic() -> None:
    files = linked(**FILES)
    model, related = files["shop.model"], {"shop.base.Box": found(files["shop.base"], "Box")}
    names = StubNames(model)
    assert type_parameters(found(model, "Batch"), names) == TypeParameters(())
    assert meanings(found(model, "Batch"), names, related) == {"shop.base.Box": {"T": "Tensor"}, "shop.model.Batch": {}}
    assert meanings(found(model, "Pair"), names, related) == {"shop.base.Box": {"T": "A"}, "shop.model.Pair": {}}
