"""Records: what they have of dataclasses."""

import dataclasses
import pickle

import pytest

from qten_gen.common.records import as_dict, field, fields, is_record, record, replace


@record(frozen=True, slots=True)
class Point:
    """A point, and a remark that does not count."""

    x: int
    y: int = 0
    names: dict[str, int] = field(default_factory=dict)
    remark: str = field(default="", compare=False, repr=False)


@record(frozen=True, slots=True)
class Distance:
    """A record that has a hash."""

    metres: int
    remark: str = field(default="", compare=False)


@record(frozen=True, slots=True)
class Place(Point):
    """A point with a name, which only a keyword gives."""

    title: str = field(kw_only=True)
    height: int = 0


def test_a_record_of_a_record_has_the_fields_of_both() -> None:
    place = Place(1, 2, height=3, title="here")
    assert place == Place(1, 2, {}, "", 3, title="here") != replace(place, title="there")
    assert as_dict(place) == {"x": 1, "y": 2, "names": {}, "remark": "", "title": "here", "height": 3}
    assert [each.kw_only for each in dataclasses.fields(Place)] == [False, False, False, False, True, False]
    assert Place.__match_args__ == ("x", "y", "names", "remark", "height")
    assert isinstance(pickle.loads(pickle.dumps(place)), Point)


def test_a_record_has_the_constructor_the_equality_the_hash_and_the_text_of_a_dataclass() -> None:
    assert Point(1) == Point(1, 0, {}, "here") != Point(1, 2)
    assert hash(Distance(1, "a")) == hash(Distance(1, "b"))
    assert repr(Point(1)) == "Point(x=1, y=0, names={})"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg] # what is tested


def test_the_functions_of_dataclasses_take_records() -> None:
    assert replace(Point(1), y=2) == dataclasses.replace(Point(1), y=2) == Point(1, 2)
    assert [each.name for each in fields(Point)] == [each.name for each in dataclasses.fields(Point)]
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 0, "names": {}, "remark": ""}
    assert is_record(Point(1))
    assert not is_record(Point)


def test_a_record_is_pickled_and_matched_by_position() -> None:
    match pickle.loads(pickle.dumps(Point(1, 2))):
        case Point(x, y):
            assert (x, y) == (1, 2)
    assert not hasattr(Point(1), "__dict__")
