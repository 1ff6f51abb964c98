"""What to write instead of functions of torch that are not defined for objects, by name."""

from __future__ import annotations

_GENERAL = "apply it to the tensors, with .apply or field by field"
_IN_PLACE = "a Tensor cannot become several; use the function without the underscore, whose result is an object"

INSTEAD: dict[str, str] = {
    "pad": "use .pad for batch dimensions, or .apply for those of the fields",
    "numel": "use .numel() for the number of items, or .param_count() for that of all elements",
    "is_complex": "ask the tensors: batch.x.is_complex()",
    "is_nonzero": "ask .all() or .any()",
    "get_device": "read .device",
    "unique": "use torch.unique on one field, and index the object with what it gives",
    "unique_consecutive": "use torch.unique_consecutive on one field, and index the object with what it gives",
    "nonzero": "use .nonzero() of one field, and index the object with it",
    "argwhere": "use torch.argwhere on one field, and index the object with it",
    "take": "index the object: batch.flatten()[positions]",
    "scatter": "use item assignment: batch[index] = other",
    "index_put": "use item assignment: batch[index] = other",
    "masked_scatter": "use item assignment: batch[mask] = other",
    "normalize": "say which dimensions are meant: .apply(lambda tensor: functional.normalize(tensor, dim=-1))",
    "__getitem__": "index a tensor with a tensor: tensor[batch.mask]",
    "__setitem__": "write a tensor into a tensor: tensor[index] = batch.x",
    "__contains__": "ask a tensor for a number or a tensor",
    "view_as": "read the shape of a tensor: tensor.view_as(batch.x). vector_to_parameters takes the tensors of an object: "
    "batch.values(include_nested=True, leaves_only=True)",
    "copy_": "copy a tensor: tensor.copy_(batch.x)",
}
"""Advice that ends the sentence `torch.unique is not defined for Batch; ...`, by the name of the function."""


def advice(name: str) -> str:
    """What to write instead of a function: `torch.nn.functional.pad`, `torch.Tensor.add_`."""
    short = name.rpartition(".")[2]
    if short in INSTEAD:
        return INSTEAD[short]
    if short.endswith("_") and not short.endswith("__"):
        return _IN_PLACE
    return _GENERAL
