"""How a stub names what its source names, with the parameters of handlers and of generic classes."""

import ast
import sys

import pytest

from qten_gen.emit.stub_functions import as_written, of_call, parsed
from qten_gen.emit.stub_names import StubNames, TypeParameters, type_parameters
from qten_gen.generate.outputs import render
from qten_gen.model import Declaration, FileDecl, TensorClassDecl

from .declared import linked


def test_a_module_beside_a_file_outside_packages_is_imported_by_its_name() -> None:
    files = linked(
        base="class Base(TensorClass):\n    price: Tensor\n",
        net="class Net(Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n",
        handlers="""
            from . import net, base
            @net.Net.register(base.Base)
            def run(module: net.Net, item: base.Base) -> base.Base: ...
            """,
    )
    text = render(files["net"])["pyi"]
    assert "def __call__(self, item: base.Base, /) -> base.Base: ..." in text
    assert "import base" in text.splitlines()
    ast.parse(text)


@pytest.fixture
def names() -> StubNames:
    """The names of a stub."""
    return StubNames(linked(shop__model="class Net(Module): ...\n")["shop.model"])


@pytest.mark.parametrize(
    ("parameter", "written"),
    [
        ("x: float = None", "x: float | None = None"),
        ("x: Callable[..., int] = None", "x: Callable[..., int] | None = None"),
        ("x: float | None = None", "x: float | None = None"),
        ("x: Union[int, None] = None", "x: Union[int, None] = None"),
        ("x: typing.Optional[int] = None", "x: typing.Optional[int] = None"),
        ("x: Any = None", "x: Any = None"),
    ],
)
def test_a_parameter_whose_default_is_none_takes_none(parameter: str, written: str, names: StubNames) -> None:
    assert as_written(parsed(parameter), names) == [written]


@pytest.mark.parametrize(
    ("handler", "call"),
    [
        ("net: Net, obj: str", "obj: T, /"),
        ("net: Net, obj: str, /", "obj: T, /"),
        ("net, obj={}", "obj: T, /"),
        ("*args: object", "obj: T, /"),
        ("net: Net, *args: object, size: int = 1", "obj: T, /, *, size: int = 1"),
        ("net: Net, obj: str, *args: int, **rest: str", "obj: T, /, **rest: str"),
        ("net: Net, obj: str, mode: str = 'a'", "obj: T, /, *, mode: str = 'a'"),
        ("net: Net, obj: str, hidden: int = 3, /, *, size: int", "obj: T, /, *, size: int"),
        ("net: Net, self: str", "self_: T, /"),
        ("net: Net, obj: str, *, self: int = 3", "obj: T, /"),
        ("net: Net, obj: str, /, *, obj_: int, **self: int", "obj: T, /, *, obj_: int, **self_: int"),
        ("*args: object, obj: int", "obj_: T, /, *, obj: int"),
    ],
)
def test_a_call_gives_the_object_by_position_and_the_rest_by_keyword(handler: str, call: str, names: StubNames) -> None:
    assert ", ".join(as_written(of_call(parsed(handler), "T"), names)) == call


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
