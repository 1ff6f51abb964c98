"""The bases of a class contradict each other.

Either they have no consistent order (Python refuses the class with "Cannot create a consistent method resolution order"), or one
is a TensorClass and another a Module: a class is data or a module, not both. Nor can a declaration be a dataclass, an Enum, a
NamedTuple or a Protocol as well, which make their classes in ways of their own.
"""

from ..model.diagnostics import INCONSISTENT_BASES

KIND = INCONSISTENT_BASES

GOOD = """
from qten_gen import Module, TensorClass
from torch import Tensor


class State(TensorClass):
    hidden: Tensor


class Cell(Module):
    state: State
"""

BAD = """
from qten_gen import Module, TensorClass
from torch import Tensor


class Cell(TensorClass, Module):
      ^^^^
    hidden: Tensor
"""
