"""Why a test of tensordict's does not pass with classes of this project."""

from __future__ import annotations

import re
from typing import NamedTuple

DECIDED = "differs by decision"


class Reason(NamedTuple):
    """What a failing test is about."""

    verdict: str
    text: str
    pattern: str
    """Found in the name of the test and the first lines of its error."""


REASONS = (
    Reason(
        DECIDED,
        "reads private attributes or files of tensordict",
        r"attribute '(_tensordict|_non_tensordict|_from_tensordict|__expected_keys__|_autocast)'|tensorclass\.pyi|/_tensordict/",
    ),
    Reason(DECIDED, "has a class that requires another object of itself", r"endless-construction"),
    Reason(DECIDED, "decorates a class with `dataclass`", r"@dataclass would replace"),
    Reason(
        DECIDED,
        "keeps a TensorDict in a field, or objects in a TensorDict",
        r"TensorDict|class of tensordict|MemoryMappedTensor"
        r"|NonTensorData|'dict' object has no attribute 'dtype'|must be Tensor, not dict"
        r"|from_dict$|FuncAutoCast|save_load",
    ),
    Reason(
        DECIDED,
        "uses a member that the tables above replace",
        r"has no attribute '(apply_|consolidate|from_list|to_lazystack|is_non_tensor)'|does not take \w+="
        r"|out= is not supported|unexpected keyword argument 'out'|test_select",
    ),
    Reason(
        DECIDED,
        "gives a field a value of another type than its annotation says",
        r"expected (a Tensor|\w+), got (None|a ndarray|int|a \w+)|test_pre_allocate|static by its annotation"
        r"|test_wrong_tensor_only|unsupported-type"
        r"|test_autocast_simple|test_tensor_only_none",
    ),
    Reason(DECIDED, "gets None for a field that is not there", r"FieldError"),
    Reason(
        DECIDED,
        "has static values that differ per item",
        r"test_indexing|'str' object has no attribute 'all'",
    ),
    Reason(DECIDED, "assigns items of another shape or class", r"test_setitem"),
    Reason(DECIDED, "writes to a view in a `with` statement", r"a with statement takes"),
    Reason(DECIDED, "uses a frozen object as a key of a dict", r"unhashable"),
    Reason(DECIDED, "expects a gradient of None beside others", r"test_grad"),
    Reason(DECIDED, "expects `len` 0 without batch dimensions", r"no len\(\)"),
    Reason(DECIDED, "expects `names` to be a list", r"test_stack_names"),
    Reason(
        DECIDED,
        "expects other errors, or other forms of a state dict",
        r"test_statedict|test_default\b|test_device|test_get_lazystack|test_stack\[",
    ),
    Reason(DECIDED, "expects a constructor without `lock`", r"test_signature"),
    Reason(DECIDED, "shadows `batch_size`", r"attribute 'batch_size'"),
    Reason(DECIDED, "makes a class with tensordict's `from_dataclass`", r"MyTensorClass|test_from_dataclass"),
    Reason(DECIDED, "has a default that does not fit the batch size", r"test_defaultfactory"),
    Reason(DECIDED, "has a field with a name that is reserved here", r"reserved-name"),
)


def reason(test: str, message: str) -> Reason | None:
    """The first reason that fits; None where nobody has looked at the test."""
    return next((one for one in REASONS if re.search(one.pattern, f"{test}\n{message}")), None)
