"""Every way to write a base that is nn.Module, before and after."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from qten_gen.tools.adopt.records import Level

from .adopted import adopted, outcome, reasons, report

SPELLINGS = {
    "from torch import nn": (
        "import torch\nfrom torch import nn\n\n\nclass A(nn.Module):\n    pass\n",
        "import torch\nfrom qten_gen import Module\n\n\nclass A(Module):\n    pass\n",
    ),
    "a name that is still used": (
        "from torch import nn\n\n\nclass A(nn.Module):\n    layer = nn.ReLU\n",
        "from qten_gen import Module\nfrom torch import nn\n\n\nclass A(Module):\n    layer = nn.ReLU\n",
    ),
    "import torch": (
        "import torch\n\n\nclass A(torch.nn.Module):\n    pass\n\n\nx = torch.ones(2)\n",
        "import torch\nfrom qten_gen import Module\n\n\nclass A(Module):\n    pass\n\n\nx = torch.ones(2)\n",
    ),
    "import torch.nn as nn": (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n    layer = nn.ReLU\n",
        "import torch.nn as nn\nfrom qten_gen import Module\n\n\nclass A(Module):\n    layer = nn.ReLU\n",
    ),
    "from torch.nn import Module": (
        "from torch.nn import Linear, Module\n\n\nclass A(Module):\n    layer = Linear\n",
        "from qten_gen import Module\nfrom torch.nn import Linear\n\n\nclass A(Module):\n    layer = Linear\n",
    ),
    "from torch.nn import Module as Base": (
        "from torch.nn import Module as Base\n\n\nclass A(Base):\n    pass\n",
        "from qten_gen import Module\n\n\nclass A(Module):\n    pass\n",
    ),
    "from torch.nn.modules.module import Module": (
        "from torch.nn.modules.module import Module\n\n\nclass A(Module):\n    pass\n",
        "from qten_gen import Module\n\n\nclass A(Module):\n    pass\n",
    ),
    "Module is used in another way": (
        "from torch.nn import Module\n\n\nclass A(Module):\n    pass\n\n\ndef f(m: Module): ...\n",
        "import qten_gen\nfrom torch.nn import Module\n\n\nclass A(qten_gen.Module):\n    pass\n\n\ndef f(m: Module): ...\n",
    ),
    "the file has a Module of its own": (
        "from torch import nn\n\n\nclass Module: ...\n\n\nclass A(nn.Module):\n    pass\n",
        "import qten_gen\n\n\nclass Module: ...\n\n\nclass A(qten_gen.Module):\n    pass\n",
    ),
    "the file has a Module and a qten_gen of its own": (
        "from torch import nn\n\nqten_gen = 3\n\n\nclass Module: ...\n\n\nclass A(nn.Module):\n    pass\n",
        "import qten_gen as _qten_gen\n\nqten_gen = 3\n\n\nclass Module: ...\n\n\nclass A(_qten_gen.Module):\n    pass\n",
    ),
    "a string mentions the name": (
        "from torch.nn import Module\n\n\nclass A(Module):\n    child: 'Module'\n    def __init__(self): super().__init__()\n",
        "import qten_gen\nfrom torch.nn import Module\n\n\nclass A(qten_gen.Module):\n    child: 'Module'\n"
        "    def __init__(self): super().__init__()\n",
    ),
    "qten_gen is imported already": (
        "from qten_gen import TensorClass\nfrom torch import Tensor, nn\n\n\nclass A(nn.Module):\n    pass\n\n\n"
        "class B(TensorClass):\n    x: Tensor\n",
        "from qten_gen import Module, TensorClass\nfrom torch import Tensor\n\n\nclass A(Module):\n    pass\n\n\n"
        "class B(TensorClass):\n    x: Tensor\n",
    ),
    "comments and spaces stay": (
        "from torch import nn  # layers\n\n\nclass A( nn.Module , ):  # a layer\n    def f( self ) : return nn.ReLU( )\n",
        "from qten_gen import Module\nfrom torch import nn  # layers\n\n\nclass A( Module , ):  # a layer\n"
        "    def f( self ) : return nn.ReLU( )\n",
    ),
    "behind other third-party imports, before those of the project": (
        "import math\n\nimport numpy\nfrom torch import nn\n\nfrom .other import x\n\n\nclass A(nn.Module):\n    y = nn\n",
        "import math\n\nimport numpy\nfrom qten_gen import Module\nfrom torch import nn\n\nfrom .other import x\n\n\n"
        "class A(Module):\n    y = nn\n",
    ),
    "imports without an order": (
        "from torch import nn\nfrom einops import rearrange\nimport numpy\n\n\nclass A(nn.Module):\n    y = nn\n",
        "from torch import nn\nfrom einops import rearrange\nimport numpy\nfrom qten_gen import Module\n\n\n"
        "class A(Module):\n    y = nn\n",
    ),
    "parentheses over lines": (
        "from torch.nn import (\n    Linear,\n    Module,\n)\n\n\nclass A(Module):\n    y = Linear\n",
        "from qten_gen import Module\nfrom torch.nn import (\n    Linear,\n)\n\n\nclass A(Module):\n    y = Linear\n",
    ),
    "inside try": (
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nimport torch\n\nclass A(torch.nn.Module): x = torch\n",
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nimport torch\nfrom qten_gen import Module\n\n"
        "class A(Module): x = torch\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_base_is_swapped_and_nothing_else_changes(before: str, after: str) -> None:
    assert adopted(before) == after
    assert adopted(after) == after


def test_a_class_follows_its_base_in_another_file() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": "from torch import nn\n\n\nclass A(nn.Module):\n    y = nn\n",
        "pkg/child.py": "from .base import A\n\n\nclass B(A):\n    pass\n",
    }
    found = outcome(files)
    assert list(found.texts) == ["pkg/base.py"]
    assert [each.is_adopted for each in found.adoptions] == [True, True]
    assert found.adoptions[1].done[0][1] == "nothing to write: its base A is adopted"


def test_an_import_that_another_file_takes_from_here_stays() -> None:
    files = {
        "base.py": "from torch.nn import Module\n\n\nclass A(Module):\n    pass\n",
        "other.py": "from base import Module\n",
    }
    assert "from torch.nn import Module\n" in outcome(files).texts["base.py"].decode()


STAYING = {
    "class A(LightningModule): ...": "its base lightning.LightningModule is a class of a library",
    "@torch.jit.interface\nclass A(nn.Module):\n    def forward(self, x): ...": (
        "TorchScript reads it as an interface, which derives from nn.Module alone"
    ),
    "class A(nn.Module, metaclass=Meta): ...": "its metaclass is Meta, and Module has one of its own",
    "class A(nn.Module):\n    rate: float": "its annotation of rate would become an argument of the constructor",
    "class A(*bases, nn.Module): ...": "its bases or keywords are computed when the program runs",
    "class A(nn.Module, **flags): ...": "its bases or keywords are computed when the program runs",
    "class A(nn.Embedding): ...": "torch annotates nn.Embedding.freeze, which mypy holds against Module.freeze",
    "@dataclass\nclass A(nn.Module):\n    x: int": "dataclass would replace the constructor of A",
}


@pytest.mark.parametrize(("text", "reason"), STAYING.items(), ids=STAYING)
def test_a_class_stays_where_the_swap_would_change_more(text: str, reason: str) -> None:
    imports = (
        "import torch\nfrom dataclasses import dataclass\nfrom lightning import LightningModule\nfrom torch import nn"
    )
    text = f"{imports}\n\n\n{text}\n"
    assert reasons(text) == {"A": reason}
    assert adopted(text) == text


def test_a_class_with_a_call_of_its_own_is_adopted_with_a_note() -> None:
    text = "from torch import nn\n\nclass Base(nn.Module):\n    def __call__(self, x): ...\n"
    assert "class Base(Module)" in adopted(text)
    assert report(text)["Base"].notes[0].startswith("pyright reports that its own __call__")


KEEPING = {
    "an annotation with a value": (
        "class A(nn.Module):\n    rate: float = 0.5",
        "class A(Module, init=False):\n    rate: float = 0.5",
    ),
    "a private annotation": (
        "class A(nn.Module):\n    _cache: object",
        "class A(Module, init=False):\n    _cache: object",
    ),
    "other bases and a comma": (
        "class A( nn.Module , Mixin , ):\n    rate: float = 0.5",
        "class A( Module , Mixin, init=False , ):\n    rate: float = 0.5",
    ),
    "a class keyword": (
        "class A(nn.Module, Mixin, extra=(1)):\n    rate: float = 0.5",
        "class A(Module, Mixin, init=False, extra=(1)):\n    rate: float = 0.5",
    ),
    "below a constructor": (
        "class A(nn.Module):\n    def __init__(self, n): super().__init__()\nclass B(A):\n    rate: float",
        "class A(Module):\n    def __init__(self, n): super().__init__()\nclass B(A, init=False):\n    rate: float",
    ),
    "below a constructor with arguments": (
        "class A(nn.Module):\n    def __init__(self, n): super().__init__()\nclass B(A): ...",
        "class A(Module):\n    def __init__(self, n): super().__init__()\nclass B(A, init=False): ...",
    ),
    "below a constructor without arguments": (
        "class A(nn.Module):\n    def __init__(self): super().__init__()\nclass B(A): ...",
        "class A(Module):\n    def __init__(self): super().__init__()\nclass B(A): ...",
    ),
    "below an annotation": (
        "class A(nn.Module):\n    rate: float = 0.5\nclass B(A): ...",
        "class A(Module, init=False):\n    rate: float = 0.5\nclass B(A, init=False): ...",
    ),
    "a class variable": (
        "class A(nn.Module):\n    rate: ClassVar[float] = 0.5",
        "class A(Module):\n    rate: ClassVar[float] = 0.5",
    ),
    "a constructor of its own": (
        "class A(nn.Module):\n    rate: float = 0.5\n    def __init__(self, n): super().__init__()",
        "class A(Module):\n    rate: float = 0.5\n    def __init__(self, n): super().__init__()",
    ),
}


@pytest.mark.parametrize(("before", "after"), KEEPING.values(), ids=KEEPING)
def test_a_class_without_a_constructor_says_that_it_keeps_the_inherited_one(before: str, after: str) -> None:
    mixin = "class Mixin:\n    def __init_subclass__(cls, **keywords): ...\n"
    head = "from typing import ClassVar\n{}\n{}\n\n\n{}\n\n"
    old = head.format("", "from torch import nn", mixin).replace("\n\nfrom", "\nfrom")
    new = head.format("", "from qten_gen import Module", mixin).replace("\n\nfrom", "\nfrom")
    assert adopted(f"{old}{before}\n") == f"{new}{after}\n"
    assert adopted(f"{new}{after}\n") == f"{new}{after}\n"


def test_a_class_below_a_layer_of_torch_gets_module_behind_it() -> None:
    before = """\
    from torch import nn

    class Norm(nn.LayerNorm): ...

    class Table(nn.Linear):
        def __init__(self, n): super().__init__(n, n)

    class Small(Table): ...
    """
    after = adopted(before)
    assert "class Norm(nn.LayerNorm, Module, init=False): ..." in after
    assert "class Table(nn.Linear, Module):" in after
    assert "class Small(Table, init=False): ..." in after
    assert adopted(after) == after


def test_a_class_keeps_no_constructor_below_one_that_stays() -> None:
    text = """\
    from torch import nn

    class Base(nn.Module):
        rate: float

    class Child(Base):
        size: int = 3

    class Written(Base):
        def __init__(self) -> None:
            super().__init__()

    class Grandchild(Written):
        size: int = 3
    """
    assert reasons(dedent(text))["Grandchild"].startswith("its base")
    assert adopted(text) == dedent(text)


def test_files_of_two_programs_may_have_classes_of_one_name() -> None:
    text = "from torch import nn\n\n\nclass A(nn.Module): ...\n\n\nclass B(ScriptModule): ...\n"
    text = f"from torch.jit import ScriptModule\n{text}"
    found = outcome({"one/model.py": text, "two/model.py": text})
    assert [(each.found.path, each.found.name, each.is_adopted) for each in found.adoptions] == [
        ("one/model.py", "A", True),
        ("one/model.py", "B", False),
        ("two/model.py", "A", True),
        ("two/model.py", "B", False),
    ]
    assert len(found.texts) == 2


def test_a_class_stays_whose_file_has_a_subclass_with_a_base_that_only_the_program_knows() -> None:
    text = """
    from torch import nn

    class Plain(nn.Module):
        def __init__(self): super().__init__()

    try:
        from fast.ops import Feed
    except ImportError:
        Feed = Plain

    class Fused(Feed):
        def __init__(self): super().__init__()
    """

    assert reasons(text) == {
        "Plain": "the base of Fused is known only at run time, because Feed is bound in several ways"
    }


_METACLASSES = """\
from abc import ABC, ABCMeta
import torch
from qten_gen import Module
from tensordict import TensorClass
from torch import nn


