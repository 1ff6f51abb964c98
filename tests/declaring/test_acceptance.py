"""The command and the class statement accept the same declarations, and refuse the same ones for the same reasons."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .acceptance import Answer, of_command, of_statement, text

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


@settings(max_examples=60, deadline=None, derandomize=True)
@given(types, defaults, class_flags)
def test_any_field_is_read_alike(annotation: str, default: str, flag: str) -> None:
    agreed(f"f: {annotation} {default}\nx: Tensor = field(kw_only=True)", statement=f"class Batch(TensorClass{flag}):")


@pytest.mark.parametrize(
    "annotation",
    [
        "P | Q | None",
        "Union[P, Q]",
        "list[P]",
        "dict[str, P]",
        "tuple[P, ...]",
        "Later | P",
        "list[Later]",
        "PerItem[P]",
        "list[TensorDict]",
        "TensorDict",
        "TensorDict | None",
        "list[TensorClass]",
        "LabelledTensor",
        "PackedSequence",
        "Annotated[list[P], 3]",
        "list[PackedSequence]",
    ],
)
def test_what_would_keep_tensors_in_a_static_field_is_refused(annotation: str) -> None:
    assert agreed(f"x: Tensor\nf: {annotation}").codes == ("QG208",)


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("x: Tensor\ny: list[int] = dataclasses.field(default_factory=list)", ()),
        ("x: Tensor\ny: int = dataclasses.field(default=3, kw_only=True)\nz: Tensor", ()),
        ("x: Tensor\ny: int = dataclasses.field(default=3, repr=True, init=True, hash=None)", ()),
        ("x: Tensor = dataclasses.field()", ()),
        ("x: Tensor = dataclasses.field(default=None)", ("QG213",)),
        ("x: Tensor = field(alias=None)", ()),
        ("x: Tensor\ny = field(default=1)", ("QG201",)),
        ("x: Tensor\ny = dataclasses.field(default=1)", ("QG201",)),
        ("x: Tensor = param(3)", ("QG111",)),
        ("x: Tensor\n@virtual\ndef v(self, dtype, device) -> Tensor: ...", ("QG111",)),
        ("x: dict[str, Tensor] = None", ("QG213",)),
        ("x: PerItem[str] = None", ("QG213",)),
        ("x: Tensor = 'a'", ("QG213",)),
        ("x: int = None", ("QG213",)),
        ("x: bool = 2", ("QG213",)),
        ("x: bool = 0", ()),
        ("x: float = 1", ()),
        ("x: int | float = 0.5", ()),
        ("x: Tensor | None = None", ()),
        ("x: Tensor\nf: Callable = lambda x: x", ()),
        ("x: Tensor\nf: Callable = len", ()),
        ("x: Tensor\nf: Callable\ndef f(self): ...", ("QG204",)),
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
