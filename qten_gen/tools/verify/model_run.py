"""Builds a model from a seed, runs it, and records what it holds and computes.

Memory that a constructor does not write would differ from run to run. So torch fills it with NaN here, and tensors that still
hold NaN get random numbers before the model runs.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.deterministic
from torch import Tensor, nn

from ...runtime.declaring.fields import Default
from ...runtime.tensorclass.core.construction import DEFAULT
from ...runtime.tensorclass.core.stored import Stored
from ..inspect.inputs import Inputs
from .model_record import Argument, Call, Leaf, Record

_deterministic: Any = torch.utils.deterministic  # its property is one of the module's class, which checkers do not see

_PLAIN = (int, float, complex, str, bytes, bool, type(None), torch.dtype, torch.device, torch.Size, range, slice)
_OWN = frozenset(vars(nn.Module())) | {"_virtual_values"}
"""The attributes that every module has."""


def record(
    factory: Callable[..., object],
    args: list[object],
    keywords: Mapping[str, object],
    inputs: Callable[[nn.Module], Inputs] | None = None,
    seed: int = 0,
) -> Record:
    """Build a model and record it.

    Args:
        factory: A class, or a function that makes a module.
        args: Its positional arguments.
        keywords: Its keyword arguments.
        inputs: Gives the arguments of forward for the model; None to call nothing.
        seed: The seed of torch's generator, for the constructor and for each call.

    Raises:
        TypeError: the factory makes something other than a module.
    """
    with _reproducible():
        torch.manual_seed(seed)
        model = factory(*args, **keywords)
        random_state = torch.get_rng_state()
        if not isinstance(model, nn.Module):
            raise TypeError(f"expected an nn.Module, got {type(model).__name__}")
        held = _held(factory, args, keywords, model, random_state)
        if inputs is None:
            return held
        _fill(model, held.unwritten, seed)
        given = inputs(model)
        calls = {
            name: _called(model, given, training, seed) for name, training in (("training", True), ("eval", False))
        }
        return dataclasses.replace(held, calls=calls)


@contextmanager
def _reproducible() -> Iterator[None]:
    """One thread, and memory that holds NaN until it is written. Everything is put back afterwards, random numbers too."""
    enabled, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    threads, state, fills = torch.get_num_threads(), torch.get_rng_state(), _deterministic.fill_uninitialized_memory
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    _deterministic.fill_uninitialized_memory = True
    try:
        yield
    finally:
        _deterministic.fill_uninitialized_memory = fills
        torch.use_deterministic_algorithms(enabled, warn_only=warns)
        torch.set_num_threads(threads)
        torch.set_rng_state(state)


def _held(
    factory: Callable[..., object], args: list[object], keywords: Mapping[str, object], model: nn.Module, random: Tensor
) -> Record:
    """Everything but the calls."""
    arguments, others = _arguments(factory)
    state = {name: value.detach().clone() for name, value in model.state_dict().items() if isinstance(value, Tensor)}
    buffers = {
        name: value.detach().clone() for name, value in model.named_buffers(remove_duplicate=False) if name not in state
    }
    return Record(
        arguments=arguments,
        takes_others=others,
        config=_config(factory, args, keywords),
        tree=tuple(_line(path, module) for path, module in model.named_modules(remove_duplicate=False)),
        state=state,
        parameters=_parameters(model),
        buffers=buffers,
        attributes=dict(_attributes(model)),
        random_state=random,
        unwritten=tuple(name for name, value in (state | buffers).items() if _has_nan(value)),
        homes=tuple(sorted({_home(type(module)) for module in model.modules()})),
    )


def _arguments(factory: Callable[..., object]) -> tuple[tuple[Argument, ...], bool]:
    """The parameters of a constructor, and whether it takes keywords of any name."""
    signature = _signature(factory)
    if signature is None:
        return (), True
    parameters = signature.parameters.values()
    found = tuple(
        Argument(
            each.name,
            each.kind is not each.KEYWORD_ONLY,
            None if each.default is each.empty else _text(each.default),
        )
        for each in parameters
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    )
    return found, any(each.kind is each.VAR_KEYWORD for each in parameters)


def _signature(factory: Callable[..., object]) -> inspect.Signature | None:
    """The signature of a constructor, if it has one. nn.Module writes `*args, **kwargs` in its own, and takes nothing."""
    if isinstance(factory, type) and getattr(factory, "__init__", None) is nn.Module.__init__:
        return inspect.Signature()
    try:
        found = inspect.signature(factory)
    except (TypeError, ValueError):
        return None
    return found.replace(parameters=[_with_made_default(each, factory) for each in found.parameters.values()])


def _with_made_default(parameter: inspect.Parameter, factory: Callable[..., object]) -> inspect.Parameter:
    """A parameter whose default is what its `default_factory` makes."""
    fields = {alias: name for name, alias in getattr(factory, "_aliases", {}).items()}
    defaults: Mapping[str, Default] = getattr(factory, "_defaults", {})
    made = defaults.get(fields.get(parameter.name, parameter.name))
    if made is None or not made.is_factory or parameter.default is not DEFAULT:
        return parameter
    return parameter.replace(default=made.value())  # type: ignore[operator] # a factory is callable


def _config(factory: Callable[..., object], args: list[object], keywords: Mapping[str, object]) -> dict[str, str]:
    """The argument for each parameter of the constructor."""
    signature = _signature(factory)
    if signature is None:
        return {}
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError:
        return {}
    bound.apply_defaults()
    others = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    unused = [name for name, each in signature.parameters.items() if each.kind in others and not bound.arguments[name]]
    return {name: _text(value) for name, value in bound.arguments.items() if name not in unused}


def _parameters(model: nn.Module) -> dict[str, str]:
    """The parameters in their order."""
    first: dict[int, str] = {}
    found = {}
    for name, value in model.named_parameters(remove_duplicate=False):
        tied = first.setdefault(id(value), name)
        gradient = "with a gradient" if value.requires_grad else "without a gradient"
        found[name] = gradient if tied == name else f"{gradient}, tied to {tied}"
    return found


def _line(path: str, module: nn.Module) -> str:
    """A module in the tree. A declared class says its arguments, which no nn.Module does, so they are left out."""
    says = type(module).extra_repr
    own = "" if says.__module__.startswith("qten_gen.") else module.extra_repr()
    mode = "" if module.training else " in evaluation mode"
    return f"{path or 'the model'}: {type(module).__name__}({own}){mode}"


def _home(kind: type) -> str:
    return str(getattr(sys.modules.get(kind.__module__), "__file__", "") or "")


def _attributes(model: nn.Module) -> Iterator[tuple[str, Leaf]]:
    """The public attributes of all modules that are neither registered nor nn.Module's own."""
    for path, module in model.named_modules():
        if type(module).__module__.startswith("torch."):
            continue  # their own constructor made them
        held = [module._parameters, module._buffers, module._modules]
        nothing = {name: None for registry in held for name, value in registry.items() if value is None}
        for name, value in {**vars(module), **nothing}.items():
            if name not in _OWN and not isinstance(value, nn.Module):
                yield (
                    f"{path}.{name}".lstrip("."),
                    value.detach().clone() if isinstance(value, Tensor) else _text(value),
                )