class Meta(type): ...


class Abstract(ABCMeta): ...


class OurMeta(type(Module)): ...


class Mixin(metaclass=Meta): ...


"""
_A = "class A(nn.Module): ...\n\n\n"
_OWN = "and Module has one of its own"

COMBINED = {
    _A + "class B(A, metaclass=Abstract): ...\n\n\nclass C(nn.Module): ...": {
        "A": f"B in model.py derives from it, and the metaclass of B is Abstract, {_OWN}",
        "B": f"its metaclass is Abstract, {_OWN}",
    },
    _A + "def make():\n    class B(A, metaclass=Meta): ...\n    return B": {
        "A": f"make.B in model.py derives from it, and the metaclass of make.B is Meta, {_OWN}",
        "make.B": "it stands inside a function or class, where nothing is generated",
    },
    "class A(Mixin, nn.Module): ...": {"A": f"the metaclass of Mixin is Meta, {_OWN}"},
    _A + "class B(A, Mixin): ...": {
        "A": f"B in model.py derives from it, and the metaclass of Mixin is Meta, {_OWN}",
        "B": f"its base A stays: B in model.py derives from it, and the metaclass of Mixin is Meta, {_OWN}",
    },
    "class A(Mixin, TensorClass):\n    x: torch.Tensor": {
        "A": "the metaclass of Mixin is Meta, and TensorClass has one of its own"
    },
    _A + "class B(A, metaclass=ABCMeta): ...\n\n\nclass C(A, ABC): ...": {},
    "class A(Module): ...\n\n\nclass B(A, metaclass=OurMeta): ...": {},
}


@pytest.mark.parametrize(("text", "why"), COMBINED.items(), ids=range(len(COMBINED)))
def test_a_class_stays_whose_metaclass_cannot_be_combined_and_so_does_its_base(text: str, why: dict[str, str]) -> None:
    assert reasons(f"{_METACLASSES}{text}\n") == why


def test_one_class_of_a_family_does_not_keep_the_others() -> None:
    """Nothing sets `kernel` in the class that annotates it: it keeps the constructor of nn.Module as its base does."""
    text = """\
    from torch import Tensor, nn

    class Model(nn.Module):
        _cache: Tensor | None = None

    class Kernelled(Model):
        kernel: nn.Module

    class Exact(Kernelled):
        def __init__(self, kernel: nn.Module) -> None:
            super().__init__()
            self.kernel = kernel
    """
    after = adopted(text)
    assert "class Model(Module, init=False):" in after
    assert "class Kernelled(Model, init=False):" in after
    assert adopted(after) == after


def test_a_base_says_which_subclass_keeps_it() -> None:
    text = "from torch import nn\n\n\nclass A(nn.Module): ...\n\n\nclass B(A):\n    x = nn.Parameter(None)\n"
    found = report(text)["A"].why_it_stays
    assert found is not None and found.text.startswith("B in model.py derives from it, and x is a parameter")
    assert found.code == "QG217" and found.help


_REGISTERS = "class A({}):\n    def __init__(self, dim):\n        super().__init__()\n        {}\n{}"
_SAID = _REGISTERS.format("nn.Module", "self.register_buffer('x', torch.ones(2))", "")
_UNSAID = _REGISTERS.format("nn.Module", "self.add_module('x', make(dim))", "")
_READS = "\n    def forward(self):\n        return self.{}\n"
OPEN = {
    "a buffer, where nothing is annotated": (_SAID, Level.BASE, ["A(OpenModule)"]),
    "a buffer, which is annotated": (_SAID, Level.ANNOTATE, ["A(Module)"]),
    "a child of an uncertain class": (_UNSAID, Level.ANNOTATE, ["A(OpenModule)"]),
    "a name that only others set": ("class A(nn.Module):" + _READS.format("y"), Level.ANNOTATE, ["A(OpenModule)"]),
    "computed names": (_UNSAID.replace("add_module('x'", "add_module(dim"), Level.ANNOTATE, ["A(Module)"]),
    "a subclass": (
        f"class P(nn.Module): ...\n{_UNSAID.replace('nn.Module', 'P')}",
        Level.BASE,
        ["P(Module)", "A(P, OpenModule)"],
    ),
    "a base": (f"{_UNSAID}\nclass B(A):{_READS.format('x')}", Level.BASE, ["A(OpenModule)", "B(A, init=False)"]),
    "a layer": (_UNSAID.replace("nn.Module", "nn.Linear"), Level.BASE, ["A(nn.Linear, OpenModule)"]),
}


@pytest.mark.parametrize(("text", "level", "classes"), OPEN.values(), ids=OPEN)
def test_a_class_is_open_whose_attributes_checkers_would_not_see(text: str, level: Level, classes: list[str]) -> None:
    after = adopted(f"import torch\nfrom torch import nn\n\n\n{text}\n", level)
    assert re.findall(r"^class (.*):", after, re.MULTILINE) == classes
    assert adopted(after, level) == after
