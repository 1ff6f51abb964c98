"""The content of a model, as data: a tree of modules and their tensors, with ties; sums over it, and the needs of training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...common.naming import REFERENCE
from ...runtime.module.core.module_base import ModuleBase
from .shapes_of_values import dtype_name

TensorKind = Literal["parameter", "buffer", "attribute"]


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor under one of its names."""

    name: str
    """Its name in its module: `weight`."""
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
    """Whether a buffer is in the state dict."""
    tied_to: str | None = None
    """The path under which the same tensor came first."""
    is_initialised: bool = True
    """Whether it has a shape: a tensor of a lazy module, such as `nn.LazyLinear`, gets one when the module is first called."""


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """A module under one of its names, with what it holds."""

    name: str
    path: str
    """Its name in the model, empty for the model itself."""
    kind: str
    """The name of its class."""
    tensors: tuple[TensorEntry, ...]
    children: tuple[ModuleEntry, ...]
    same_as: str | None = None
    """The path under which the same module came first; then tensors and children are listed there."""
    parameters: int = field(init=False)
    """The elements of its parameters and those of its children."""
    bytes: int = field(init=False)
    """The memory of all its tensors."""

    def __post_init__(self) -> None:
        own = sum(entry.elements for entry in self.tensors if entry.kind == "parameter")
        size = sum(entry.bytes for entry in self.tensors)
        object.__setattr__(self, "parameters", own + sum(child.parameters for child in self.children))
        object.__setattr__(self, "bytes", size + sum(child.bytes for child in self.children))

    def all_tensors(self) -> Iterator[TensorEntry]:
        """Its tensors, then those of its children."""
        for entry in self.all_modules():
            yield from entry.tensors

    def all_modules(self) -> Iterator[ModuleEntry]:
        """Itself, then its children, however deep they nest."""
        waiting: list[ModuleEntry] = [self]
        while waiting:
            entry = waiting.pop()
            yield entry
            waiting.extend(reversed(entry.children))


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


def totals_of(tree: ModuleEntry) -> Totals:
    """The sums over a model."""
    entries = [entry for entry in tree.all_tensors() if entry.tied_to is None]
    buffers = [entry for entry in entries if entry.kind == "buffer"]
    parameters = [entry for entry in entries if entry.kind == "parameter"]
    trained = [entry for entry in parameters if entry.requires_grad and entry.is_initialised]
    return Totals(
        amount(parameters),
        amount(trained),
        amount(buffers),
        amount(entry for entry in buffers if not entry.persistent),
        amount(entry for entry in entries if entry.kind == "attribute"),
        _by(entries, lambda entry: entry.dtype),
        _by(entries, lambda entry: entry.device),
        2 * amount(trained).bytes + _STEP * len(trained),
    )


_STEP = 4
"""The bytes of a counter of steps, which AdamW keeps for each parameter beside two moments of its dtype."""


def amount(entries: Iterable[TensorEntry]) -> Amount:
    """The sum over some tensors."""
    found = list(entries)
    return Amount(sum(entry.elements for entry in found), sum(entry.bytes for entry in found))


def _by(entries: list[TensorEntry], key: Callable[[TensorEntry], str]) -> dict[str, Amount]:
    names = dict.fromkeys(map(key, entries))
    found = {name: amount(entry for entry in entries if key(entry) == name) for name in names}
    return dict(sorted(found.items(), key=lambda item: (-item[1].bytes, item[0])))


def contents_of(model: nn.Module) -> ModuleEntry:
    """The tree of a model. A tensor or module that has several names is counted under the first."""
    return _Walk().module(model, "", "")


class _Walk:
    """The state of a walk."""

    def __init__(self) -> None:
        self._modules: dict[int, str] = {}
        self._tensors: dict[int, str] = {}

    def module(self, module: nn.Module, name: str, path: str) -> ModuleEntry:
        """The entry of a module and of all below it. One that was met before refers to its first path."""
        kind = type(module).__name__
        if id(module) in self._modules:
            return ModuleEntry(name, path, kind, (), (), self._modules[id(module)])
        self._modules[id(module)] = path
        tensors = tuple(self._tensor(*found, path, module) for found in _tensors(module))
        children = tuple(
            self.module(child, child_name, _joined(path, child_name))
            for child_name, child in module._modules.items()
            if child is not None
        )
        return ModuleEntry(name, path, kind, tensors, children)

    def _tensor(self, name: str, kind: TensorKind, tensor: Tensor, owner: str, module: nn.Module) -> TensorEntry:
        """The entry of a tensor. Elements and bytes count under the first of its names."""
        path = _joined(owner, name)
        first = self._tensors.setdefault(id(tensor), _joined(owner, _declared_tie(module, name, tensor) or name))
        tied_to = first if first != path else None
        is_initialised = not is_lazy(tensor)
        elements = 0 if tied_to or not is_initialised else tensor.numel()
        return TensorEntry(
            name,
            path,
            kind,
            tuple(tensor.shape) if is_initialised else (),
            dtype_name(tensor),
            str(tensor.device),
            elements,
            elements * tensor.dtype.itemsize,
            tensor.requires_grad,
            kind == "parameter" or (kind == "buffer" and name not in module._non_persistent_buffers_set),
            tied_to,
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
    """The tensors of a module itself. The empty buffer that tells virtual tensors their dtype is left out."""
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
