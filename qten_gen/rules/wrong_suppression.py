"""A comment that is meant to suppress a diagnostic does not say which, or names one that cannot be suppressed.

A comment has codes or names in brackets: `# qten-gen: ignore[QG210, late-attribute] reason`. It suppresses warnings, and those
errors that are about what a class does, such as a method with a misspelt name. Any other error says that the class cannot be
generated, or that it would be another one than its declaration says. A comment cannot change that, and the class statement would
refuse it, too.
"""

from ..model.diagnostics import WRONG_SUPPRESSION

KIND = WRONG_SUPPRESSION

GOOD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor
    weight: float  # qten-gen: ignore[QG210] one number for each item
"""

BAD = """
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor  # qten-gen: ignore[QG999] one number for each item
                                       ^^^^^
"""
