"""Builds a model without its memory: on fake tensors, on meta, or by a recording that can answer questions about values.

Fake tensors know their device, so that a model can be run on them. They have no values: initialisers that read some, such as
`trunc_normal_`, do nothing on meta, so such a model is built there. A constructor that needs a number out of a tensor is recorded
as `deferred_init` records it, which computes the tensors that are asked about and no others. Both get fakes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...large_models.deferred.deferred_init import deferred_init
from ...large_models.fake.context import MODE, fake_mode
from ...large_models.fake.errors import FakeTensorError, NestedTensorError
from .arguments import missing_arguments
from .request import InspectionError
from .silence import aside
from .tensor_memory import storage_key, storage_of
from .user_errors import of_user


def build(factory: Callable[..., object], args: list[object], keywords: dict[str, object]) -> nn.Module:
    """What a class or function makes, with tensors without values: fake ones on the CPU, meta ones, or recorded ones.

    Raises:
        InspectionError: it raises, makes something other than a module, or needs values that nothing has.
    """
    what = f"{getattr(factory, '__name__', 'the factory')}({_written(args, keywords)})"
    try:
        with aside(), fake_mode(fake_cuda=True):
            made = factory(*args, **keywords)
    except NestedTensorError as error:
        raise of_user(what, error) from None
    except FakeTensorError:
        made = _built_otherwise(factory, args, keywords, what)
    except TypeError as error:
        missing = missing_arguments(factory, error)
        raise (InspectionError(missing) if missing else of_user(what, error)) from None
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(what, error) from None
    if not isinstance(made, nn.Module):
        raise InspectionError([f"{what} returned a {type(made).__name__}, not a torch.nn.Module"], is_misuse=False)
    return made


def _written(args: list[object], keywords: dict[str, object]) -> str:
    """The arguments in a message, shortened."""
    parts = [*map(repr, args), *(f"{name}={value!r}" for name, value in keywords.items())]
    text = ", ".join(parts)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _built_otherwise(
    factory: Callable[..., object], args: list[object], keywords: dict[str, object], what: str
) -> object:
    """What the factory makes on meta, or recorded where it reads values there too.

    Raises:
        InspectionError: it fails in both ways.
    """
    try:
        with aside(), torch.device("meta"):
            return factory(*args, **keywords)
    except (RuntimeError, NotImplementedError):  # of meta tensors without values, or of the user's
        pass
    except (Exception, SystemExit) as error:  # whatever code of the user raises
        raise of_user(what, error) from None
    try:
        with aside():
            return deferred_init(factory, *args, **keywords)
    except (Exception, SystemExit) as error:  # likewise, or something that cannot be recorded
        raise of_user(what, error) from None


def on_fakes(model: nn.Module, device: torch.device, dtype: torch.dtype | None) -> nn.Module:
    """The model itself with every tensor replaced by a fake one, in place; ties and shared memory are kept.

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
        self._storages: dict[int, Tensor] = {}
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
        """The fake that stands for a tensor: one for each tensor, and in one memory where they share theirs."""
        if getattr(tensor, "fake_mode", None) is MODE or is_lazy(tensor):
            return tensor
        if tensor.is_nested:
            raise InspectionError(
                ["the model contains a nested tensor, whose sizes are data; use a padded tensor"],
                is_misuse=False,
            )
        if id(tensor) not in self._made:
            self._held.append(tensor)
            fake = self._memory(tensor).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
            if isinstance(tensor, nn.Parameter):
                fake = nn.Parameter(fake, tensor.requires_grad)
            elif tensor.requires_grad:
                fake = fake.detach().requires_grad_()
            self._made[id(tensor)] = fake
        return self._made[id(tensor)]

    def _memory(self, tensor: Tensor) -> Tensor:
        """A flat fake tensor for the memory of another."""
        storage, key = storage_of(tensor), storage_key(tensor)
        device = torch.device("cpu") if tensor.is_meta else tensor.device
        if storage is None or key is None:
            return torch.empty(tensor.numel(), dtype=tensor.dtype, device=device)
        elements = storage.nbytes() // tensor.element_size()
        if key not in self._storages:
            self._storages[key] = torch.empty(elements, dtype=tensor.dtype, device=device)
        found = self._storages[key]
        return found if found.dtype == tensor.dtype else found.view(tensor.dtype)
