"""One class at run time: the declaration and what was generated for it, and the names of generated modules."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from textwrap import dedent
from typing import Any

import pytest
import torch

import qten_gen
from tests import fresh_process

BATCH = """
    from torch import Tensor
    from qten_gen import TensorClass

    class Batch(TensorClass):
        tokens: Tensor
        source: str = "train"
"""


def generated_file(cls: type) -> str:
    """The file that the constructor of a class comes from."""
    return str(vars(cls.__mro__[1])["__init__"].__code__.co_filename)


@pytest.mark.parametrize("first", ["model", "model_qten", "parcel", "parcel._qten"])
def test_the_generated_module_gives_the_declared_class_in_whichever_order_they_are_imported(
    project: Any, first: str
) -> None:
    project.write(model=BATCH, parcel__=BATCH)
    project.generate()
    project.load(first)
    source, generated = ("model", "model_qten") if first.startswith("model") else ("parcel", "parcel._qten")
    assert project.load(generated).Batch is project.load(source).Batch
    file = "model_qten.py" if source == "model" else "parcel/_qten.py"
    assert generated_file(project.load(source).Batch) == str(project.root / file)
    with pytest.raises(AttributeError, match=f"module '{generated}' has no attribute 'Bach'"):
        _ = project.load(generated).Bach


def test_a_generated_module_whose_source_is_gone_says_so(project: Any) -> None:
    project.write(moved=BATCH)
    project.generate()
    (project.root / "moved.py").unlink()
    with pytest.raises(
        ImportError, match="^moved_qten was generated from moved, which does not exist any more; run: qten-gen$"
    ):
        _ = project.load("moved_qten").Batch


SCRIPT = """
    from torch import Tensor, ones
    from qten_gen import TensorClass

    class Batch(TensorClass):
        tokens: Tensor

    if __name__ == "__main__":
        import importlib, pickle, sys
        print(Batch.__mro__[1].__init__.__code__.co_filename.rpartition("/")[2])
        print(type(pickle.loads(pickle.dumps(Batch(ones(2), batch_size=2)))) is Batch, type(Batch(ones(2))[...]) is Batch)
        name = __spec__.name if __spec__ else "model"
        again = importlib.import_module(name)
        print(again.Batch is Batch, sys.modules[f"{name}_qten"].Batch is again.Batch)
