"""The names of parameters, buffers, submodules and state dict entries of a Module, as far as declarations tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model import (
    BufferDecl,
    ClassSource,
    ConfigDecl,
    Declaration,
    Dim,
    ModuleDecl,
    ModuleField,
    ParameterDecl,
    SubmoduleDecl,
)
from ..model.field_kinds import child_class
from .held_modules import may_be_module

_AFFINE = ("weight", "bias")
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        """
        Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d GroupNorm LayerNorm Linear BatchNorm1d
        BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d SyncBatchNorm
        """.split(),
        _AFFINE,
    ),
    **dict.fromkeys("Embedding EmbeddingBag PReLU RMSNorm".split(), ("weight",)),
    **dict.fromkeys("GRUCell LSTMCell RNNCell".split(), ("weight_ih", "weight_hh", "bias_ih", "bias_hh")),
    **dict.fromkeys(
        """
        AlphaDropout CosineSimilarity Dropout Dropout1d Dropout2d Dropout3d ELU Flatten Fold GELU GLU Hardsigmoid Hardswish
        Hardtanh Identity LeakyReLU LocalResponseNorm LogSoftmax MaxPool1d MaxPool2d MaxPool3d Mish AvgPool1d AvgPool2d AvgPool3d
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d PixelShuffle
        PixelUnshuffle ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmin Softplus Softsign Tanh Unflatten Unfold Upsample ZeroPad1d
        ZeroPad2d ZeroPad3d
        """.split(),
        (),
    ),
}
"""The parameters of layers of torch that contain no modules, by the name of the class. Arguments can leave some of them out."""
COMPUTED = frozenset({"torch.nn.GRU", "torch.nn.LSTM", "torch.nn.RNN"})
"""Layers that contain neither modules nor buffers, whose parameters have names that arguments decide."""


class TensorNames(NamedTuple):
    """Dotted names below a module. They are `complete` where every child is a declared class under a name that is written out."""

    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    """Those in the state dict, in its order."""
    complete: bool = True
    children: tuple[str, ...] = ()
    """Submodules below it."""
    knows_children: bool = True
    """Whether these, and the buffers, are all that there are: layers of torch have none."""

    def below(self, prefix: str) -> TensorNames:
        """The same names with what leads to them."""
        parts = (self.parameters, self.buffers, self.state)
        parameters, buffers, state = (tuple(f"{prefix}.{name}" for name in part) for part in parts)
        children = (prefix, *(f"{prefix}.{name}" for name in self.children))
        return TensorNames(parameters, buffers, state, self.complete, children, self.knows_children)

    def and_(self, other: TensorNames) -> TensorNames:
        """These names and those of another part of the module."""
        return TensorNames(
            (*self.parameters, *other.parameters),
            (*self.buffers, *other.buffers),
            (*self.state, *other.state),
            self.complete and other.complete,
            (*self.children, *other.children),
            self.knows_children and other.knows_children,
        )


_UNKNOWN = TensorNames(complete=False, knows_children=False)


def tensor_names(
    declaration: ModuleDecl,
    related: Mapping[str, Declaration],
    classes: Mapping[str, ClassSource],
    above: tuple[ModuleDecl, ...] = (),
) -> TensorNames:
    """The names below a module; `above` are the classes that it stands in, because a class may hold itself.

    `classes` are the plain classes of the run, which arguments may be objects of.
    """
    if declaration.custom_init or declaration in above:
        return _UNKNOWN
    own = [field for field in declaration.fields if isinstance(field, ParameterDecl)]
    parameters = tuple(name for field in own for name in _of_parameter(field))
    buffers = [field for field in declaration.fields if isinstance(field, BufferDecl)]
    persistent = tuple(field.name for field in buffers if field.persistent)
    found = TensorNames(parameters, tuple(field.name for field in buffers), (*parameters, *persistent))
    if declaration.post_init:
        found = found._replace(knows_children=False)
    if any(not _is_complete(field, related, classes) for field in declaration.fields):
        found = found.and_(_UNKNOWN)
    for field in declaration.fields:
        if isinstance(field, SubmoduleDecl):
            if field.repeat is not None or field.keys is not None:
                found = found._replace(children=(*found.children, field.name))
            inside = _inside(field, related, classes, (*above, declaration))
            for prefix in _prefixes(field):
                found = found.and_(_UNKNOWN if prefix is None else inside.below(prefix))
    return found


def _of_parameter(field: ParameterDecl) -> tuple[str, ...]:
    """The names of a parameter, or of those in a list or dict as far as they are known."""
    match field:
        case ParameterDecl(repeat=None, keys=None):
            return (field.name,)
        case ParameterDecl(repeat=Dim(number=int(count))):
            return tuple(f"{field.name}.{index}" for index in range(count))
        case ParameterDecl(keys=tuple(keys)):
            return tuple(f"{field.name}.{key}" for key in keys)
    return ()


def _is_complete(field: ModuleField, related: Mapping[str, Declaration], classes: Mapping[str, ClassSource]) -> bool:
    """Whether the names of what a field registers are known, apart from those in children that it constructs."""
    if isinstance(field, ParameterDecl):
        is_counted = field.repeat is not None and field.repeat.number is not None
        return not field.is_several or is_counted or isinstance(field.keys, tuple)
    return not isinstance(field, ConfigDecl) or not may_be_module(field.type, related, classes)


def _inside(
    field: SubmoduleDecl,
    related: Mapping[str, Declaration],
    classes: Mapping[str, ClassSource],
    above: tuple[ModuleDecl, ...],
) -> TensorNames:
    """The names in a child, where it is made by calling the very class that the annotation names."""
    child = child_class(field.type)
    declared = related.get(child.name)
    same = field.cls.text.rpartition(".")[2] == child.name.rpartition(".")[2]
    if isinstance(declared, ModuleDecl) and same:
        return tensor_names(declared, related, classes, above)
    return of_torch(child.name) if field.cls.name == child.name else _UNKNOWN


def of_torch(name: str) -> TensorNames:
    """The names in a layer of torch, by its qualified name."""
    layer = name.removeprefix("torch.nn.")
    if name in COMPUTED:
        return TensorNames(complete=False)
    if layer == name or layer not in PARAMETERS:
        return _UNKNOWN
    buffers = _STATISTICS if "BatchNorm" in layer or "InstanceNorm" in layer else ()
    parameters = PARAMETERS[layer]
    return TensorNames(parameters, buffers, (*parameters, *buffers))


def _prefixes(field: SubmoduleDecl) -> Iterator[str | None]:
    """What leads to the child, or to each of several; None where that is known at run time only."""
    match field:
        case SubmoduleDecl(inner=SubmoduleDecl()):
            yield None
        case SubmoduleDecl(repeat=Dim(number=int(count))):
            yield from (f"{field.name}.{index}" for index in range(count))
        case SubmoduleDecl(keys=tuple(keys)):
            yield from (f"{field.name}.{key}" for key in keys)
        case SubmoduleDecl(repeat=None, keys=None):
            yield field.name
        case _:
            yield None
