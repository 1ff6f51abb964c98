"""The operations as functions by name: what takes the place of those that `binding.py` gives TensorClass."""

from __future__ import annotations

from .table import methods
from .torch_functions import dispatch

globals().update(methods(), __torch_function__=dispatch)
