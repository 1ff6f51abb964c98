"""The command and the class statement accept the same declarations, and refuse the same ones for the same reasons."""

from __future__ import annotations

import linecache
from typing import NamedTuple, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qten_gen import DeclarationError, rules
from qten_gen.model import FieldDecl, TensorClassDecl
from qten_gen.read.module import read
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from tests.linking import link

HEAD = """\
import abc
import dataclasses
import tensordict
import torch
from collections import OrderedDict
from tensordict import TensorDict
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from typing import Annotated, Any, Callable, ClassVar, Final, Generic, Literal, NewType, Optional, Protocol, Self
from typing import Sequence, TypeVar, Union
from jaxtyping import Float
from qten_gen import LabelledTensor, PerItem, TensorClass, Unbatched, buffer, field, param, virtual

Free = TypeVar("Free")
Bound = TypeVar("Bound", bound=Tensor)
Ids = NewType("Ids", Tensor)
Count = NewType("Count", int)
Alias = list[Tensor]


class MyTensor(Tensor):
    pass


class P(TensorClass):
    x: Tensor


class Q(TensorClass):
    x: Tensor


"""

FOOT = """

class Later(TensorClass):
    x: Tensor
"""


class Answer(NamedTuple):
    """The codes of the rules that the class `Batch` breaks, and its fields if there are none."""

    codes: tuple[str, ...]
    fields: tuple[FieldDecl, ...]


