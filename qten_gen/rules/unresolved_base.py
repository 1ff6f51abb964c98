"""A base class is defined nowhere.

Whether a class declares, and which fields it inherits, depends on its bases. A base in a file outside the run is taken for a
plain class; a name that nothing binds, or that the imported file does not have, is a mistake.
"""

from ..model.diagnostics import UNRESOLVED_BASE

KIND = UNRESOLVED_BASE

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Marked(Batch):
    mask: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor


class Marked(Bach):
             ^^^^
    mask: Tensor
"""
