"""Shapes and dtypes that the constructor checks."""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from qten_gen import TensorClass, Unbatched


class Tokens(TensorClass):
    """Sentences as numbers of words, with a table of what each word means."""

    words: Int[Tensor, "*batch length"]
    mask: Bool[Tensor, "*batch length"]
    table: Unbatched[Tensor]
    logits: Float[Tensor, "*batch length vocabulary"] | None = None
