"""The bases of a class cannot be combined.

Python raises TypeError at the class statement if the bases have no consistent method resolution order, or if they have different
metaclasses. TensorClass and Module have different metaclasses, and so have Enum and NamedTuple. A protocol can be a base, but a
declaration cannot be a protocol itself: Protocol is not a base. With a dataclass as a base, the class statement would succeed,
but the generated constructor would not set the fields of the dataclass.
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
