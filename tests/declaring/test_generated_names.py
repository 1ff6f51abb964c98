"""What a generated module gives beside its classes, and what its names mean where they are imported."""

import warnings
from textwrap import dedent
from typing import Any

import pytest
import torch

from tests.declaring.test_one_class import BATCH, generated_file


def test_the_generated_module_gives_functions_that_mention_the_class(project: Any) -> None:
    own = (
        "\n\ndef load() -> Batch:\n    return EMPTY\n\n\ndef other() -> int: ...\n\n\nEMPTY: Batch = Batch(Tensor())\n"
    )
    project.write(model=dedent(BATCH) + own)
    project.generate()
    generated, model = project.load("model_qten"), project.load("model")
    assert (generated.load, generated.EMPTY) == (model.load, model.EMPTY)
    model.load = len
    assert generated.load is len
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = generated.other


def test_a_declaration_can_take_its_types_from_a_generated_module(project: Any) -> None:
    pair = """
        from torch import Tensor
        from qten_gen import TensorClass
        from model_qten import Batch

        class Pair(TensorClass):
            first: Batch
            second: Batch | None = None

        def swap(pair: Pair) -> Batch: ...
    """
    project.write(model=BATCH, pair=pair)
    project.generate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the command and the class statement agree
        model, loaded = project.load("model"), project.load("pair")
    assert generated_file(loaded.Pair) == str(project.root / "pair_qten.py")
    batch = model.Batch(torch.zeros(2, 3), batch_size=2)
    assert loaded.Pair(batch, batch_size=2)[0].first.tokens.shape == (3,)
    assert project.load("pair_qten").swap is loaded.swap


def test_a_constant_of_the_generated_module_may_be_none(project: Any) -> None:
    project.write(model=dedent(BATCH) + "\n\nCURRENT: Batch | None = None\n")
    project.generate()
    assert project.load("model_qten").CURRENT is None


def test_a_star_import_takes_all_that_the_stub_has_also_when_it_comes_first(project: Any) -> None:
    own = (
        "\n\nclass _Hidden(Batch): ...\n\n\ndef load() -> Batch: ...\n\n\nCURRENT: Batch | None = None\nLATER: Batch\n"
    )
    project.write(model=dedent(BATCH) + own, use="from model_qten import *")
    project.generate()
    use, model = project.load("use"), project.load("model")
    found = {name: value for name, value in vars(use).items() if not name.startswith("_")}
    assert found == {"Batch": model.Batch, "load": model.load, "CURRENT": None}
