"""How each module of a tree is initialised: by its `reset_parameters`, children before their parents.

The constructor of a module does it in that order too: children are made before the `reset_parameters` of their parent runs, so it
may change what they did. A layer is asked for its `reset_parameters`, or `_reset_parameters` as `nn.MultiheadAttention` calls it.
One class of torch is known here: the parametrization of `spectral_norm` initialises its vectors in its constructor alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import _SpectralNorm

from ..deferred.errors import Program
from ..deferred.recording import Recorder
from .stand_ins import StandIns
from .survey import HeldTensor, Home, Registry

_METHODS = ("reset_parameters", "_reset_parameters")


def method_of(module: nn.Module) -> str | None:
    """The name of the method that initialises a module's own tensors."""
    cls = parametrize.type_before_parametrizations(module)
    return next((name for name in _METHODS if callable(getattr(cls, name, None))), None)


def class_name(module: nn.Module) -> str:
    """The name of the class that somebody wrote."""
    return declared_class(module).__name__


def declared_class(module: nn.Module) -> type[nn.Module]:
    """The class that somebody wrote; parametrizations and `fully_shard` derive another one from it."""
    cls: type[nn.Module] = parametrize.type_before_parametrizations(module)
    is_sharded = any(base.__module__.startswith("torch.distributed.fsdp") for base in cls.__bases__)
    return cls.__bases__[-1] if is_sharded else cls


def description(module: nn.Module) -> str:
    """The initialiser of a module, for the report: `Embedding.reset_parameters`."""
    method = method_of(module)
    cls = class_name(module)
    return "a module above it" if method is None else f"{cls}.{method}"


def children_first(root: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """All modules with their paths, each once, and after its children."""
    seen: set[int] = set()

    def walk(module: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
        seen.add(id(module))
        for name, child in module.named_children():
            if id(child) not in seen:
                yield from walk(child, f"{path}.{name}" if path else name)
        yield path, module

    return walk(root, "")


def program_of(part: str) -> Program:
    """The name of a part of an initialisation in errors of the recording."""
    return Program("materialize()", part, RuntimeError)


def initialise(
    root: nn.Module, stand_ins: StandIns, origins: Mapping[int, Home], recorder: Recorder, without: Container[int] = ()
) -> None:
    """Run the initialisation of every module on the stand-ins that are in its place, and tell the recorder whose it is.

    The modules whose ids are in `without` are initialised already.
    `origins` has the name that each tensor was made under, by the id of the tensor. A module that holds it under another name
    initialises a tensor that nobody keeps, as it did in its constructor before it was tied.
    """
    of_module: dict[int, list[tuple[Home, HeldTensor]]] = {}
    for held in stand_ins.held:
        for home in held.homes:
            of_module.setdefault(id(home.module), []).append((home, held))
    for path, module in children_first(root):
        method = method_of(module)
        if method is None or id(module) in without:
            continue
        places = [
            (home, held) for home, held in of_module.get(id(module), []) if home.registry is not Registry.ATTRIBUTE
        ]
        own = {id(held.tensor) for home, held in places if origins[id(held.tensor)].module is module}
        lost = [(home, held) for home, held in places if id(held.tensor) not in own and not home.is_declared_tie]
        for home, held in lost:
            stand_ins.put(home, _another(stand_ins.at(held)))
        cls = class_name(module)
        recorder.program = program_of(f"{cls}.{method}() of {path}" if path else f"{cls}.{method}()")
        try:
            _run(module, method, stand_ins)
        except Exception as error:
            error.add_note(f"in {cls}.{method}(), which materialize() runs on fake tensors for {path or 'the module'}")
            raise
        for home, held in lost:
            stand_ins.put(home, stand_ins.at(held))
        _follow([held for home, held in places if id(held.tensor) in own], stand_ins, origins)
    _follow(stand_ins.held, stand_ins, origins)


def _follow(held: Iterable[HeldTensor], stand_ins: StandIns, origins: Mapping[int, Home]) -> None:
    """If initialisation replaced a tensor, use the new one under every name."""
    for each in held:
        home = origins[id(each.tensor)]
        if home.registry is not Registry.ATTRIBUTE:
            found = vars(home.module)[home.registry.value].get(home.name)
            if isinstance(found, Tensor) and found is not stand_ins.at(each):
                stand_ins.replaced(each, found)


def _another(fake: Tensor) -> Tensor:
    made = torch.empty_like(fake)
    return nn.Parameter(made, fake.requires_grad) if isinstance(fake, nn.Parameter) else made


def _run(module: nn.Module, method: str, stand_ins: StandIns) -> None:
    """Call the method that initialises a module, on what parametrizations compute where it has some."""
    if not parametrize.is_parametrized(module):
        getattr(module, method)()
        return
    # What a parametrization computes is taken apart again, as it was when it was registered.
    cls = type(module)
    lists: dict[str, parametrize.ParametrizationList] = dict(module.parametrizations.items())  # type: ignore[union-attr, operator] # a ModuleDict of them
    made = {name: _unparametrized(module, name, each) for name, each in lists.items()}
    module.__class__ = parametrize.type_before_parametrizations(module)
    registries = {
        name: "_parameters" if isinstance(tensor, nn.Parameter) else "_buffers" for name, tensor in made.items()
    }
    try:
        for name, tensor in made.items():
            vars(module)[registries[name]][name] = tensor
        getattr(module, method)()
        made = {name: vars(module)[registries[name]][name] for name in made}
    finally:
        for name in made:
            vars(module)[registries[name]].pop(name, None)
        module.__class__ = cls
    for name, each in lists.items():
        stand_ins.unparametrized.append((module, name, made[name]))
        _take_apart(each, made[name])


def _unparametrized(module: nn.Module, name: str, parametrizations: parametrize.ParametrizationList) -> Tensor:
    with torch.no_grad():
        computed: Tensor = getattr(module, name)
        made = torch.empty_like(computed)
    is_parameter = any(True for _ in parametrizations.parameters(recurse=False))
    return nn.Parameter(made) if is_parameter and made.is_floating_point() else made


def _take_apart(parametrizations: parametrize.ParametrizationList, value: Tensor) -> None:
    """Give the original tensors of a parametrization what `register_parametrization` computes from a value."""
    with torch.no_grad():
        for each in reversed(list(parametrizations)):
            if hasattr(each, "right_inverse"):
                try:
                    value = each.right_inverse(value)  # type: ignore[operator] # it has one
                except NotImplementedError:
                    continue
        parts = {"original": value} if isinstance(value, Tensor) else {f"original{i}": t for i, t in enumerate(value)}
        for name, part in parts.items():
            getattr(parametrizations, name).copy_(part)
        _start_spectral_norms(parametrizations)


def _start_spectral_norms(parametrizations: parametrize.ParametrizationList) -> None:
    """Do what the constructor of `torch.nn.utils.parametrizations.spectral_norm` did, for each that has vectors.

    They are drawn, and brought near the singular vectors of the weight as it is now.
    """
    if not any(isinstance(each, _SpectralNorm) for each in parametrizations):
        return
    value: Tensor = parametrizations.original
    for each in parametrizations:
        if isinstance(each, _SpectralNorm) and value.ndim > 1:
            for vector in each.buffers(recurse=False):
                vector.copy_(nn.functional.normalize(vector.normal_(), dim=0, eps=each.eps))
            each._power_method(each._reshape_weight_to_matrix(value), 15)
        value = each(value)