def text(body: str, statement: str, before: str) -> str:
    """A file that declares `Batch`, with annotations that are not evaluated."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"from __future__ import annotations\n{HEAD}{before}\n\n{statement}\n{lines}{FOOT}"


def of_command(source: str) -> Answer:
    """What the command says."""
    linked, said = link([read(source.encode(), "shop/model.py", "shop.model")[0]])
    found = (*said, *rules.check(linked[0]))
    declaration = next(d for d in linked[0].declarations if d.name == "Batch")
    assert isinstance(declaration, TensorClassDecl)
    return _answer({item.code for item in found if item.is_error}, declaration)


def of_statement(source: str) -> Answer:
    """What the class statement says, in a module that is not generated for."""
    try:
        namespace = execute(source)
    except DeclarationError as error:
        return Answer(tuple(sorted({item.code for item in error.findings})), ())
    declared = namespace["Batch"]
    assert isinstance(declared, type)
    return _answer(set(), cast("TensorClassDecl", cast("DeclaredClass", declared)._declaration))


def execute(source: str) -> dict[str, object]:
    """The names that a file defines when it runs. Its lines are where `inspect` looks for them."""
    file = f"<acceptance {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, object] = {"__name__": f"accepted_{abs(hash(source))}"}
    exec(compile(source, file, "exec"), namespace)
    return namespace


def _answer(codes: set[str], declaration: TensorClassDecl) -> Answer:
    return Answer(tuple(sorted(codes)), () if codes else declaration.fields)


ATOMS = (
    "Tensor",
    "MyTensor",
    "Ids",
    "Bound",
    "P",
    "Q",
    "Batch",
    "Later",
    "TensorDict",
    "tensordict.UnbatchedTensor",
    "PackedSequence",
    "LabelledTensor",
    "TensorClass",
    "nn.Parameter",
    'Float[Tensor, "*batch 3"]',
    "PerItem[str]",
    "Unbatched[Tensor]",
    "int",
    "float",
    "bool",
    "Count",
    "str",
    "Any",
    "object",
    "nn.Module",
    'Literal["a"]',
    "Free",
    "Undefined",
)
WRAPPED = (
    "list[{}]",
    "dict[str, {}]",
    "tuple[{}, ...]",
    "Sequence[{}]",
    "Optional[{}]",
    "type[{}]",
    "Callable[..., {}]",
)

types = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds(lambda wrap, one: wrap.format(one), st.sampled_from(WRAPPED), inner),
        st.builds(lambda one, other: f"{one} | {other}", inner, st.one_of(st.just("None"), inner)),
    ),
    max_leaves=3,
)
defaults = st.sampled_from(
    (
        "",
        "= None",
        "= 0",
        "= 0.5",
        "= True",
        "= 'a'",
        "= lambda: 1",
        "= field(kw_only=True)",
        "= field(default_factory=list)",
        "= dataclasses.field(default=1)",
        "= dataclasses.field(default=None, repr=True)",
    )
)
class_flags = st.sampled_from(
    ["", ", autocast=True", ", nocast=True", ", tensor_only=True", ", frozen=True", ", open=True"]
)


def agreed(body: str, statement: str = "class Batch(TensorClass):", before: str = "") -> Answer:
    """What both say of a class body."""
    source = text(body, statement, before)
    command = of_command(source)
    assert of_statement(source) == command, source
    return command


@settings(max_examples=60, derandomize=True)
@given(types, defaults, class_flags)
def test_any_field_is_read_alike(annotation: str, default: str, flag: str) -> None:
    agreed(f"f: {annotation} {default}\nx: Tensor = field(kw_only=True)", statement=f"class Batch(TensorClass{flag}):")


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("x: Tensor\ny: list[int] = dataclasses.field(default_factory=list)", ()),
        ("x: Tensor\ny: int = dataclasses.field(default=3, kw_only=True)\nz: Tensor", ()),
        ("x: Tensor\ny: int = dataclasses.field(default=3, repr=True, init=True, hash=None)", ()),
        ("x: Tensor = dataclasses.field()", ()),
        ("x: Tensor = dataclasses.field(default=None)", ("QG213",)),
        ("x: Tensor = field(alias=None)", ()),
        ("x: Tensor\ny = dataclasses.field(default=1)", ("QG201",)),
        ("x: Tensor\n@virtual\ndef v(self, dtype, device) -> Tensor: ...", ("QG111",)),
        ("x: dict[str, Tensor] = None", ("QG213",)),
        ("x: PerItem[str] = None", ("QG213",)),
        ("x: bool = 2", ("QG213",)),
        ("x: bool = 0", ()),
        ("x: int | float = 0.5", ()),
        ("x: Tensor\nf: Callable = lambda x: x", ()),
        ("x: Tensor\nf: Callable = len", ()),
        ("x: Tensor\n_fields: ClassVar[int] = 3", ("QG204",)),
        ("x: Tensor\n_x = 3", ("QG204",)),
        ("x: Tensor\n_x: ClassVar[int] = 3", ("QG204",)),
        ("x: Tensor\nclass _map: ...", ("QG204",)),
        ("x: Tensor\n@property\ndef _map(self): ...", ("QG204",)),
        ("x: Tensor\n_helper = 3", ()),
    ],
)
def test_a_class_body_is_read_alike(body: str, codes: tuple[str, ...]) -> None:
    assert agreed(body).codes == codes


MIXINS = {
    "class Mixin:\n    def _index_put(self): ...": ("QG204",),
    "class Mixin:\n    _fields: ClassVar = ()": ("QG204",),
    "class Mixin:\n    _x = 3": ("QG204",),
    "class Above:\n    def _map(self): ...\n\n\nclass Mixin(Above): ...": ("QG204",),
    "class Mixin:\n    def helper(self): ...": (),
    "class Mixin:\n    x: Tensor": (),
    "class Mixin(Protocol):\n    @property\n    def x(self): ...": (),
    "class Mixin(abc.ABC):\n    @property\n    @abc.abstractmethod\n    def x(self): ...": (),
}


@pytest.mark.parametrize("mixin", MIXINS)
@pytest.mark.parametrize("bases", ["Mixin, TensorClass", "TensorClass, Mixin"])
def test_a_mixin_that_generated_code_would_meet_is_refused(mixin: str, bases: str) -> None:
    assert agreed("x: Tensor", before=mixin, statement=f"class Batch({bases}):").codes == MIXINS[mixin]


def test_a_mixin_in_front_may_not_hide_a_field() -> None:
    mixin = "class Mixin:\n    def x(self): ..."
    assert agreed("x: Tensor", before=mixin, statement="class Batch(Mixin, TensorClass):").codes == ("QG204",)
    assert agreed("x: Tensor", before=mixin, statement="class Batch(TensorClass, Mixin):").codes == ()
