"""Builds the model of a target without its memory: on fake tensors, or as a recording where a constructor reads values."""

from __future__ import annotations

import textwrap

import torch
from torch import nn

from ...large_models.deferred.deferred_init import deferred_init
from ...large_models.fake.context import fake_mode
from ...large_models.fake.fake_tensor import FakeTensorError
from .targets import Factory, arguments_for, named, split_call, usable
from .user_code import InspectionError, of_user


def model_of(
    target: str, config: tuple[str, ...] = (), dtype: torch.dtype | None = None, import_roots: tuple[str, ...] = ()
) -> nn.Module:
    """The module that a target names, or the one that it constructs, cast to `dtype`.

    Args:
        target: Where the model is, with arguments or without: `pkg.model:Decoder`, `pkg.model:Decoder(depth=48)`.
        config: More arguments of its constructor: `("depth=48", "dim=8192")`.
        dtype: A floating dtype, or None to leave the model as it is.
        import_roots: Folders to import from, beside `sys.path`.

    Raises:
        InspectionError: The target or an argument is wrong, or the model cannot be built.
    """
    name, arguments = split_call(target)
    arguments = (*arguments, *config)
    found = usable(name, named(name, import_roots))
    if not isinstance(found, nn.Module):
        return build(found, arguments_for(found, arguments), dtype)
    if arguments:
        raise InspectionError([f"{name} is an existing module, which takes no arguments"])
    return found if dtype is None else found.to(dtype=dtype)


def build(factory: Factory, keywords: dict[str, object], dtype: torch.dtype | None = None) -> nn.Module:
    """The module that a class or function makes, with fake tensors or recorded ones.

    A constructor that reads values fails on fake tensors. So it is recorded as `deferred_init` does, which computes the tensors
    that are asked about and no others.

    Raises:
        InspectionError: It raises, makes something other than a module, or needs values that nothing has.
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    what = f"{getattr(factory, '__name__', 'the factory')}({textwrap.shorten(arguments, 80, placeholder='...')})"

    def make() -> object:
        made = factory(**keywords)
        return made.to(dtype=dtype) if isinstance(made, nn.Module) and dtype is not None else made

    try:
        try:
            with fake_mode(fake_cuda=True):
                made = make()
        except FakeTensorError:
            made = deferred_init(make)
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(what, error) from None
    if not isinstance(made, nn.Module):
        raise InspectionError([f"{what} returned a {type(made).__name__}, not a torch.nn.Module"], is_misuse=False)
    return made


def floating_dtype(name: str) -> torch.dtype:
    """The dtype of a name such as `bfloat16`.

    Raises:
        InspectionError: It is no floating or complex dtype of torch.
    """
    found = getattr(torch, name.removeprefix("torch."), None)
    if isinstance(found, torch.dtype) and (found.is_floating_point or found.is_complex):
        return found
    raise InspectionError([f"--dtype: expected a floating dtype such as bfloat16, got {name!r}"])
