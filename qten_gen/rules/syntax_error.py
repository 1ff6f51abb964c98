"""The file is no Python.

Nothing can be read from it, so nothing is generated and what was generated before stays. The position is that of the Python
that runs qten-gen.
"""

from ..model.diagnostics import SYNTAX_ERROR

KIND = SYNTAX_ERROR

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass)
                        ^
    tokens: Tensor
"""
