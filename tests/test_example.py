"""The example that a stranger runs first."""

import os
import re
from pathlib import Path

import pytest

from tests import fresh_process

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def output() -> str:
    """What the training of the digit classifier prints, run on the generated files alone."""
    environment = {**os.environ, "QTEN_GEN_JIT": "off"}
    done = fresh_process.run("-W", "error", "-m", "digits.train", cwd=EXAMPLES, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.xdist_group("example")
def test_the_loss_falls(output: str) -> None:
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", output)]
    assert len(losses) == 10
    assert losses[-1] < 0.1 * losses[0]


@pytest.mark.xdist_group("example")
def test_digits_that_were_held_out_are_read(output: str) -> None:
    accuracy = re.search(r"held-out accuracy (\d+\.\d)%", output)
    assert accuracy is not None
    assert float(accuracy[1]) > 90