def _text(value: object) -> str:
    """A value as text that is the same in every process: no addresses, and functions and classes by their names."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        inner = ", ".join(map(_text, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if type(value) is dict:
        return "{" + ", ".join(f"{_text(key)}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Tensor):
        return f"Tensor {value.dtype} {list(value.shape)}"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__} {sorted(map(_text, value))}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [f"{field.name}={_text(getattr(value, field.name, None))}" for field in dataclasses.fields(value)]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, _PLAIN):
        return repr(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__).replace(".__init__.<locals>", ".__post_init__.<locals>")  # adopt moves it there
    return f"an object of {type(value).__name__}"


def _has_nan(value: Tensor) -> bool:
    if not (value.is_floating_point() or value.is_complex()) or value.is_meta or value.layout is not torch.strided:
        return False
    return bool(value.isnan().any())


def _fill(model: nn.Module, names: tuple[str, ...], seed: int) -> None:
    """Give tensors that nobody wrote random values, the same in both processes."""
    if not names:
        return
    generator = torch.Generator().manual_seed(seed)
    tensors = {
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }
    with torch.no_grad():
        for name in sorted(names):
            if name in tensors:
                tensors[name].copy_(torch.randn(tensors[name].shape, generator=generator))


def _called(model: nn.Module, inputs: Inputs, training: bool, seed: int) -> Call:
    """Run forward and backward in one mode."""
    model.train(training)
    model.zero_grad()
    inputs = copy.deepcopy(inputs)  # which forward may change
    given = {str(index): value for index, value in enumerate(inputs.args)} | dict(inputs.keywords)
    sources = {f"input {name}": value for name, value in _leaves("", given) if isinstance(value, Tensor)}
    for tensor in sources.values():
        if tensor.is_floating_point():
            tensor.requires_grad_()
            tensor.grad = None
    torch.manual_seed(seed)
    outputs: dict[str, Leaf] = {}
    try:
        outputs = dict(_leaves("result", model(*inputs.args, **inputs.keywords)))
        _backward(outputs)
    except Exception as error:  # whatever code of the user raises: the other model has to raise it too
        outputs["error"] = f"{type(error).__name__}: {error}"
    named = dict(model.named_parameters()) | sources
    gradients = {name: value.grad.clone() for name, value in named.items() if value.grad is not None}
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return Call(
        {name: value.detach().clone() if isinstance(value, Tensor) else value for name, value in outputs.items()},
        gradients,
        {name: value.detach().clone() for name, value in state.items()},
    )


def _backward(outputs: Mapping[str, Leaf]) -> None:
    """Run backward with a random gradient for each output."""
    targets = [value for value in outputs.values() if isinstance(value, Tensor) and value.requires_grad]
    if targets:
        torch.autograd.backward(targets, [torch.randn_like(value) for value in targets])


def _leaves(path: str, value: object) -> Iterator[tuple[str, Leaf]]:
    """The tensors in a value, and the texts of what else is in it, each with its path."""
    if isinstance(value, Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _leaves(f"{path}[{index}]", item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{path}.{key}".lstrip("."), item)
    elif isinstance(value, Stored):
        for name in type(value)._fields:
            yield from _leaves(f"{path}.{name}", getattr(value, name))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _leaves(f"{path}.{field.name}", getattr(value, field.name, None))
    else:
        yield path, _text(value)
