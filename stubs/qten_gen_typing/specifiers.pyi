from typing import TypedDict

import torch

from qten_gen.runtime.declaring.fields import Computed, Initializer

class _TensorOptions(TypedDict, total=False):
    """The keywords of every tensor that is not tied."""

    initializer: Initializer | None
    dtype: torch.dtype | None
    keep_dtype: bool

class ParametersOptions(_TensorOptions, total=False):
    """The keywords of one parameter, and of several."""

    requires_grad: bool
    group: str | None

class ParameterOptions(ParametersOptions, total=False):
    """The keywords of one parameter."""

    value: Computed | None

class BufferOptions(_TensorOptions, total=False):
    """The keywords of a buffer."""

    value: Computed | None
    persistent: bool
