"""The parameters of handlers in the overloads of a stub."""

import pytest

from qten_gen.emit.stub_functions import as_written, of_call, parsed
from qten_gen.emit.stub_names import StubNames

from .declared import linked


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
