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


def scripted(name: object, place: Place) -> DeferredError:
    """The error about a module of TorchScript that the program made of deferred tensors."""
    return refused(
        f"the TorchScript module {name}", place, "its tensors cannot be replaced", "script it after it is materialized"
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


def out_of_sight(what: object, place: Place) -> DeferredError:
    """The error about an operation that runs while its tensor is being deferred, and that the recording does not get to see."""
    return DeferredError(
        f"{place}: {what} was called on a deferred tensor where deferred_init cannot record it: in another thread, "
        "with modes switched off, or by a tensor subclass; call it on plain tensors, in the thread that called deferred_init"
    )


def not_given(operation: Operation, slot: int) -> DeferredError:
    """The error about an input of the recorded program that a replay was not given."""
    return DeferredError(
        f"{operation.place}: {operation.overload} needs the values of an input of the recorded function (slot {slot}); "
        "give replay its tensor"
    )


def changed_outside(operation: Operation, place: Place) -> DeferredError:
    """The error about a tensor from outside whose values are gone."""
    return DeferredError(
        f"{place}: a tensor from outside, which {operation.overload} read there, was changed in place since; "
        "materialize before it changes, or give deferred_init a copy"
    )
