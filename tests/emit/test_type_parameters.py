"""What generic classes are generic over, in a stub."""

import sys

import pytest

from qten_gen.emit.stub_names import StubNames, TypeParameters, type_parameters
from qten_gen.model import Declaration, FileDecl, TensorClassDecl

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
        """,
}

NEWER = FILES | {
    "shop__model": """
        from .base import Box
        class Pair[A: Tensor, B](Box[A]):
            other: int
        """
}
"""The same with type parameters after the name of a class."""

needs_type_parameters = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="before Python 3.12 there are no type parameters"
)


def found(file: FileDecl, name: str) -> Declaration:
    return next(declaration for declaration in file.declarations if declaration.name == name)


def test_variables_of_generic_are_reached_through_the_source() -> None:
    base = linked(**FILES)["shop.base"]
    parameters = type_parameters(found(base, "Box"), StubNames(base))
    assert parameters == TypeParameters(arguments="[_decl.T]")


@needs_type_parameters
def test_parameters_after_the_name_stay_there() -> None:
    model = linked(**NEWER)["shop.model"]
    parameters = type_parameters(found(model, "Pair"), StubNames(model))
    assert parameters == TypeParameters("[A: Tensor, B]", "[A, B]")


def test_a_class_that_fixes_the_variables_of_its_parent_is_not_generic() -> None:
    model = linked(**FILES)["shop.model"]
    assert type_parameters(found(model, "Batch"), StubNames(model)) == TypeParameters()


def test_a_reference_to_variables_of_several_types_keeps_their_star_and_loses_that_of_parameters() -> None:
    declaration = TensorClassDecl("Pair", (), (), module="shop.model", type_parameters="[T: Tensor, *Ts, **P]")
    names = StubNames(linked(**FILES)["shop.model"])
    assert type_parameters(declaration, names) == TypeParameters(
        pep695="[T: Tensor, *Ts, **P]", arguments="[T, *Ts, P]"
    )
