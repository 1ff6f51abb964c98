"""The modules and tensors of a model as data, in the order of a walk, with ties; and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...common.naming import REFERENCE
from ...runtime.module.module_base import ModuleBase
from .user_code import InspectionError

TensorKind = Literal["parameter", "buffer", "attribute"]


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor under one of its names."""

    path: str
    """Its name in the model: `blocks.0.norm.weight`."""
    kind: TensorKind
    """An `attribute` is neither parameter nor buffer, so that neither `.to` nor the state dict knows it."""
    shape: tuple[int, ...]
    dtype: str
    """Torch's name: `float32`."""
    device: str
    elements: int
    """Its elements; 0 under a name that is tied to an earlier one."""
    bytes: int
    """The memory of these elements."""
    requires_grad: bool = False
    persistent: bool = True
    """A buffer that is not persistent is not in the state dict."""
    tied_to: str | None = None
    """The path under which the same tensor came first."""
    is_initialised: bool = True
    """False for a tensor of a lazy module, such as `nn.LazyLinear`, which gets a shape when the module is first called."""


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """A module under one of its names."""

    path: str
    """Its name in the model, empty for the model itself."""
    kind: str
    """The name of its class."""
    parameters: int = 0
    """The elements of its parameters, its children included."""
    bytes: int = 0
    """The memory of all its tensors."""
    same_as: str | None = None
    """The path under which the same module came first; then tensors and children are listed there."""


Entry = ModuleEntry | TensorEntry


def contents_of(model: nn.Module) -> list[Entry]:
    """Each module, followed by its tensors and then its children. What has several names counts under the first."""
    return _Walk().of(model, "")


def tensors_of(entries: Iterable[Entry]) -> list[TensorEntry]:
    """The tensors among some entries."""
    return [entry for entry in entries if isinstance(entry, TensorEntry)]


class _Walk:
    """The first path of each module and tensor that was met, by its id."""

    def __init__(self) -> None:
        self._modules: dict[int, str] = {}
        self._tensors: dict[int, str] = {}

    def of(self, module: nn.Module, path: str) -> list[Entry]:
        """The entries of a module and of all below it."""
        kind = type(module).__name__
        if id(module) in self._modules:
            return [ModuleEntry(path, kind, same_as=self._modules[id(module)])]
        self._modules[id(module)] = path
        below: list[Entry] = [self._tensor(*found, path, module) for found in _tensors(module)]
        for name, child in module._modules.items():
            if child is not None:
                below += self.of(child, _joined(path, name))
        tensors = tensors_of(below)
        elements = sum(entry.elements for entry in tensors if entry.kind == "parameter")
        return [ModuleEntry(path, kind, elements, sum(entry.bytes for entry in tensors)), *below]

    def _tensor(self, name: str, kind: TensorKind, tensor: Tensor, owner: str, module: nn.Module) -> TensorEntry:
        """The entry of a tensor. Elements and bytes count under the first of its names."""
        path = _joined(owner, name)
        if tensor.is_nested:
            problem = f"{path} is a nested tensor, whose sizes are data; use a padded tensor"
            raise InspectionError([problem], is_misuse=False)
        first = self._tensors.setdefault(id(tensor), _joined(owner, _declared_tie(module, name, tensor) or name))
        is_initialised = not is_lazy(tensor)
        elements = 0 if first != path or not is_initialised else tensor.numel()
        return TensorEntry(
            path,
            kind,
            tuple(tensor.shape) if is_initialised else (),
            str(tensor.dtype).removeprefix("torch."),
            str(tensor.device),
            elements,
            elements * tensor.dtype.itemsize,
            tensor.requires_grad,
            kind == "parameter" or (kind == "buffer" and name not in module._non_persistent_buffers_set),
            first if first != path else None,
            is_initialised,
        )


def _declared_tie(module: nn.Module, name: str, tensor: Tensor) -> str | None:
    """The path that the declaration of a module ties a name to; None where there is no tie, or the user has cut it."""
    path = module._tied.get(name) if isinstance(module, ModuleBase) else None
    if path is None:
        return None
    holder, _, leaf = path.rpartition(".")
    try:
        return path if getattr(module.get_submodule(holder), leaf, None) is tensor else None
    except AttributeError:
        return None


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _tensors(module: nn.Module) -> list[tuple[str, TensorKind, Tensor]]:
    """The tensors of a module itself, without the empty buffer that tells virtual tensors their dtype."""
    homes: tuple[tuple[TensorKind, Mapping[str, object]], ...] = (
        ("parameter", module._parameters),
        ("buffer", module._buffers),
        ("attribute", vars(module)),
    )
    return [
        (name, kind, value)
        for kind, home in homes
        for name, value in home.items()
        if isinstance(value, Tensor) and name != REFERENCE
    ]


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of elements, and their memory."""

    elements: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums over a model. A tensor with several names is counted once."""

    parameters: Amount
    trainable: Amount
    """The parameters that require a gradient, so the memory of gradients too."""
    buffers: Amount
    unsaved_buffers: Amount
    """The buffers that are not in the state dict."""
    attributes: Amount
    """Tensors that are neither parameters nor buffers."""
    by_dtype: Mapping[str, Amount]
    """Of all tensors, the largest amount first."""
    by_device: Mapping[str, Amount]
    adamw: int
    """The memory of the states of `torch.optim.AdamW`."""


_STEP = 4
"""The bytes of the step counter that AdamW keeps for each parameter, beside two moments of its dtype."""


def totals_of(entries: Iterable[Entry]) -> Totals:
    """The sums over a model."""
    tensors = [entry for entry in tensors_of(entries) if entry.tied_to is None]
    buffers = [entry for entry in tensors if entry.kind == "buffer"]
    parameters = [entry for entry in tensors if entry.kind == "parameter"]
    trained = [entry for entry in parameters if entry.requires_grad and entry.is_initialised]
    return Totals(
        _amount(parameters),
        _amount(trained),
        _amount(buffers),
        _amount([entry for entry in buffers if not entry.persistent]),
        _amount([entry for entry in tensors if entry.kind == "attribute"]),
        _by(tensors, lambda entry: entry.dtype),
        _by(tensors, lambda entry: entry.device),
        2 * _amount(trained).bytes + _STEP * len(trained),
    )


def _amount(entries: Sequence[TensorEntry]) -> Amount:
    return Amount(sum(entry.elements for entry in entries), sum(entry.bytes for entry in entries))


def _by(entries: Sequence[TensorEntry], key: Callable[[TensorEntry], str]) -> dict[str, Amount]:
    names = dict.fromkeys(map(key, entries))
    found = {name: _amount([entry for entry in entries if key(entry) == name]) for name in names}
    return dict(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0])))
