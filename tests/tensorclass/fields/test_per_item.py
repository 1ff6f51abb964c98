"""PerItem fields: one Python value for each item of the batch."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode

from qten_gen import PerItem, TensorClass, lifted


class Photo(TensorClass):
    x: Tensor
    title: PerItem[str]
    tags: PerItem[list[str]] | None = None


class Album(TensorClass):
    photos: Photo
    owner: str = ""


def photo(*batch_size: int, start: int = 0) -> Photo:
    """An object whose titles and numbers are the same: `x` is 5 where the title is `"5"`."""
    x = torch.arange(start, start + torch.Size(batch_size).numel()).reshape(batch_size)
    return Photo(x, as_titles(x.tolist()), batch_size=batch_size)


def as_titles(numbers: Any) -> Any:
    return str(numbers) if isinstance(numbers, int) else [as_titles(one) for one in numbers]


def assert_follows(result: Photo) -> None:
    """The titles are where the numbers are."""
    assert result.title.tolist() == as_titles(result.x.tolist())
    assert result.title.batch_size == result.batch_size


@pytest.mark.parametrize("batch_size", [(), (4,), (2, 3), (0,), (2, 1, 2)])
def test_lists_are_as_deep_as_there_are_batch_dimensions(batch_size: tuple[int, ...]) -> None:
    assert_follows(photo(*batch_size))


def test_one_value_is_read_by_item() -> None:
    value = photo(2, 3)
    assert value[1, 2].title.item() == "5"
    assert [one.title.item() for one in value[0]] == ["0", "1", "2"]
    assert value.title.values() == ("0", "1", "2", "3", "4", "5")
    with pytest.raises(ValueError, match=r"^item\(\): expected one value, there are 6$"):
        value.title.item()


def test_it_is_a_sequence_like_a_tensor() -> None:
    title = photo(2, 3).title
    assert (len(title), title.batch_size) == (2, (2, 3))
    assert title[1].tolist() == ["3", "4", "5"]
    assert title[..., 1:].tolist() == [["1", "2"], ["4", "5"]]
    assert [one.tolist() for one in title] == [["0", "1", "2"], ["3", "4", "5"]]
    assert title == PerItem("012345", (2, 3))
    assert title != title[0]
    assert hash(title) == hash(PerItem("012345", (2, 3)))
    assert repr(title) == "PerItem([['0', '1', '2'], ['3', '4', '5']])"
    assert repr(photo(100).title) == "PerItem('0', '1', '2', ..., batch_size=[100])"
    with pytest.raises(TypeError, match=r"no len\(\); its value is \.item\(\)$"):
        len(title[0, 0])
    with pytest.raises(ValueError, match=r"^PerItem: expected 6 values for batch size \[2, 3\], got 2$"):
        PerItem(["a", "b"], (2, 3))


def test_values_may_be_lists_themselves() -> None:
    value = Photo(torch.ones(2), ["a", "b"], PerItem([["red"], []]), batch_size=2)
    assert value[1].tags is not None
    assert value[0].replace(tags=PerItem([["blue", "green"]], ())).tags == PerItem([["blue", "green"]], ())
    assert value[1].tags.item() == []


def test_what_makes_items_of_other_items_is_refused_by_name() -> None:
    value = photo(2, 3)
    reductions: list[Callable[[], object]] = [
        lambda: lifted(torch.sum)(value, 0),
        lambda: lifted(torch.sum)(value),
        lambda: lifted(torch.mean)(value * 1.0, 0),
        lambda: lifted(torch.max)(value, 0),
        lambda: lifted(torch.amax)(value, 1),
    ]
    for refused in reductions:
        with pytest.raises(
            TypeError, match=r"^Photo\.title holds one Python value per item, and these cannot be reduced$"
        ):
            refused()
    with pytest.raises(TypeError, match=r"^Photo\.title holds one Python value per item, and these cannot be padded$"):
        value.pad((0, 1))
    with pytest.raises(TypeError, match=r"^Photo\.title holds one Python value per item, and these cannot be created$"):
        value.new_zeros(3)


def test_items_are_written_with_their_values() -> None:
    value = photo(4)
    view, titles = value[:2], value.title
    value[0] = photo(1, start=7)[0]
    value[torch.tensor([1, 3])] = photo(2, start=8)
    assert_follows(value)
    assert value.title.tolist() == ["7", "8", "2", "9"]
    # What was read before is as it was: values are not shared memory, tensors are.
    assert (titles.tolist(), view.title.tolist()) == (["0", "1", "2", "3"], ["0", "1"])
    value[:] = 0
    assert value.title.tolist() == ["7", "8", "2", "9"]


def test_values_of_many_objects_are_joined_without_the_others() -> None:
    value = photo(1000)
    joined = Photo.stack([value[7], value[8], photo(start=3)])
    assert joined.title.tolist() == ["7", "8", "3"]
    assert len(joined.title._values.values) == 3
    assert len(pickle.dumps(value[0].clone())) < 2000


ROWS: list[tuple[Any, type[Exception], str]] = [
    ("ab", TypeError, r"^Photo\.title: expected a list of 2 values for batch size \[2, 3\], got str 'ab'$"),
    (None, TypeError, r"^Photo\.title: expected a list of 2 values for batch size \[2, 3\], got None$"),
    ([["a"] * 3], ValueError, r"^Photo\.title: expected a list of 2, got one of 1$"),
    ([["a"] * 3, ["b"]], ValueError, r"^Photo\.title at \[1\]: expected a list of 3, got one of 1$"),
    (PerItem("abc"), ValueError, r"^Photo\.title: expected values for batch size \[2, 3\], got \[3\]$"),
]


@pytest.mark.parametrize(("given", "error", "message"), ROWS)
def test_values_that_are_not_one_an_item_are_refused(given: Any, error: type[Exception], message: str) -> None:
    value = photo(2, 3)
    with pytest.raises(error, match=message):
        value.replace(title=given)
    with pytest.raises(error, match=message):
        value.title = given


def test_the_batch_size_cannot_be_changed_under_it() -> None:
    value = photo(2, 3)
    with pytest.raises(ValueError, match=r"^Photo\.title: expected values for batch size \[2\], got \[2, 3\]$"):
        value.batch_size = 2
    with pytest.raises(ValueError, match=r"^Photo\.title: expected values for batch size \[3\], got \[2, 3\]$"):
        value.apply(lambda tensor: tensor.sum(0), batch_size=3)


def test_one_that_is_none_in_some_objects_is_refused() -> None:
    value = photo(2)
    with pytest.raises(TypeError, match=r"^Photo\.tags: expected a value in every object or in none, 1 of 2 are None$"):
        Photo.stack([value, value.replace(tags=[[], []])])


def test_a_pickle_holds_plain_values() -> None:
    assert b"PerItem" not in pickle.dumps(photo(3))


def test_a_pytree_keeps_it_where_the_batch_size_stays() -> None:
    value = photo(4)
    assert pytree.tree_map(lambda tensor: tensor * 2, value).title == value.title
    assert pytree.tree_structure(value) == pytree.tree_structure(value * 2)
    assert pytree.tree_structure(value) != pytree.tree_structure(value.flip(0))


def test_a_locked_object_allows_writes_to_its_values() -> None:
    value = photo(3).lock_()
    value.update_(photo(3, start=4))
    assert_follows(value)
    value[1] = photo(start=9)
    assert_follows(value)
    with pytest.raises(RuntimeError, match=r"^cannot assign to Photo\.title: it is locked"):
        value.title = value.title


def test_values_are_there_under_fake_tensors(tmp_path: Path) -> None:
    saved = photo(2, 3)
    saved.memmap(tmp_path)
    with FakeTensorMode():
        made = Photo(torch.empty(2), ["a", "b"], batch_size=2)
        assert made.title[1:].tolist() == ["b"]
        assert [one.item() for one in made.title] == ["a", "b"]
        assert Photo.stack([made, made.flip(0)]).title.tolist() == [["a", "b"], ["b", "a"]]
        made[0] = made[1]
        assert made.unbind()[0].title.item() == "b"
        assert Photo.load_memmap(tmp_path).permute(1, 0)[0].title.tolist() == ["0", "3"]


@pytest.mark.parametrize("batch_size", [(), (4,), (2, 3), (0,), (2, 1, 2)])
def test_where_takes_the_values_of_the_items_that_it_takes(batch_size: tuple[int, ...]) -> None:
    one, other = photo(*batch_size), photo(*batch_size, start=100)
    condition = one.x % 2 == 0
    for chosen in (one.where(condition, other), torch.where(condition, one, other)):  # type: ignore[call-overload] # lifted
        assert torch.equal(chosen.x, torch.where(condition, one.x, other.x))
        assert_follows(chosen)
    nested = Album(one, batch_size=batch_size).where(condition, Album(other, batch_size=batch_size))
    assert_follows(nested.photos)


def test_values_cannot_be_joined_inside_of_vmap() -> None:
    with pytest.raises(TypeError, match="Photo.title: the values of a PerItem field cannot be joined inside of vmap"):
        torch.vmap(lambda value: Photo.stack([value, value]))(photo(3))


def test_vmap_cannot_look_at_the_values_and_gives_them_back() -> None:
    value = photo(4)
    assert_follows(torch.vmap(lambda one: one + 0)(value))
    with pytest.raises(
        TypeError, match=r"^the values of a PerItem field cannot be read inside of vmap, nor where tree_map has changed"
    ):
        torch.vmap(lambda one: one.x * len(one.title.item()))(value)


class Lengths(nn.Module):
    """Reads the values, and rearranges them."""

    def forward(self, value: Photo) -> Photo:
        return value.replace(x=value.x * len(value.title.values()[-1]))[1:]


@pytest.mark.parametrize(
    "call",
    [
        lambda module, value: torch.compile(module, fullgraph=True, backend="eager")(value),
        lambda module, value: torch.export.export(module, (value,)).module()(value),
        lambda module, value: torch.export.export(module, (value,), strict=True).module()(value),
    ],
)
def test_values_are_read_in_code_that_is_compiled_or_exported(call: Any) -> None:
    value = photo(3, start=9)
    found = call(Lengths(), value)
    assert (found.x.tolist(), found.title.tolist()) == ([20, 22], ["10", "11"])


def test_compiled_code_cannot_read_what_it_has_rearranged() -> None:
    with pytest.raises(Exception, match="compiled code cannot read the values of a PerItem that it has rearranged"):
        torch.compile(lambda value: value.x * len(value[1:].title.item()), fullgraph=True, backend="eager")(photo(2))
