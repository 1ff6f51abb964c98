"""`deferred_init`, `is_deferred`, `materialize_tensor` and `materialize_module`, the public functions of this room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from torch import Tensor, nn

from ..fake.context import is_fake
from .deferral import Deferral, active, deferral_of, real_of
from .dtensor_parts import shares_of_module
from .references import replace_tensors

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from ..sharding.placements import Placements

P = ParamSpec("P")
T = TypeVar("T")


def deferred_init(module_fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function, such as the class of a module, without making the values of its tensors.

    The tensors are fake: they have a shape, a dtype and a device, and no data. What the function does with them is recorded, and
    carried out by materialize_module or materialize_tensor. Then the values are those that the call would have given here, bit
    for bit: the random numbers come from the state that torch's generators have now.

    >>> _ = torch.manual_seed(0)
    >>> module = deferred_init(nn.Linear, 2, 3, bias=False)
    >>> module.weight.shape, is_deferred(module)
    (torch.Size([3, 2]), True)
    >>> materialize_module(module)
    >>> torch.manual_seed(0) and torch.equal(module.weight, nn.Linear(2, 3, bias=False).weight)
    True

    Args:
        module_fn: A class or function.
        args, kwargs: Its arguments.

    Returns:
        What the function returns.

    Raises:
        DeferredError: The function does something that cannot be recorded. The message says what, and on which line.
    """
    if active() is not None:
        return module_fn(*args, **kwargs)
    deferral = Deferral()
    with deferral:
        result = module_fn(*args, **kwargs)
        tensors = _found_in([[result]], set())
    deferral.keep_track_of(tensors)
    return result


def is_deferred(obj: object) -> bool:
    """Whether a tensor, or a tensor that a module or a submodule of it holds, is still to be materialized.

    Such a tensor has a shape, a dtype and a device, but no values. What is neither a tensor nor a module is not deferred.

    >>> is_deferred(deferred_init(torch.ones, 3)), is_deferred(torch.ones(3))
    (True, False)
    """
    if isinstance(obj, Tensor):
        return deferral_of(obj) is not None
    return isinstance(obj, nn.Module) and any(deferral_of(tensor) is not None for tensor in _found_in([obj], set()))


def materialize_tensor(tensor: Tensor) -> Tensor:
    """The tensor that a deferred tensor stands for, with its values; always the same object for the same deferred tensor.

    It has the shape, dtype, device and `requires_grad` of the deferred tensor, and the values that eager code would give it.
    A tensor that is not deferred is returned as it is.

    >>> deferred = deferred_init(torch.ones, 3)
    >>> materialize_tensor(deferred)
    tensor([1., 1., 1.])
    >>> materialize_tensor(deferred) is materialize_tensor(deferred)
    True

    Raises:
        ValueError: The tensor is fake and was not made by deferred_init, so nothing knows its values.
        TypeError: It is not a tensor.
    """
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"materialize_tensor expected a tensor, got {kind}; use materialize_module for a module")
    if not is_fake(tensor):
        return tensor
    _deferral(tensor).materialize([tensor])
    real = real_of(tensor)
    return tensor if real is None else real


def values_of(fakes: Sequence[Tensor]) -> list[Tensor]:
    """The values of deferred tensors of one recording, made together and kept by nobody: the tensors stay deferred."""
    recorder = _deferral(fakes[0]).recorder
    slots = [recorder.slot(fake) for fake in fakes]
    values = recorder.evaluation.values(slots)
    return [values[slot] for slot in slots]


def materialize_module(
    module: nn.Module,
    buffers_only: bool = False,
    check_fn: Callable[[nn.Module], bool] | None = None,
    *,
    mesh: DeviceMesh | None = None,
    placements: Placements | None = None,
) -> None:
    """Give a module that deferred_init made its values, in place.

    Parameters, buffers, and tensors that a module holds in other attributes, in lists, dictionaries, objects and closures are
    replaced. A module or tensor that has its values already stays as it is. Parts can be materialized one after the other, in
    any order: the values are those of the whole. When the last tensor is made, torch's generators stand where the call of the
    function would have left them, unless they were used or seeded in the meantime.

    >>> model = deferred_init(nn.Sequential, nn.Linear(2, 2), nn.Linear(2, 2))
    >>> materialize_module(model, check_fn=lambda part: part is not model[1])
    >>> materialize_module(model)

    Args:
        module: The module.
        buffers_only: Leave parameters as they are.
        check_fn: Is called with the module and each module below it. Where it returns False, the tensors that belong to that
            module itself stay deferred.
        mesh: Makes each parameter and buffer a DTensor on this mesh. A process computes one tensor after the other, with random
            numbers of the whole, and keeps its part: it needs memory for its parts and for the largest tensor.
        placements: How each tensor is placed on the mesh, by qualified name or pattern; replicated where none is given.

    Raises:
        TypeError: `module` is not a module, or there are placements without a mesh.
        ValueError: A tensor of the module is fake and was not made by deferred_init, the placements do not fit, or the processes
            of the mesh do not have the same model and the same random numbers.
        Exception: What an operation of the constructor raises when it is carried out; then nothing has changed.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"materialize_module expected a module, got {type(module).__name__}; use materialize_tensor for a tensor"
        )
    every = list(module.modules())
    chosen = [part for part in reversed(every) if check_fn is None or check_fn(part)]
    others = {id(part) for part in every}

    def is_wanted(tensor: Tensor) -> bool:
        return not (buffers_only and isinstance(tensor, nn.Parameter))

    holders = [vars(part) for part in chosen]
    by_deferral: dict[Deferral, list[Tensor]] = {}
    for fake in _found_in(holders, set(others)):
        if is_wanted(fake):
            by_deferral.setdefault(_deferral(fake), []).append(fake)
    if mesh is None:
        if placements is not None:
            raise TypeError("materialize_module(): placements are on a mesh; give mesh= too")
        for deferral, fakes in by_deferral.items():
            deferral.materialize(fakes)
    else:
        every_fake = [fake for fakes in by_deferral.values() for fake in fakes]
        tapes = [deferral.recorder.tape for deferral in by_deferral]
        kept = shares_of_module(module, every_fake, mesh, placements, tapes)
        for deferral, fakes in by_deferral.items():
            deferral.materialize_in_parts(fakes, kept)

    def real(tensor: Tensor) -> Tensor:
        made = real_of(tensor) if deferral_of(tensor) is not None and is_wanted(tensor) else None
        return tensor if made is None else made

    replace_tensors(holders, real, others)


def _found_in(roots: Sequence[object], passed: set[int]) -> list[Tensor]:
    """The fake tensors that can be reached from roots, without the objects whose ids are passed."""
    found: dict[int, Tensor] = {}

    def note(tensor: Tensor) -> Tensor:
        if is_fake(tensor):
            found[id(tensor)] = tensor
        return tensor

    replace_tensors(roots, note, passed)
    return list(found.values())


def _deferral(fake: Tensor) -> Deferral:
    """The deferral of a fake tensor, which has to have one."""
    found = deferral_of(fake)
    if found is None:
        raise ValueError(
            "expected tensors made by deferred_init, got a fake tensor whose values nothing recorded; "
            "make it by deferred_init instead of in fake_mode"
        )
    return found
