"""Random declarations and random sequences of operations, compared after each step with plain tensors in a dict.

The steps come from the table of operations: each of its methods has one. The same sequences are run with tensordict where it is
installed, apart from what differs on purpose: `model.libraries` lists that.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from torch import Tensor

from qten_gen import TensorClass
from qten_gen.runtime.tensorclass.operations.table import OPERATIONS

from .model import index_steps, object_steps, pointwise_steps, shape_steps
from .model.contents import contents
from .model.declarations import Declaration, declarations, peer_declarations, ragged_declarations
from .model.libraries import Compiled, Exported, Library, OnAnotherDevice, Tensordict, assert_equal, assert_same
from .model.plain import IsRagged, Plain, valued
from .model.steps import CLONE, OTHER, Builder, Step

WITHOUT_STEP = (
    "zeros_like ones_like empty_like full_like rand_like randn_like new_empty complex64 complex128 softmin".split()
)
"""What is not determined, and what would leave the dtypes that the other operations take; the rows of the table try them."""

BUILDERS: dict[str, Builder] = {
    **pointwise_steps.BY_NAME,
    **shape_steps.BY_NAME,
    **index_steps.BY_NAME,
    **object_steps.BY_NAME,
}
for _operation in OPERATIONS:
    if _operation.name not in WITHOUT_STEP:
        for _forms in (pointwise_steps.BY_FORM, shape_steps.BY_FORM):
            if _operation.form in _forms:
                BUILDERS[_operation.name] = _forms[_operation.form](_operation)
        if _operation.in_place is not None and _operation.form in pointwise_steps.IN_PLACE_BY_FORM:
            BUILDERS[_operation.in_place_name] = pointwise_steps.IN_PLACE_BY_FORM[_operation.form](_operation)

EXAMPLES = int(os.environ.get("QTEN_GEN_EXAMPLES", "150"))
"""How many sequences are tried. The usual ones are the same in every run; with another number they are others each time."""

SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize="QTEN_GEN_EXAMPLES" not in os.environ,
    report_multiple_bugs=False,
    # Drawing may take long on a machine that is busy.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

EXPORTED = ("__add__", "__mul__", "__rsub__", "cat", "flip", "neg", "reshape", "stack", "to double", "unsqueeze")
"""Operations that are tried in exported programs, each of which takes its time to be made."""

REFUSED = "is Ragged|Ragged items|holds one Python value per item|argument 'dim'|frozen"
"""Messages about a Ragged field, another one before it, or what is looked at first."""

ERRORS = (RuntimeError, IndexError, TypeError, ValueError)


def test_every_method_of_the_table_is_a_step() -> None:
    methods = {operation.name for operation in OPERATIONS if operation.is_method}
    assert methods - set(WITHOUT_STEP) == set(BUILDERS) & methods
    assert {"sum", "cumsum", "max", "add", "sin"} <= BUILDERS.keys()


@SETTINGS
@given(st.data(), declarations(), st.integers(0, 9))
def test_sequences_of_operations_are_those_on_plain_tensors(data: Any, declaration: Declaration, seed: int) -> None:
    run(Library(), data, declaration, seed)


@SETTINGS
@given(st.data(), peer_declarations(), st.integers(0, 9))
def test_sequences_of_operations_are_those_of_tensordict(data: Any, declaration: Declaration, seed: int) -> None:
    pytest.importorskip("tensordict", reason="the model is compared with tensordict only where that is installed")
    run(Tensordict(), data, declaration, seed)


@settings(SETTINGS, max_examples=max(40, EXAMPLES // 4))
@given(st.data(), declarations(), st.integers(0, 9))
def test_sequences_of_operations_are_the_same_under_another_default_device(
    data: Any, declaration: Declaration, seed: int
) -> None:
    """Indexes and items written to; `test_table` tries the operations of the table so."""
    run(OnAnotherDevice(), data, declaration, seed, index_steps.BY_NAME)


@settings(SETTINGS, max_examples=max(6, EXAMPLES // 8))
@given(st.data(), peer_declarations(), st.integers(0, 9))
def test_sequences_of_operations_are_the_same_compiled(data: Any, declaration: Declaration, seed: int) -> None:
    run(Compiled(), data, declaration, seed)


@SETTINGS
@given(st.data(), ragged_declarations(), st.integers(0, 9))
def test_sequences_of_operations_are_those_on_lists_of_tensors(data: Any, declaration: Declaration, seed: int) -> None:
    run(Library(), data, declaration, seed)


@settings(SETTINGS, max_examples=max(30, EXAMPLES // 4))
@given(st.data(), ragged_declarations(), st.integers(0, 9))
def test_ragged_items_come_back_from_files_workers_and_loaders(data: Any, declaration: Declaration, seed: int) -> None:
    run(Library(), data, declaration, seed, {**object_steps.RAGGED_WAYS, **index_steps.BY_NAME})


@settings(SETTINGS, max_examples=max(4, EXAMPLES // 30))
@given(st.data(), ragged_declarations(), st.integers(0, 9))
def test_sequences_of_operations_on_ragged_items_are_the_same_exported(
    data: Any, declaration: Declaration, seed: int
) -> None:
    run(Exported(), data, declaration, seed, {name: BUILDERS[name] for name in EXPORTED})


@settings(SETTINGS, max_examples=max(12, EXAMPLES // 8))
@given(st.data(), ragged_declarations(), st.integers(0, 9))
def test_sequences_of_operations_on_ragged_items_are_the_same_compiled(
    data: Any, declaration: Declaration, seed: int
) -> None:
    run(Compiled(), data, declaration, seed)


@settings(SETTINGS, max_examples=max(60, EXAMPLES // 4))
@given(st.data(), peer_declarations(), st.integers(0, 9), st.integers(1, 3))
def test_operations_are_the_same_inside_of_vmap(data: Any, declaration: Declaration, seed: int, length: int) -> None:
    library, plain = Library(), contents(declaration, seed)
    item = library.construct(declaration, plain)
    name = data.draw(st.sampled_from(sorted(BUILDERS)), label="operation")
    step = data.draw(built(BUILDERS[name], plain), label="step")
    if step.writes or not item._leaves():
        return
    objects = [item.apply(lambda tensor, at=at: tensor * 2 + at) for at in range(length)]
    second = item.apply(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = [call(library, one, second, step) for one in objects]
            if not isinstance(wanted[0], (Tensor, TensorClass)):
                return
            expected = torch.stack(wanted)
        except Exception as error:
            note(f"refused: {error}")
            return
        try:
            got = type(item).stack(objects).vmap(lambda one: call(library, one, second, step), randomness="same")
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            assert any(word in str(error) for word in ("vmap", "functorch", "BatchedTensor")), f"{step}: {error}"
            return
    if isinstance(expected, Tensor):
        torch.testing.assert_close(got, expected, equal_nan=True)
        return
    assert (got.batch_size, type(got)) == (expected.batch_size, type(expected))
    for mine, theirs in zip(got._leaves(), expected._leaves(), strict=True):
        torch.testing.assert_close(mine, theirs, equal_nan=True)


def run(
    library: Library, data: Any, declaration: Declaration, seed: int, among: Mapping[str, Builder] = BUILDERS
) -> None:
    """Make an object, and do up to five steps with it."""
    builders = {name: builder for name, builder in among.items() if library.has(name)}
    plain = contents(declaration, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = library.construct(declaration, plain)
        assert_same(value, plain, declaration)
        for _ in range(data.draw(st.integers(1, 5), label="steps")):
            name = data.draw(st.sampled_from(sorted(builders)), label="operation")
            step = data.draw(built(builders[name], plain), label="step")
            if library.differs(step, plain):
                continue
            after = take(library, declaration, value, plain, step)
            if after is None:
                return
            value, plain = after
            if sum(tensor.numel() for tensor in plain.tensors.values()) > 3000:
                return


@st.composite
def built(draw: st.DrawFn, builder: Builder, plain: Plain) -> Step:
    """A step that the object can take, perhaps one that is refused."""
    return builder(draw, plain)


def take(library: Library, declaration: Declaration, value: Any, plain: Plain, step: Step) -> tuple[Any, Plain] | None:
    """Take one step with the object and with the model; None where nothing can follow it."""
    if step.writes or step.contiguous:
        value = library.method(library.method(value, "clone")(), "contiguous")()
        if plain.locked:
            library.method(value, "lock_")()
    second, beside = None, plain
    if CLONE in step.tokens:
        second = library.method(value, "clone")()
    elif OTHER in step.tokens:
        second, beside = library.method(value, "apply")(other), valued(plain, other)
    try:
        expected = step.expected(plain, beside)
    except ERRORS as error:
        note(f"torch refuses {step}: {error}")
        with pytest.raises(Exception) as raised:  # whatever torch or the checks raise
            call(library, value, second, step)
        assert not isinstance(error, IsRagged) or re.search(REFUSED, str(raised.value)), raised.value
        return None if step.writes else (value, plain)
    if step.writes and library.refuses(declaration):
        with pytest.raises(Exception, match="frozen"):
            call(library, value, second, step)
        assert_same(value, plain, declaration)
        return value, plain
    result = call(library, value, second, step)
    if isinstance(expected, Plain):
        stays = plain.locked if result is value else "frozen" in declaration.cls.flags
        expected = replace(expected, locked=stays if step.locked is None else step.locked)
        assert_same(result, expected, declaration)
        return result, expected
    if isinstance(expected, Tensor):
        assert_equal(result, expected, step.name)
    else:
        assert result is expected
    return value, plain


def call(library: Library, value: Any, second: Any, step: Step) -> Any:
    """The step with the object."""

    def taken(value: Any, second: Any) -> Any:
        if step.run is not None:
            result = step.run(value, second)
            return value if result is None else result
        arguments = [second if isinstance(one, str) and one in (OTHER, CLONE) else one for one in step.arguments]
        if step.on_class:
            return getattr(type(value) if library.flags else torch, step.name)([value, second], arguments[1])
        result = library.method(value, step.name)(*arguments, **step.options)
        if step.writes and result is None:
            return value
        return result if step.pick is None else result[step.pick]

    return library.calls(taken, value, second)


def other(tensor: Tensor) -> Tensor:
    """Another tensor of the same shape and dtype."""
    return ~tensor if tensor.dtype is torch.bool else tensor * 2 + 1
