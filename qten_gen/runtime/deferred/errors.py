"""Errors of deferred initialisation: what happened, where, and what to do."""

from __future__ import annotations

from .tape import Operation, Place


class DeferredError(RuntimeError):
    """Something was asked of a deferred tensor that it cannot answer, or that could not be recorded."""


def refused(what: object, place: Place, why: str, instead: str = "") -> DeferredError:
    """The error about something that cannot be recorded."""
    return DeferredError(
        f"{place}: deferred_init cannot record {what}: {why}; {instead or 'do it after the module is materialized'}"
    )


def foreign(place: Place) -> DeferredError:
    """The error about a tensor of another recording."""
    return DeferredError(
        f"{place}: the tensor is fake already, and made by another deferred_init or fake_mode; "
        "materialize it before it is used in deferred_init"
    )


def unseen(shown: str, place: Place) -> DeferredError:
    """The error about a tensor that came about without an operation that could be recorded."""
    return DeferredError(
        f"{place}: deferred_init did not see what made the tensor {shown}; "
        "make tensors by operations of torch, in the thread that called deferred_init"
    )


def after_the_context(what: object, place: Place) -> DeferredError:
    """The error about an operation on a deferred tensor that nobody would ever carry out."""
    return DeferredError(
        f"{place}: {what} was called on a deferred tensor, after deferred_init; nothing would carry it out; "
        "call materialize_tensor or materialize_module first"
    )


def failed(operation: Operation, error: BaseException) -> DeferredError:
    """The error about an operation that raised when it was replayed."""
    return DeferredError(
        f"{operation.place}: {operation.overload}, recorded there, failed when it was replayed: {type(error).__name__}: {error}"
    )


def changed_outside(operation: Operation, place: Place) -> DeferredError:
    """The error about a tensor from outside whose values are gone."""
    return DeferredError(
        f"{place}: a tensor from outside, which {operation.overload} read there, was changed in place since; "
        "materialize before it changes, or give deferred_init a copy"
    )
