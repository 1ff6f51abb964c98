"""Builds a model without its memory: on fake tensors, or by a recording that can answer questions about values.

Fake tensors know their device, so that a model can be run on them. A constructor that reads their values is recorded as
`deferred_init` records it, which computes the tensors that are asked about and no others. Its model gets fakes afterwards.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...large_models.deferred.deferred_init import deferred_init
from ...large_models.deferred.references import replace_tensors
from ...large_models.fake.context import MODE, fake_mode
from ...large_models.fake.errors import FakeTensorError
from .request import InspectionError
from .user_code import aside, of_user


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
    modules = list(model.modules())
    passed = set(map(id, modules))
    made: dict[int, tuple[Tensor, Tensor]] = {}

    def fake(tensor: Tensor) -> Tensor:
        """The fake that stands for a tensor, each made once. The tensors are kept, whose ids others would get."""
        if getattr(tensor, "fake_mode", None) is MODE or is_lazy(tensor):
            passed.add(id(tensor))  # torch keeps the value of some in an attribute
            return tensor
        if id(tensor) not in made:
            made[id(tensor)] = (tensor, _fake_like(tensor))
        return made[id(tensor)][1]

    with fake_mode(fake_cuda=True), torch.no_grad():
        replace_tensors([vars(module) for module in modules], fake, passed)
        if dtype is not None or device.type != "cpu":
            try:
                model.to(device=device, dtype=dtype)
            except (Exception, SystemExit) as error:  # of an `_apply` of the user's, or of a model that cannot move
                raise of_user("moving the model", error) from None
    return model


def _fake_like(tensor: Tensor) -> Tensor:
    """A fake tensor like a real one, or like one on meta.

    Raises:
        InspectionError: it is nested.
    """
    if tensor.is_nested:
        raise InspectionError(
            ["the model contains a nested tensor, whose sizes are data; use a padded tensor"],
            is_misuse=False,
        )
    device = torch.device("cpu") if tensor.is_meta else tensor.device
    made = torch.empty(tensor.shape, dtype=tensor.dtype, device=device)
    return (
        nn.Parameter(made, tensor.requires_grad)
        if isinstance(tensor, nn.Parameter)
        else made.requires_grad_(tensor.requires_grad)
    )
