"""Errors of recording and replay: what happened, where in the user's code, and what to do."""

from __future__ import annotations

import contextlib
import copy
import functools
import os
import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import cast

import torch
from torch import Tensor, nn

from .tape import Operation, Place


class DeferredError(RuntimeError):
    """Something was asked of a deferred tensor that it cannot answer, or that could not be recorded."""


@dataclass(frozen=True, slots=True)
class Program:
    """The recorded program, in the words of errors.

    recorder: the function that records, as the user called it.
    part: what of the program runs, `Linear.reset_parameters() of layers.0`; empty if the recorder runs it all.
    error: the class of errors.
    """

    recorder: str = "deferred_init"
    part: str = ""
    error: type[RuntimeError] = DeferredError


def refused(program: Program, what: object, place: Place, why: str, instead: str = "") -> RuntimeError:
    """The error about something that cannot be recorded."""
    return program.error(
        f"{place}: {program.recorder} cannot record {what}{_within(program)}: {why}; "
        f"{instead or 'do it after the module is materialized'}"
    )


def with_init(program: Program, name: str, place: Place) -> RuntimeError:
    """The error about a parameter of a class with a constructor of its own."""
    why = "Python does not call the `__init__` of its class on a deferred tensor"
    return refused(program, name, place, why, "set attributes in `__new__`, or on an nn.Parameter")


def hidden(program: Program, what: object, shown: str, place: Place) -> RuntimeError:
    """The error about an operation that runs where the recording does not get to see it."""
    return refused(
        program, f"{what} on {shown}", place, "modes are switched off there, so nothing would fill it", "leave them on"
    )


def foreign(program: Program, place: Place, made_at: Place | None) -> RuntimeError:
    """The error about a tensor of another recording."""
    return program.error(
        f"{place}: the tensor is fake already, and made by another deferred_init or fake_mode; "
        f"materialize it before it is used in {program.part or program.recorder}{_cached(made_at)}"
    )


def _cached(made_at: Place | None) -> str:
    """Advice on a tensor that may have been kept by a cache, such as `functools.lru_cache`, around the line that made it."""
    return f", or, if a cache kept it, clear the cache: {made_at} made it" if made_at is not None else ""


def unseen(program: Program, shown: str, place: Place) -> RuntimeError:
    """The error about a tensor that came about without an operation that could be recorded."""
    return program.error(
        f"{place}: {program.recorder} did not see what made the tensor {shown}{_within(program)}; "
        f"make tensors by operations of torch, in the thread that called {program.recorder}"
    )


def _within(program: Program) -> str:
    return program.part and f" in {program.part}"


def after_the_context(what: object, place: Place, made_at: Place | None) -> DeferredError:
    """The error about an operation on a deferred tensor that nobody would ever carry out."""
    return DeferredError(
        f"{place}: {what} was called on a deferred tensor, after deferred_init returned, so it cannot be recorded; "
        f"call materialize_tensor or materialize_module first{_cached(made_at)}"
    )


def materialized(what: object, place: Place) -> DeferredError:
    """The error about a deferred tensor that is used where the tensor that it has become is meant."""
    return DeferredError(
        f"{place}: {what} was used on a deferred tensor that is materialized by now; the module has another tensor in its place; "
        "make optimizers and lists of parameters after materialize_module, or ask materialize_tensor for the tensor"
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
        "materialize before it changes, or let the program read a copy"
    )


_LIBRARIES = (
    os.path.dirname(torch.__file__) + os.sep,
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep,
    *(cast(str, module.__file__) for module in (contextlib, copy, functools)),
)
"""The folders of torch and of this package, and what calls functions for others: their lines are not the user's."""

_MAKING = nn.Parameter.__new__.__code__
"""The constructor that makes a tensor object of a class which only its frame tells. Hashes of code are slow."""


def caller() -> tuple[Place, type[Tensor] | None]:
    """The innermost line that belongs neither to torch nor to this package, and the class of a parameter that is being made."""
    frame: FrameType | None = sys._getframe(1)
    made: type[Tensor] | None = None
    outermost = frame
    while frame is not None:
        code = frame.f_code
        if code is _MAKING and made is None:
            made = cast("type[Tensor]", frame.f_locals["cls"])
        if not code.co_filename.startswith(_LIBRARIES):
            return Place(code.co_filename, frame.f_lineno), made
        outermost, frame = frame, frame.f_back
    return Place(outermost.f_code.co_filename, outermost.f_lineno), made  # type: ignore[union-attr] # there is always a frame


def is_inside(functions: tuple[CodeType, ...]) -> bool:
    """Whether one of the functions is being called, within the libraries."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        if frame.f_code in functions:
            return True
        frame = frame.f_back
    return False
