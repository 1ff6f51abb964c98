"""Every way to write a class of tensordict, before and after; and dataclasses."""

from __future__ import annotations

import pytest

from .adopted import adopted, reasons, report

_TORCH = "from torch import Tensor\n\n\n"

SPELLINGS = {
    "decorated": (
        f"from tensordict import tensorclass\n{_TORCH}@tensorclass\nclass A:\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n",
    ),
    "decorated by a call": (
        f"from tensordict import tensorclass\n{_TORCH}@tensorclass()\nclass A():\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n",
    ),
    "decorated with flags": (
        f"from tensordict import tensorclass\n{_TORCH}@tensorclass(autocast=True, nocast=False)\nclass A:\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass, autocast=True):\n    x: Tensor\n",
    ),
    "decorated by a name of a module": (
        f"import tensordict\n{_TORCH}@tensordict.tensorclass\nclass A:\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n",
    ),
    "a decorated subclass": (
        f"from tensordict import tensorclass\n{_TORCH}@tensorclass\nclass A:\n    x: Tensor\n\n\n@tensorclass\nclass B(A):\n"
        "    y: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n\n\nclass B(A):\n    y: Tensor\n",
    ),
    "a base": (
        f"from tensordict import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n",
    ),
    "a base with flags in brackets": (
        f'from tensordict.tensorclass import TensorClass\n{_TORCH}class A(TensorClass["nocast", "frozen"]):\n    x: Tensor\n',
        f'from qten_gen import TensorClass\n{_TORCH}class A(TensorClass["nocast", "frozen"]):\n    x: Tensor\n',
    ),
    "a base with flags as keywords": (
        f"from tensordict import TensorClass\n{_TORCH}class A(TensorClass, nocast=True):\n    x: Tensor\n",
        f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass, nocast=True):\n    x: Tensor\n",
    ),
    "the name is used in another way": (
        f"from tensordict import TensorClass\n{_TORCH}class A(TensorClass):\n    x: Tensor\n\n\ny: TensorClass\n",
        f"import qten_gen\nfrom tensordict import TensorClass\n{_TORCH}class A(qten_gen.TensorClass):\n    x: Tensor\n\n\n"
        "y: TensorClass\n",
    ),
    "defaults of None": (
        f'from tensordict import TensorClass\n{_TORCH}class A(TensorClass["nocast"]):\n    x: Tensor = None\n'
        '    y: "Tensor" = None\n    z: Tensor | None = None\n    n: int = None\n    a: object = None\n',
        f'from qten_gen import TensorClass\n{_TORCH}class A(TensorClass["nocast"]):\n    x: Tensor | None = None\n'
        '    y: "Tensor | None" = None\n    z: Tensor | None = None\n    n: int | None = None\n    a: object = None\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_class_of_tensordict_becomes_one_of_qten_gen(before: str, after: str) -> None:
    assert adopted(before) == after
    assert adopted(after) == after


def test_a_decorated_class_keeps_its_bases() -> None:
    text = f"from tensordict import tensorclass\n{_TORCH}class M: ...\n\n\n"
    text += "@tensorclass(autocast=True)\nclass A(M):\n    x: Tensor\n"
    assert "class A(M, TensorClass, autocast=True):" in adopted(text)


STAYING = {
    "@tensorclass(cast_filter=f)\nclass A:\n    x: Tensor": "the flags of its decorator are computed when the program runs",
    "@tensorclass(kw_only=True)\nclass A:\n    x: Tensor": "its flag kw_only has no counterpart in qten_gen",
    "@tensorclass  # noqa\nclass A:\n    x: Tensor": "a comment stands beside its decorator, which has to go",
    "@tensorclass\nclass A:\n    x: int | Tensor": "the type of x combines a tensor with another type",
    "@tensorclass\nclass A:\n    keys: Tensor": "every TensorClass has an attribute 'keys', so a field cannot have this name",
    "@tensorclass\nclass A:\n    x: Tensor\n\n\nA.x = property(len)": "line 10 of its file replaces A.x",
    "@tensorclass\nclass A:\n    x: Tensor\n\n\ng = A.__len__": "line 10 of its file reads A.__len__, which tensordict made",
}


@pytest.mark.parametrize(("text", "reason"), STAYING.items(), ids=STAYING)
def test_a_class_of_tensordict_stays_with_the_reason(text: str, reason: str) -> None:
    text = f"from tensordict import tensorclass\n{_TORCH}{text}\n"
    assert reasons(text) == {"A": reason}
    assert adopted(text) == text


def test_a_flag_that_says_what_is_so_anyway_is_left_out() -> None:
    text = f"from tensordict import tensorclass\n{_TORCH}@tensorclass(skip_post_init_on_rebuild=True)\nclass A:\n    x: Tensor\n"
    assert "class A(TensorClass):" in adopted(text)


_DATACLASS = (
    f"from dataclasses import dataclass\n{_TORCH}@dataclass(frozen=True)\nclass A:\n    x: Tensor\n    n: int = 3\n"
)


def test_notes_say_what_methods_and_lists_meant_to_tensordict() -> None:
    text = (
        "from typing import List, Optional\nfrom tensordict import tensorclass\nfrom torch import Tensor\n\n\n"
        "@tensorclass\nclass A:\n    x: Tensor\n    one: list\n    four: dict[str, list[int]]\n"
        "    two: Optional[List[str]] = None\n"
        '    three: "list[int] | None" = None\n\n'
        "    @classmethod\n    def make(cls, td):\n        return cls._from_tensordict(td)\n\n"
        "    def both(this, other):\n        return this._tensordict, other._tensordict, super()._get_str('x'), this._own\n\n"
        "    def _set_str(self):\n        return self._set_str\n"
    )
    value = "is one value for the batch; in tensordict it has one value for each item: write PerItem[...] for that"
    assert report(text)["A"].notes == (
        f"a list in one {value}",
        f"a list in two {value}",
        f"a list in three {value}",
        "line 16 uses _from_tensordict, which is private to tensordict: write from_tensordict",
        "line 19 uses _tensordict, which is private to tensordict: write to_tensordict()",
        "line 19 uses _get_str, which is private to tensordict: write get, or read the field",
    )


def test_a_dataclass_is_a_candidate_that_has_to_be_asked_for() -> None:
    assert adopted(_DATACLASS) == _DATACLASS
    found = report(_DATACLASS)["A"].why_it_stays
    assert found is not None and not found.is_open and "--dataclasses" in found.help


def test_a_dataclass_keeps_its_numbers_and_its_flags() -> None:
    after = f"from qten_gen import TensorClass\n{_TORCH}class A(TensorClass, nocast=True, frozen=True):\n"
    after += "    x: Tensor\n    n: int = 3\n"
    assert adopted(_DATACLASS, dataclasses=True) == after
    assert adopted(after, dataclasses=True) == after


_FAMILY = """\
from dataclasses import dataclass
from torch import Tensor


@dataclass
class Common:
    name: str


@dataclass
class Output(Common):
    x: Tensor


@dataclass()
class Wide(Output):
    y: Tensor | None = None


@dataclass
class Plain:
    name: str
"""


def test_a_family_of_dataclasses_is_adopted_where_one_of_them_has_tensors() -> None:
    after = adopted(_FAMILY, dataclasses=True)
    assert "class Common(TensorClass, nocast=True):\n" in after
    assert "\n\n\nclass Output(Common):\n" in after and "\n\n\nclass Wide(Output):\n" in after
    assert "@dataclass\nclass Plain:" in after
    assert adopted(after, dataclasses=True) == after


REFUSED = {
    "@dataclass(order=True)\nclass A:\n    x: Tensor": "a TensorClass cannot do what dataclass(order=True) asks for",
    "@dataclass\nclass A(Other):\n    x: Tensor": "it has other bases than dataclasses of the project",
    "@dataclass\nclass A:\n    x: Tensor\n    extra: dict[str, Any]": (
        "its field extra may hold tensors or not, and a TensorClass has to know"
    ),
    "@dataclass\nclass A:\n    x: Tensor\n    keys: Tensor": (
        "every TensorClass has an attribute 'keys', so a field cannot have this name"
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.items(), ids=range(len(REFUSED)))
def test_a_dataclass_that_cannot_be_adopted_stays_with_the_reason(text: str, why: str) -> None:
    head = (
        "from dataclasses import dataclass\nfrom typing import Any\nfrom other import Other\nfrom torch import Tensor\n"
    )
    found = report(f"{head}\n\n{text}\n", dataclasses=True)["A"].why_it_stays
    assert found is not None and found.text == why
