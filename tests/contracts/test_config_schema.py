"""The JSON schema of constructor arguments, at run time and from the text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal

import jsonschema
import pytest
from torch import nn

from qten_gen import Module, check, field
from tests.command import Command


class Norm(Enum):
    RMS = "rms"


class Settings(Module):
    """A model with settings of all kinds."""

    width: int
    heads: int = 4
    rate: float | None = None
    kind: Literal["a", "b", 3] = "a"
    sizes: tuple[int, ...] = (1, 2)
    pair: tuple[int, str] = (1, "x")
    names: Sequence[str] = ()
    scales: Mapping[str, float] = field(default_factory=dict)
    layer: type[nn.Module] = nn.Linear
    norm: Norm = Norm.RMS
    norm_class: str = field(default="rms", alias="norm_name")
    check("width % 8 == 0 and heads > 0")
    check("0 < width <= 4096")
    check("width % heads == 0")
    check("norm_class != 'none'")


PROPERTIES = {
    "width": {
        "type": "integer",
        "multipleOf": 8,
        "exclusiveMinimum": 0,
        "maximum": 4096,
    },
    "heads": {"type": "integer", "default": 4, "exclusiveMinimum": 0},
    "rate": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
    "kind": {"enum": ["a", "b", 3], "default": "a"},
    "sizes": {"type": "array", "items": {"type": "integer"}, "default": [1, 2]},
    "pair": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
        "default": [1, "x"],
    },
    "names": {"type": "array", "items": {"type": "string"}, "default": []},
    "scales": {"type": "object", "additionalProperties": {"type": "number"}},
    "layer": {},
    "norm": {},
    "norm_name": {"type": "string", "default": "rms"},
}


def test_the_schema_has_types_defaults_and_ranges() -> None:
    schema = Settings.config_schema()
    assert schema["properties"] == PROPERTIES
    assert (schema["required"], schema["additionalProperties"]) == (["width"], False)
    assert schema["description"].endswith('Required: width % heads == 0; norm_class != "none".')
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("config", "is_valid"),
    [
        ({"width": 64, "heads": 2, "rate": 0.1}, True),
        ({"width": 60}, False),
        ({"width": 8192}, False),
        ({"heads": 2}, False),
        ({"width": 64, "head": 2}, False),
        ({"width": "64"}, False),
        ({"width": 64, "kind": "c"}, False),
        ({"width": 64, "sizes": [1.5]}, False),
    ],
)
def test_a_validator_refuses_what_the_constructor_would(
    config: dict[str, int | str | list[float]], is_valid: bool
) -> None:
    assert jsonschema.Draft202012Validator(Settings.config_schema()).is_valid(config) == is_valid


def test_a_class_with_its_own_constructor_may_take_anything() -> None:
    class Own(Module):
        def __init__(self, width: int) -> None:
            super().__init__()

    assert (Own.config_schema()["properties"], Own.config_schema()["additionalProperties"]) == ({}, True)
    with pytest.raises(TypeError, match="Module declares nothing"):
        Module.config_schema()


def test_the_command_says_the_same_without_importing_anything(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write(
        "shop/model.py",
        """
        import nothing_that_exists
        from qten_gen import Module, TensorClass, check

        class Net(Module):
            width: int
            \"\"\"Of the residual stream.\"\"\"
            heads: int = 4
            check("heads >= 1")

        class Batch(TensorClass):
            x: int
        """,
    )
    done = qten_gen("show", "--schema", "shop/model.py:Net")
    assert done.status == 0
    assert json.loads(done.out)["properties"] == {
        "width": {"type": "integer", "description": "Of the residual stream."},
        "heads": {"type": "integer", "default": 4, "minimum": 1},
    }
    done = qten_gen("show", "--schema", "shop/model.py:Batch")
    assert (done.status, done.err.partition("; ")[0]) == (
        2,
        "error: --schema is of one Module, and shop/model.py declares none",
    )
