"""The plan of a run: pure, and total."""

import pytest

from qten_gen import rules
from qten_gen.generate import outputs, readings
from qten_gen.generate import plan as plan_module
from qten_gen.generate.plan import plan
from qten_gen.link.program import Program
from tests.command import BATCH, BROKEN

MODEL = {"model.py": BATCH.encode()}


@pytest.mark.parametrize("size", ["SIZE = 3\n", "WIDTH = 1\nSIZE: int = WIDTH + 2\n", "from deep import *\n"])
def test_sizes_are_read_from_files_that_declare_nothing(size: str) -> None:
    net = """from torch import nn
from qten_gen import Module, param
from sizes import SIZE

class Net(Module):
    weight: nn.Parameter = param(SIZE, initializer=nn.init.zeros_)
"""
    made = plan({"net.py": net.encode(), "sizes.py": size.encode(), "deep.py": b"SIZE = 3\n"}, {})
    assert '"weight", (3,)' in (made.outputs["net_qten.py"] or "")


def test_outputs_are_planned_for_the_targets_only() -> None:
    sources = {**MODEL, "other.py": BATCH.encode()}
    assert sorted(plan(sources, {}, targets=["other.py"]).outputs) == ["other_qten.py", "other_qten.pyi"]


def test_an_output_without_a_source_has_to_go() -> None:
    existing = {path: (text or "").encode() for path, text in plan(MODEL, {}).outputs.items()}
    assert plan({}, existing).outputs == {"model_qten.py": None, "model_qten.pyi": None}


def test_outputs_of_a_source_that_is_not_a_target_stay() -> None:
    existing = {path: (text or "").encode() for path, text in plan(MODEL, {}).outputs.items()}
    assert plan({"model.py": b"x = 1\n"}, existing, targets=[]).outputs == {}


def test_errors_of_neighbours_are_reported_where_they_hold_a_target_back() -> None:
    sources = {
        "base.py": BROKEN.encode(),
        "sub.py": b"from base import Batch\nclass Sub(Batch): ...\n",
        "user.py": b"import qten_gen, base\n",
    }
    made = plan(sources, {}, targets=["sub.py"])
    assert (made.blocked, [item.path for item in made.diagnostics]) == (("sub.py",), ["base.py"])
    assert plan(sources, {}, targets=["user.py"]).diagnostics == ()


@pytest.mark.parametrize(
    ("owner", "stage"),
    [(readings, "read"), (Program, "linked"), (rules, "check"), (plan_module, "render_outputs")],
)
def test_a_fault_of_ours_spares_the_other_files(monkeypatch: pytest.MonkeyPatch, owner: object, stage: str) -> None:
    whole = getattr(owner, stage)

    def faulty(*subjects: object, **options: object) -> object:
        if b"faulty" in repr(subjects).encode():
            raise RuntimeError("a fault")
        return whole(*subjects, **options)

    sources = {**MODEL, "faulty.py": BATCH.replace("x:", "faulty:").encode()}
    existing = {path: (text or "").encode() for path, text in plan(sources, {}).outputs.items()}
    monkeypatch.setattr(owner, stage, faulty)
    made = plan(sources, existing)
    assert sorted(made.outputs) == ["model_qten.py", "model_qten.pyi"]
    assert [crash.path for crash in made.crashes] == ["faulty.py"]
    assert "RuntimeError: a fault" in made.crashes[0].traceback


def test_a_null_byte_in_what_is_rendered_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "texts_of", lambda _: {"py": "x = 1\n", "pyi": 'x = "\0"\n'})
    (crash,) = plan(MODEL, {}).crashes
    assert (crash.path, crash.stage) == ("model.py", "rendering")
    assert crash.traceback.endswith("SyntaxError: source code cannot contain null bytes\n")


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("from .pool import pool, pool2d\n", "shop.pool2d"),
        ("from .pool import pool\n", "shop.pool.size"),
        ("from .pool import size as wide\nfrom .wide import size as pool\n", "shop.pool.size"),
    ],
    ids=["a function beside it", "an attribute of it", "two of each other"],
)
def test_a_function_with_the_name_of_its_module_does_not_lead_to_ever_longer_names(package: str, name: str) -> None:
    sources = {
        "shop/__init__.py": f"{package}from .block import Block\n".encode(),
        "shop/block.py": b"from qten_gen import Module\n\n\nclass Block(Module): ...\n",
        "shop/pool.py": b"def pool(): ...\n",
        "shop/wide.py": b"",
        "model.py": f"import shop\nfrom qten_gen import Module\n\n\nclass A(Module):\n    function = {name}\n".encode(),
    }
    made = plan(sources, {})
    assert sorted(made.outputs)[:2] == ["model_qten.py", "model_qten.pyi"]
    assert not (made.diagnostics or made.crashes)


@pytest.mark.parametrize("line", ["N = N.x", "from model.N import N", "N = M.x\nM = N.x"])
def test_a_name_that_is_made_of_itself_does_not_lead_to_ever_longer_names(line: str) -> None:
    made = plan({"model.py": f"from qten_gen import Module\n{line}\n\n\nclass A(Module):\n    y = N.z\n".encode()}, {})
    assert sorted(made.outputs) == ["model_qten.py", "model_qten.pyi"]
    assert not (made.diagnostics or made.crashes)
