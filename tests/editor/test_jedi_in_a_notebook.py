"""What jedi knows of declarations: it completes in IPython, in notebooks and in pylsp, and runs no checker.

jedi takes `TYPE_CHECKING = False` at its word, so what is public stands in a stub.
"""

from __future__ import annotations

from pathlib import Path

import jedi
import pytest

REPOSITORY = Path(__file__).parents[2]

DECLARATIONS = """
import torch
from torch import Tensor, nn
from qten_gen import Module, TensorClass, param

class Batch(TensorClass):
    tokens: Tensor
    mask: Tensor | None = None

class Linear(Module):
    rows: int
    weight: nn.Parameter = param("rows")
    def forward(self, x: Tensor) -> Tensor:
        return x

batch = Batch(torch.ones(3))
linear = Linear(3)
"""


def at_the_end_of(code: str) -> jedi.Script:
    paths = [str(REPOSITORY), str(REPOSITORY / "stubs")]
    project = jedi.Project(REPOSITORY, added_sys_path=paths, smart_sys_path=False)
    return jedi.Script(DECLARATIONS + code, path=REPOSITORY / "notebook.py", project=project)


pytestmark = [pytest.mark.xdist_group("jedi"), pytest.mark.long(12)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("batch.", {"tokens", "mask", "batch_size", "to", "replace", "stack", "vmap"}),
        ("batch[0].", {"tokens", "to"}),
        ("batch.to('cpu').", {"tokens", "to"}),
        ("batch.replace(mask=None).", {"tokens", "to"}),
        ("batch.tokens.", {"shape", "dtype"}),
        ("Batch.", {"stack", "lazy_stack", "from_dict"}),
        ("linear.", {"weight", "rows", "state_dict", "materialize"}),
        ("linear.weight.", {"shape", "grad"}),
        ("qten_gen.\nimport qten_gen; qten_gen.", {"Module", "TensorClass", "param"}),
    ],
)
def test_jedi_completes(code: str, names: set[str]) -> None:
    found = {completion.name for completion in at_the_end_of(code).complete()}
    assert names - found == set()


@pytest.mark.parametrize(
    ("code", "signature"),
    [
        ("Batch(", "Batch(tokens: Tensor, mask: Tensor | None=None"),
        ("Linear(", "Linear(rows: int"),
        ("batch.replace(", "replace(values: "),
    ],
)
def test_jedi_shows_what_a_call_takes(code: str, signature: str) -> None:
    assert next(found.to_string() for found in at_the_end_of(code).get_signatures()).startswith(signature)
