"""One declaration read in both ways: what the command says of its text, and what the class statement does with it."""

from __future__ import annotations

import linecache
from typing import NamedTuple, cast

from qten_gen import DeclarationError, rules
from qten_gen.model import FieldDecl, TensorClassDecl
from qten_gen.read.module import read
from qten_gen.runtime.declaring.declared_class import DeclaredClass
from tests.linking import link

HEAD = """\
import abc
import dataclasses
import tensordict
import torch
from collections import OrderedDict
from tensordict import TensorDict
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from typing import Annotated, Any, Callable, ClassVar, Final, Generic, Literal, NewType, Optional, Protocol, Self
from typing import Sequence, TypeVar, Union
from jaxtyping import Float
from qten_gen import LabelledTensor, PerItem, TensorClass, Unbatched, buffer, field, param, virtual

Free = TypeVar("Free")
Bound = TypeVar("Bound", bound=Tensor)
Ids = NewType("Ids", Tensor)
Count = NewType("Count", int)
Alias = list[Tensor]


class MyTensor(Tensor):
    pass


class P(TensorClass):
    x: Tensor


class Q(TensorClass):
    x: Tensor


"""

FOOT = """

class Later(TensorClass):
    x: Tensor
"""


class Answer(NamedTuple):
    """The codes of the rules that the class `Batch` breaks, and its fields if there are none."""

    codes: tuple[str, ...]
    fields: tuple[FieldDecl, ...]


def text(body: str, statement: str, before: str) -> str:
    """A file that declares `Batch`, with annotations that are not evaluated."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"from __future__ import annotations\n{HEAD}{before}\n\n{statement}\n{lines}{FOOT}"


def of_command(source: str) -> Answer:
    """What the command says."""
    linked, said = link([read(source.encode(), "shop/model.py", "shop.model")[0]])
    found = (*said, *rules.check(linked[0]))
    declaration = next(d for d in linked[0].declarations if d.name == "Batch")
    assert isinstance(declaration, TensorClassDecl)
    return _answer({item.code for item in found if item.is_error}, declaration)


def of_statement(source: str) -> Answer:
    """What the class statement says, in a module that is not generated for."""
    try:
        namespace = execute(source)
    except DeclarationError as error:
        return Answer(tuple(sorted({item.code for item in error.findings})), ())
    declared = namespace["Batch"]
    assert isinstance(declared, type)
    return _answer(set(), cast("TensorClassDecl", cast("DeclaredClass", declared)._declaration))


def execute(source: str) -> dict[str, object]:
    """The names that a file defines when it runs. Its lines are where `inspect` looks for them."""
    file = f"<acceptance {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, object] = {"__name__": f"accepted_{abs(hash(source))}"}
    exec(compile(source, file, "exec"), namespace)
    return namespace


def _answer(codes: set[str], declaration: TensorClassDecl) -> Answer:
    return Answer(tuple(sorted(codes)), () if codes else declaration.fields)
