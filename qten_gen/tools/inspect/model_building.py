"""Builds a model without its memory: on fake tensors, or by a recording that can answer questions about values.

Fake tensors know their device, so that a model can be run on them. A constructor that reads their values is recorded as
`deferred_init` records it, which computes the tensors that are asked about and no others. Its model gets fakes afterwards.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...large_models.deferred.deferred_init import deferred_init
from ...large_models.fake.context import MODE, fake_mode
from ...large_models.fake.errors import FakeTensorError
from .request import InspectionError
from .silence import aside
from .user_errors import of_user


def build(factory: Callable[..., object], keywords: Mapping[str, object]) -> nn.Module:
    """The result of a class or function, with tensors without values: fake ones on the CPU, or recorded ones.

    Raises:
        InspectionError: it raises, makes something other than a module, or needs values that nothing has.
    """
    arguments = ", ".join(f"{name}={value!r}" for name, value in keywords.items())
    what = f"{getattr(factory, '__name__', 'the factory')}({textwrap.shorten(arguments, 80, placeholder='...')})"
    try:
        with aside():
            try:
                with fake_mode(fake_cuda=True):
                    made = factory(**keywords)
            except FakeTensorError:
                made = deferred_init(factory, **keywords)
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(what, error) from None
    if not isinstance(made, nn.Module):
        raise InspectionError([f"{what} returned a {type(made).__name__}, not a torch.nn.Module"], is_misuse=False)
    return made


def on_fakes(model: nn.Module, device: torch.device, dtype: torch.dtype | None) -> nn.Module:
    """The model itself with every tensor replaced by a fake one, in place; ties are kept.

    A model that has fakes already keeps them. Then it is moved and cast as `model.to(device, dtype)` does, so that tensors which
    the model does not know of stay where they are.
    """
    with fake_mode(fake_cuda=True), torch.no_grad():
        swap = _Swap()
        for module in model.modules():
            for home in (module._parameters, module._buffers, vars(module)):
                swap.values_of(home)
        if dtype is not None or device.type != "cpu":
            try:
                model.to(device=device, dtype=dtype)
            except (Exception, SystemExit) as error:  # of an `_apply` of the user's, or of a model that cannot move
                raise of_user("moving the model", error) from None
    return model


class _Swap:
    """Fake tensors for the real and meta ones of a model, each made once."""

    def __init__(self) -> None:
        self._made: dict[int, Tensor] = {}
        self._held: list[Tensor] = []

    def values_of(self, home: dict[str, Any]) -> None:
        """Replace the tensors in a dict, and those in lists, tuples and dicts in it."""
        for name, value in list(home.items()):
            if isinstance(value, (Tensor, list, tuple, dict)) and name not in ("_parameters", "_buffers", "_modules"):
                new = self._replaced(value)
                if new is not value:
                    home[name] = new

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self._fake(value)
        if type(value) is list and any(isinstance(item, Tensor) for item in value):
            return [self._replaced(item) for item in value]
        if type(value) is tuple and any(isinstance(item, Tensor) for item in value):
            return tuple(self._replaced(item) for item in value)
        if type(value) is dict and any(isinstance(item, Tensor) for item in value.values()):
            return {key: self._replaced(item) for key, item in value.items()}
        return value

    def _fake(self, tensor: Tensor) -> Tensor:
        """The fake that stands for a tensor."""
        if getattr(tensor, "fake_mode", None) is MODE or is_lazy(tensor):
            return tensor
        if tensor.is_nested:
            raise InspectionError(
                ["the model contains a nested tensor, whose sizes are data; use a padded tensor"],
                is_misuse=False,
            )
        if id(tensor) not in self._made:
            self._held.append(tensor)
            device = torch.device("cpu") if tensor.is_meta else tensor.device
            fake = torch.empty(tensor.shape, dtype=tensor.dtype, device=device)
            if isinstance(tensor, nn.Parameter):
                fake = nn.Parameter(fake, tensor.requires_grad)
            else:
                fake.requires_grad_(tensor.requires_grad)
            self._made[id(tensor)] = fake
        return self._made[id(tensor)]
