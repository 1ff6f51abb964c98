"""Models of libraries that know nothing of qten-gen are the same deferred as eager."""

from __future__ import annotations

import pytest

from tests.large_models.deferred.comparing import assert_same_as_eager

from .libraries import CONSTRUCTORS, made_of, skip_without


@pytest.mark.parametrize(
    ("library", "name"), [(library, name) for library in CONSTRUCTORS for name in made_of(library)]
)
def test_a_model_of_a_library_is_the_same_deferred_as_eager(library: str, name: str) -> None:
    skip_without(library)
    assert_same_as_eager(made_of(library)[name])
