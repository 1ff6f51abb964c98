"""The file is no text in its encoding.

Python files are UTF-8 unless their first line names another encoding. A file that Python could not import is not guessed at.
"""

from ..model.diagnostics import UNDECODABLE_FILE

KIND = UNDECODABLE_FILE

GOOD = """
# -*- coding: utf-8 -*-
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor  # Übung
"""

BAD = """
# -*- coding: ascii -*-
from qten_gen import TensorClass
from torch import Tensor


class Batch(TensorClass):
    tokens: Tensor  # Übung
                      ^
"""
