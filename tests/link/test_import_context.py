"""Names that come by star imports, and names of libraries that another file passes on: read as they run."""

from typing import Any

import pytest

from qten_gen.generate.plan import plan
from qten_gen.read.module import read

BASE = """
from torch import Tensor
from qten_gen import TensorClass

class Point(TensorClass):
    xy: Tensor

class _Private(TensorClass):
    xy: Tensor

Heights = Tensor
"""


@pytest.fixture
def project(project: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project whose classes have to be fresh: what is read as text is what the class statements say."""
    monkeypatch.setenv("QTEN_GEN_JIT", "off")
    project.write(depot__="", depot__base=BASE)
    return project


def kinds(cls: Any) -> dict[str, str]:
    """The fields of a class, as its declaration has them."""
    return {field.name: field.kind.value for field in cls._declaration.fields}


def test_a_star_import_brings_classes_aliases_and_what_the_file_imports(project: Any) -> None:
    project.write(
        depot__model="""
        from .base import *

        class Batch(TensorClass):
            at: Point
            height: Heights
            plain: Tensor | None = None
        """
    )
    project.generate()
    batch = project.load("depot.model").Batch
    assert kinds(batch) == {"at": "nested", "height": "tensor", "plain": "tensor"}
    assert "from .base import Point\n" in (project.root / "depot/model_qten.py").read_text()


def test_files_may_bring_names_to_each_other(project: Any) -> None:
    project.write(
        depot__left="from qten_gen import TensorClass\nclass Left(TensorClass): ...\nfrom .right import *\n",
        depot__right="import depot.left\nfrom .base import *\nclass Right(TensorClass):\n    at: Point\n",
        depot__last="from .left import *\nclass Last(Left):\n    right: Right\n",
    )
    project.generate()
    assert kinds(project.load("depot.last").Last) == {"right": "nested"}


def test_what_a_file_defines_itself_goes_before_a_star_import(project: Any) -> None:
    project.write(
        depot__model="from .base import *\n\nHeights = str\n\nclass Batch(TensorClass):\n    height: Heights\n"
    )
    project.generate()
    assert kinds(project.load("depot.model").Batch) == {"height": "static"}


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("__all__ = ['Point', \"Heights\"]", ("Point", "Heights")),
        ("__all__ = ('Point',)", ("Point",)),
        ("__all__: list[str] = ['Point']", ("Point",)),
        ("__all__ = ['Point']\n__all__ += ['Heights']", ("Point", "Heights")),
        ("__all__ = ['Point'] + ['Heights', 'Point']", ("Point", "Heights")),
        ("__all__ = [name for name in dir()]", None),
        ("__all__ = ['Point'] + other.__all__", None),
        ("__all__ = ['Point']\n__all__.extend(['Heights'])", None),
        ("__all__ = ['Point', 3]", None),
        ("__all__ += ['Point']", None),
        ("", None),
    ],
)
def test_what_a_file_exports_is_read_where_it_can_be(listed: str, names: tuple[str, ...] | None) -> None:
    assert read(listed.encode(), "base.py", "base")[0].exported == names


def test_a_name_that_is_not_exported_is_not_brought() -> None:
    base = BASE + "__all__ = ['Heights']\n"
    made = plan({"base.py": base.encode(), "model.py": b"from base import *\nclass Batch(Point): ...\n"}, {})
    (found,) = [item for item in made.diagnostics if item.path == "model.py"]
    assert (found.code, found.message) == ("QG101", "the base Point is not defined in this file")


def test_a_private_name_is_brought_only_where_it_is_exported(project: Any) -> None:
    project.write(
        open=f"{BASE}\n__all__ = ['_Private']\n",
        model="from open import *\n\nclass Batch(_Private): ...\n",
    )
    project.generate()
    assert kinds(project.load("model").Batch) == {"xy": "tensor"}


@pytest.mark.parametrize(
    ("line", "prefix"),
    [
        ("from .common import *", ""),
        ("from .common import Module, TensorClass, Tensor, nn, param, Optional", ""),
        ("from . import common", "common."),
        ("import depot.common as c", "c."),
        ("import depot.common", "depot.common."),
        ("from .again import Module, TensorClass, Tensor, nn, param, Optional", ""),
    ],
)
def test_names_of_libraries_may_be_passed_on(project: Any, line: str, prefix: str) -> None:
    project.write(
        depot__common="from typing import Optional\nfrom torch import Tensor, nn\nfrom qten_gen import *\n",
        depot__again="from .common import Module, TensorClass, Tensor, nn, param, Optional\n",
        depot__model=f"""
        {line}

        class Batch({prefix}TensorClass):
            tokens: {prefix}Tensor
            mask: {prefix}Optional[{prefix}Tensor] = None

        class Net({prefix}Module):
            dim: int
            weight: {prefix}nn.Parameter = {prefix}param("dim", initializer={prefix}nn.init.ones_)
        """,
    )
    project.generate()
    model = project.load("depot.model")
    assert kinds(model.Batch) == {"tokens": "tensor", "mask": "tensor"}
    assert model.Net(2).weight.shape == (2,)


def test_names_that_only_look_alike_are_left_alone(project: Any) -> None:
    project.write(
        depot__Tensor="class Tensor: ...\n",
        depot__model="""
        from .Tensor import Tensor
        from qten_gen import TensorClass

        class Batch(TensorClass):
            x: Tensor | None = None
        """,
    )
    project.generate()
    assert kinds(project.load("depot.model").Batch) == {"x": "static"}
