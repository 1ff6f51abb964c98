"""Lists what a module holds: parameters, buffers and other tensors, with ties."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ...common.naming import REFERENCE
from ...runtime.module.core.module_base import ModuleBase
from .model_tree import ModuleEntry, TensorEntry, TensorKind
from .tensor_memory import dtype_name


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
