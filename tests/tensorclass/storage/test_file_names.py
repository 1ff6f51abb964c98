"""Names of files for keys of every kind."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qten_gen.runtime.tensorclass.storage.metadata import FileNames, StorageError, checked, encoded


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("tokens", "tokens"),
        ("a/b", "a%2Fb"),
        ("a\\b", "a%5Cb"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("...", "..."),
        ("", "%"),
        ("%", "%25"),
        ("a b:c?", "a%20b%3Ac%3F"),
        ("é中", "é中"),
        ("\n\x7f", "%0A%7F"),
    ],
)
def test_a_key_is_one_part_of_a_path(key: str, name: str) -> None:
    assert encoded(key) == name
    assert checked(name, "meta.json", key) == name


def test_names_are_those_of_tensordict() -> None:
    library = pytest.importorskip("tensordict._utils_key_json", reason="compares with tensordict's own function")
    for key in ["", ".", "..", "a/b", "%", "é", *map(chr, range(0x100))]:
        assert encoded(key) == library._encode_key_for_filesystem(key), key


def test_keys_that_differ_by_case_or_accents_only_get_files_that_differ() -> None:
    names = FileNames()
    composed, decomposed = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
    given = [names.give(key) for key in ("a", "A", composed, decomposed)]
    assert given[0] == "a" and given[1].startswith("A~") and given[2] == composed
    assert len({unicodedata.normalize("NFC", name).casefold() for name in given}) == 4


# The first text that hypothesis makes reads a table of all characters, which takes longer than it allows on a busy machine.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(), unique=True))
def test_any_keys_get_names_that_are_safe_short_and_apart(keys: list[str]) -> None:
    names = FileNames()
    given = [names.give(key, ".memmap") for key in keys]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in given}) == len(keys)
    for name in given:
        assert checked(name, "meta.json", "key") == name
        assert len(name.encode()) < 255


@pytest.mark.parametrize("name", ["/", "a/b", "C:", "a\0", "..", None, 1, b"a"])
def test_a_name_that_is_not_part_of_a_path_is_refused(name: object) -> None:
    with pytest.raises(StorageError, match=r"meta\.json: x: expected the name of a file in this folder"):
        checked(name, "meta.json", "x")
