"""What a field specifier refuses by itself."""

from __future__ import annotations

import pytest

from qten_gen import field


def test_field_refuses_a_default_and_a_factory_together() -> None:
    with pytest.raises(TypeError, match="takes default= or default_factory=, not both"):
        field(default=1, default_factory=int)  # type: ignore[call-overload] # what the test is about