"""


@pytest.mark.parametrize("arguments", [["-m", "pkg.model"], ["pkg/model.py"]], ids=["module", "script"])
def test_a_script_uses_what_was_generated_for_it(project: Any, arguments: list[str]) -> None:
    project.write(pkg__="", pkg__model=SCRIPT)
    project.generate()
    without_memory = fresh_process.environment(QTEN_GEN_JIT="off")
    done = fresh_process.run("-W", "error", *arguments, cwd=project.root, env=without_memory)
    assert (done.stdout.split("\n")[:3], done.stderr) == (["model_qten.py", "True True", "False True"], "")


def test_a_package_that_is_run_uses_what_was_generated_for_its_main_file(project: Any) -> None:
    project.write(
        pkg__="",
        pkg__base="""
        from torch import Tensor
        from qten_gen import TensorClass

        class Point(TensorClass):
            at: Tensor
        """,
    )
    (project.root / "pkg/__main__.py").write_text(
        "from torch import ones\nfrom qten_gen import TensorClass\nfrom .base import Point\n\n"
        "class Batch(TensorClass):\n    point: Point\n\n"
        "print(Batch(Point(ones(2), batch_size=[2]), batch_size=[2]).point.at.shape)\n",
        encoding="utf-8",
    )
    project.generate()
    without_memory = fresh_process.environment(QTEN_GEN_JIT="off")
    done = fresh_process.run("-W", "error", "-m", "pkg", cwd=project.root, env=without_memory)
    assert (done.stdout, done.stderr) == ("torch.Size([2])\n", "")


def test_reloading_a_module_gives_a_new_class_and_leaves_old_objects_alone(project: Any) -> None:
    project.write(model=BATCH)
    project.generate()
    model = project.load("model")
    old = model.Batch(torch.ones(2), batch_size=[2])
    importlib.reload(model)
    assert type(old) is not model.Batch
    assert type(old[0]) is type(old)
    assert sys.modules["model_qten"].Batch is model.Batch


@pytest.mark.parametrize("generates", [True, False])
def test_reloading_binds_classes_that_stand_further_down_anew(project: Any, generates: bool) -> None:
    project.write(
        model="""
        from torch import Tensor
        from qten_gen import TensorClass

        class First(TensorClass):
            second: "Second | None" = None

        class Second(TensorClass):
            first: First | None = None
        """
    )
    if generates:
        project.generate()
    for _ in range(3):
        model = importlib.reload(project.load("model"))
        inner = model.Second(model.First(batch_size=[2]), batch_size=[2])
        assert model.First(inner, batch_size=[2]).second is inner
        if generates:
            assert project.load("model_qten").First is model.First


def test_two_threads_may_import_at_once(project: Any) -> None:
    project.write(model=BATCH)
    project.generate()
    found: list[type] = []
    threads = [
        threading.Thread(target=lambda name=name: found.append(importlib.import_module(name).Batch))
        for name in ("model_qten", "model", "model_qten", "model")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(set(found)) == 1


def test_modules_that_import_each_other_for_types_only_may_be_imported_in_any_order(project: Any) -> None:
    node = """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        from torch import Tensor
        from qten_gen import TensorClass
        if TYPE_CHECKING:
            from .{other} import {Other}

        class {Own}(TensorClass):
            value: Tensor
            other: {Other} | None = None
    """
    project.write(
        pkg__="",
        pkg__a=node.format(other="b", Other="B", Own="A"),
        pkg__b=node.format(other="a", Other="A", Own="B"),
    )
    project.generate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b, a = project.load("pkg.b"), project.load("pkg.a")
    made = a.A(torch.ones(2), b.B(torch.zeros(2), batch_size=[2]), batch_size=[2])
    assert type(made[1].other) is b.B
    with pytest.raises(TypeError, match=r"A\.other"):
        a.A(torch.ones(2), torch.ones(2), batch_size=[2])


def test_a_class_that_is_imported_for_types_only_is_imported_where_a_field_needs_it(project: Any) -> None:
    project.write(
        pkg__="",
        pkg__box="from torch import Tensor\nfrom qten_gen import TensorClass\nclass Box(TensorClass):\n    corners: Tensor\n",
        pkg__scene="""
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from qten_gen import TensorClass
            if TYPE_CHECKING:
                from .box import Box

            class Scene(TensorClass):
                box: Box
        """,
    )
    project.generate()
    scene = project.load("pkg.scene")
    with pytest.raises(TypeError, match=r"^Scene\.box: expected Box, got int 3$"):
        scene.Scene(3)
    made = scene.Scene.from_dict({"box": {"corners": torch.ones(4)}})
    assert type(made.box) is project.load("pkg.box").Box


def test_nested_classes_of_one_name_are_told_apart(project: Any) -> None:
    leaf = """
        from torch import Tensor
        from qten_gen import TensorClass

        class Point(TensorClass):
            {field}: Tensor
    """
    both = """
        from torch import Tensor
        from qten_gen import TensorClass
        from . import left, right

        class Point(TensorClass):
            own: Tensor

        class Both(TensorClass):
            a: left.Point
            b: right.Point
            c: Point
    """
    project.write(pkg__="", pkg__left=leaf.format(field="x"), pkg__right=leaf.format(field="y"), pkg__both=both)
    for generated in (False, True):
        if generated:
            project.generate()
            for name in ("pkg.both", "pkg.left", "pkg.right", "pkg"):
                del sys.modules[name]
        model, left, right = (project.load(f"pkg.{name}") for name in ("both", "left", "right"))
        made = model.Both(left.Point(torch.ones(2)), right.Point(torch.ones(2)), model.Point(torch.ones(2)))
        stacked: Any = torch.stack([made, made])[0]
        assert [type(value) for value in (stacked.a, stacked.b, stacked.c)] == [
            left.Point,
            right.Point,
            model.Point,
        ]
        again = model.Both.from_dict(made.to_dict())
        assert [type(value) for value in (again.a, again.b, again.c)] == [left.Point, right.Point, model.Point]
        with pytest.raises(TypeError, match="Both.a"):
            model.Both(made.b, made.b, made.c)


@pytest.mark.parametrize("base", [qten_gen.TensorClass, qten_gen.Module])
def test_a_class_is_looked_up_in_tables_without_code_of_python(base: type) -> None:
    # The metaclass of Protocol, among its ancestors, has functions for these. `tree_flatten` would call them for each object.
    assert type(base).__hash__ is type.__hash__
    assert type(base).__eq__ is type.__eq__
    assert type(base).__instancecheck__ is type.__instancecheck__


def test_a_declaration_can_take_its_types_from_a_generated_module(project: Any) -> None:
    pair = """
        from torch import Tensor
        from qten_gen import TensorClass
        from model_qten import Batch

        class Pair(TensorClass):
            first: Batch
            second: Batch | None = None
    """
    project.write(model=BATCH, pair=pair)
    project.generate()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the command and the class statement agree
        model, loaded = project.load("model"), project.load("pair")
    assert generated_file(loaded.Pair) == str(project.root / "pair_qten.py")
    batch = model.Batch(torch.zeros(2, 3), batch_size=2)
    assert loaded.Pair(batch, batch_size=2)[0].first.tokens.shape == (3,)


def test_a_star_import_takes_all_that_the_stub_has_also_when_it_comes_first(project: Any) -> None:
    own = "\n\nclass _Hidden(Batch): ...\n\n\ndef load() -> Batch: ...\n\n\nCURRENT: Batch | None = None\n"
    project.write(model=dedent(BATCH) + own, use="from model_qten import *")
    project.generate()
    use, model = project.load("use"), project.load("model")
    found = {name: value for name, value in vars(use).items() if not name.startswith("_")}
    assert found == {"Batch": model.Batch}
