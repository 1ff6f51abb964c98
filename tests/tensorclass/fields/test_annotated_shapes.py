"""Shapes and dtypes that jaxtyping annotations say, checked in constructors and when a field is set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jaxtyping
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Bool, Float, Float32, Int, Shaped, jaxtyped
from torch import Tensor

from qten_gen import DeclarationError, TensorClass, Unbatched, field
from qten_gen.model.array_shapes import DTYPES, FAMILIES
from qten_gen.runtime import generated_features


class Text(TensorClass):
    """Names in several fields, the optional ones included."""

    tokens: Int[Tensor, "*batch seq"]
    mask: Bool[Tensor, "*batch seq"]
    states: Float[Tensor, "*batch seq dim"]
    table: Unbatched[Float[Tensor, "vocab dim"]] | None = None
    scores: Float32[Tensor, "*batch seq classes"] | None = None
    labels: Int[Tensor, "*batch classes"] | None = None
    colour: Shaped[Tensor, "*batch _ rgb=3"] | None = None
    bias: Float[Tensor, "*batch #seq dim"] | None = None


class Unchecked(TensorClass, checks="off"):
    tokens: Int[Tensor, "*batch seq"]
    odd: Float[Tensor, "*batch seq+1"] | None = None


class Whole(TensorClass):
    """Annotations that do not mention the batch say the whole shape."""

    image: Float[Tensor, "b h w"]
    label: Int[Tensor, "b"]


class Awkward(TensorClass):
    """Dimensions called like a field, a keyword, an argument of constructors."""

    seq: Float[Tensor, "*batch seq"]
    n: Float[Tensor, "*batch n class"]
    other: Float[Tensor, "*batch class device n batch_size isinstance"]


class Casting(TensorClass, autocast=True):
    x: Float[Tensor, "*batch 3"]


def text(*batch_size: int, seq: int = 7, **more: Any) -> Text:
    shape = (*batch_size, seq)
    return Text(
        torch.zeros(shape, dtype=torch.long),
        torch.zeros(shape, dtype=torch.bool),
        torch.zeros(*shape, 4),
        batch_size=batch_size,
        **more,
    )


ROWS = [
    ("mask", torch.zeros(2, 6, dtype=torch.bool), ValueError, 'Bool[Tensor, "*batch seq"]', "seq = 7 (from tokens)"),
    ("mask", torch.zeros(3, 7, dtype=torch.bool), ValueError, 'Bool[Tensor, "*batch seq"]', "seq = 7 (from tokens)"),
    ("mask", torch.zeros(2, dtype=torch.bool), ValueError, 'Bool[Tensor, "*batch seq"]', "seq = 7 (from tokens)"),
    ("mask", torch.zeros(2, 7), TypeError, 'Bool[Tensor, "*batch seq"]', "seq = 7 (from tokens)"),
    ("states", torch.zeros(2, 7, 4, 1), ValueError, 'Float[Tensor, "*batch seq dim"]', "batch size [2]"),
    ("states", torch.zeros(2, 7, 4, dtype=torch.int), TypeError, 'Float[Tensor, "*batch seq dim"]', "seq = 7"),
    ("scores", torch.zeros(2, 7, 5).double(), TypeError, 'Float32[Tensor, "*batch seq classes"]', "seq = 7"),
    ("colour", torch.zeros(2, 9, 4), ValueError, 'Shaped[Tensor, "*batch _ rgb=3"]', "batch size [2]"),
    ("bias", torch.zeros(2, 2, 4), ValueError, 'Float[Tensor, "*batch #seq dim"]', "seq = 7 (from tokens)"),
]


@pytest.mark.parametrize(("name", "wrong", "error", "annotation", "known"), ROWS)
def test_what_does_not_fit_is_refused_by_name(
    name: str, wrong: Tensor, error: type[Exception], annotation: str, known: str
) -> None:
    fitting: dict[str, Any] = {
        "tokens": torch.zeros(2, 7, dtype=torch.long),
        "mask": torch.zeros(2, 7, dtype=torch.bool),
        "states": torch.zeros(2, 7, 4),
    }
    with pytest.raises(error) as refused:
        Text(**{**fitting, name: wrong}, batch_size=2)
    message = str(refused.value)
    assert message.startswith(f"Text.{name}: expected {annotation} with batch size [2]")
    assert known in message
    assert message.endswith(f"got a Tensor of dtype {wrong.dtype} and shape {list(wrong.shape)}")


def test_with_a_device_it_is_checked_too() -> None:
    with pytest.raises(ValueError, match=r"^Text\.table: "):
        text(2, table=torch.zeros(11, 5), device="meta")
    assert text(2, table=torch.zeros(11, 4), device="meta").table is not None


def test_what_autocast_makes_of_a_value_is_checked() -> None:
    make: Any = Casting
    assert make([1.0, 2.0, 3.0]).x.shape == (3,)
    with pytest.raises(
        ValueError,
        match=r'^Casting\.x: expected Float\[Tensor, "\*batch 3"\] with batch size \[\] \(the default of batch_size\), got',
    ):
        make([1.0, 2.0])


def test_setting_a_field_checks_it_against_the_others() -> None:
    value = text(2)
    value.mask = torch.ones(2, 7, dtype=torch.bool)
    assert value.mask.all()
    with pytest.raises(ValueError, match=r"^Text\.mask: .* seq = 7 \(from tokens\), got"):
        value.mask = torch.ones(2, 8, dtype=torch.bool)
    with pytest.raises(TypeError, match=r"^Text\.states: .*, got a Tensor of dtype torch\.int64"):
        value.states = torch.ones(2, 7, 4, dtype=torch.long)
    assert (value.mask.shape, value.states.shape) == ((2, 7), (2, 7, 4))


def test_update_changes_a_size_in_several_fields_together() -> None:
    value = text(2)
    longer = text(2, seq=9)
    changes = {"tokens": longer.tokens, "mask": longer.mask}
    with pytest.raises(ValueError, match=r"^Text\.states: .* seq = 9 \(from tokens\), got"):
        value.update(changes)
    assert (value.tokens.shape, value.mask.shape) == ((2, 7), (2, 7))
    value.update({**changes, "states": longer.states})
    assert (value.tokens.shape, value.mask.shape, value.states.shape) == ((2, 9), (2, 9), (2, 9, 4))


def test_the_batch_size_cannot_take_what_an_annotation_names() -> None:
    value = text(2)
    with pytest.raises(
        ValueError, match=r'^Text\.tokens: expected Int\[Tensor, "\*batch seq"\] with batch size \[2, 7\], got'
    ):
        value.batch_size = (2, 7)
    assert value.batch_size == (2,)


def test_what_keeps_the_dimensions_of_fields_is_not_checked_again() -> None:
    value = text(2, 3, scores=torch.zeros(2, 3, 7, 5))
    for result in (value[0], value.reshape(6), Text.stack([value, value]), value == value, value.double()):
        assert result.scores is not None
        assert result.scores.shape[-2:] == (7, 5)
    item = value[0, 0]
    item.tokens = item.tokens + 1
    assert item.tokens.eq(1).all()


def test_checks_is_on_or_off() -> None:
    with pytest.raises(DeclarationError, match="QG104"):
        make_class("x: Tensor", checks="maybe")


def test_an_annotation_without_batch_says_the_whole_shape() -> None:
    value = Whole(torch.zeros(2, 5, 6), torch.zeros(2, dtype=torch.long), batch_size=2)
    assert value[0].image.shape == (5, 6)
    with pytest.raises(
        ValueError, match=r'^Whole\.image: expected Float\[Tensor, "b h w"\] with batch size \[2\], got'
    ):
        Whole(torch.zeros(2, 2, 5, 6), torch.zeros(2, dtype=torch.long), batch_size=2)
    with pytest.raises(ValueError, match=r"^Whole\.image: .* with batch size \[3\], got"):
        Whole(torch.zeros(2, 5, 6), torch.zeros(2, dtype=torch.long), batch_size=3)
    with pytest.raises(ValueError, match=r"^Whole\.label: .* b = 2 \(from image\), got"):
        Whole(torch.zeros(2, 5, 6), torch.zeros(3, dtype=torch.long))


def test_dimensions_may_be_called_like_anything() -> None:
    other = torch.zeros(2, 4, 5, 3, 6, 7)
    assert Awkward(torch.zeros(2, 9), torch.zeros(2, 3, 4), other, batch_size=2).batch_size == (2,)
    with pytest.raises(ValueError, match=r"^Awkward\.other: .* class = 8 \(from n\) and n = 3 \(from n\), got"):
        Awkward(torch.zeros(2, 9), torch.zeros(2, 3, 8), other, batch_size=2)


def test_compiled_code_checks_without_a_graph_break() -> None:
    @torch.compile(fullgraph=True, backend="eager")
    def build(tokens: Tensor, mask: Tensor, states: Tensor) -> Text:
        value = Text(tokens, mask, states, batch_size=tokens.shape[:1])
        value.states = states * 2
        return value[:1]

    for seq in (7, 8, 9):
        parts = text(2, seq=seq)
        assert build(parts.tokens, parts.mask, parts.states).states.shape == (1, seq, 4)


def test_dtypes_are_those_of_jaxtyping() -> None:
    for family in FAMILIES:
        wanted = {getattr(torch, name) for name in getattr(jaxtyping, family).dtypes if hasattr(torch, name)}
        # Torch has sub-byte types in name only: no tensor can be made of them.
        wanted -= {
            getattr(torch, name) for name in ("int2", "int4", "uint2", "uint4", "float4_e2m1fn") if hasattr(torch, name)
        }
        assert getattr(generated_features, family.upper()) == wanted, family
    for name, dtype in DTYPES.items():
        assert dtype in getattr(jaxtyping, name).dtypes


words = st.sampled_from(["a", "b", "2", "3", "_", "*s", "..."])
shape_words = st.lists(words, max_size=4).filter(lambda found: sum(word in ("*s", "...") for word in found) < 2)
sizes = st.lists(st.sampled_from([1, 2, 3]), max_size=5)


@settings(max_examples=60)
@given(st.lists(shape_words, min_size=1, max_size=3), st.lists(sizes, min_size=3, max_size=3), st.integers(0, 3))
def test_what_is_accepted_is_what_jaxtyping_accepts(
    dims: list[list[str]], shapes: list[list[int]], required: int
) -> None:
    written = [f'Float[Tensor, "{" ".join(words)}"]' for words in dims]
    lines = [f"f{i}: {one}" if i < required else f"f{i}: {one} | None = None" for i, one in enumerate(written)]
    cls = make_class("\n    ".join(lines))
    values = {f"f{i}": torch.zeros(shape) for i, shape in enumerate(shapes[: len(dims)])}
    kinds: list[Any] = [Float[Tensor, " ".join(words)] for words in dims]
    with jaxtyped("context"):
        fits = all(isinstance(value, kind) for value, kind in zip(values.values(), kinds, strict=True))
    if fits:
        assert cls(**values).items() == tuple(values.items())
        return
    with pytest.raises(ValueError, match=r"^Made\.f\d: expected Float\["):
        cls(**values)


def make_class(body: str, **keywords: object) -> Any:
    """A class with these fields."""
    scope: dict[str, Any] = {name: getattr(jaxtyping, name) for name in dir(jaxtyping) if name[0].isupper()}
    scope |= {"Tensor": Tensor, "TensorClass": TensorClass, "field": field, "__name__": "made", "keywords": keywords}
    exec(f"class Made(TensorClass, **keywords):\n    {body}\n", scope)
    return scope["Made"]


class Scores(TensorClass):
    """Its annotation says a dtype, which operations do not keep."""

    x: Float[Tensor, "*batch"]


def test_what_a_class_would_not_load_is_not_saved(tmp_path: Path) -> None:
    value = Scores(torch.rand(3), batch_size=3).int()
    message = re.escape(
        'Scores.x: expected Float[Tensor, "*batch"] with batch size [3], got a Tensor of dtype torch.int32'
    )
    for save in (value.memmap, value.save_safetensors):
        with pytest.raises(TypeError, match=f"^{message}"):
            save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
