"""Names of files for keys of every kind."""

from __future__ import annotations

import pytest

from qten_gen.runtime.tensorclass.storage.metadata import checked, encoded


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
