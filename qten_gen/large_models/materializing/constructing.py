"""Constructing declared modules: on meta, and once more under `deferred_init` for values that constructors alone know.

A model of transformers, timm or diffusers is initialised by its constructor, whose `_init_weights` gives the layers in it other
values than their own `reset_parameters`. So where a child has a module of another library without a `reset_parameters`, the
nearest declared module above it whose arguments are known is constructed once more. So is a declared class with a `__post_init__`
or an `__init__` of its own: its constructor may write anything.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrize import ParametrizationList
from torch.types import Device as DeviceLike
from torch.utils._pytree import tree_leaves

from ...runtime.module.module_base import ModuleBase
from ..deferred.deferred_init import recorded
from .initialising import foreign_children, writes_below
from .surroundings import seeded
from .survey import (
    BIRTHS,
    HeldTensor,
    Tree,
    class_name,
    declared_class,
    is_declared,
    method_of,
    survey,
    without_wrappers,
)

R = TypeVar("R")

Arguments = tuple[tuple[object, ...], dict[str, object]]
"""The arguments of a constructor, without the device."""

_arguments: WeakKeyDictionary[nn.Module, Arguments | None] = WeakKeyDictionary()
"""Copies of the arguments that `on_meta` got, by the module; None where they hold the caller's modules or tensors."""

_OWN_WAYS = ("_init_weights", "init_weights", "initialize_weights", "init_parameters")
"""Methods that give the layers below a module other values than the layers' own `reset_parameters`."""


def construct_on_meta(cls: Callable[..., R], args: tuple[object, ...], keywords: dict[str, object]) -> R:
    """`cls(*args, **keywords)`, in which every tensor that names no device is made on meta.

    What the constructor makes on a device that it names is real, and stays so.

    Raises:
        TypeError: a device is given that is not meta.
    """
    device = cast(DeviceLike, keywords.get("device"))
    if device is not None and torch.device(device).type != "meta":
        name = getattr(cls, "__name__", repr(cls))
        raise TypeError(
            f"{name}.on_meta(): got device={device!r}; it constructs on meta, and materialize({str(device)!r}) comes after it"
        )
    given = _copied((args, {name: value for name, value in keywords.items() if name != "device"}))
    try:
        with torch.device("meta"):
            made = cls(*args, **keywords)
    except (NotImplementedError, RuntimeError) as error:
        error.add_note(
            "on_meta() constructs without values: guard what reads them by `if not tensor.is_meta`,"
            " or build the module with qten_gen.deferred_init"
        )
        raise
    if isinstance(made, ModuleBase):
        if given and not type(made)._writes_init and "dtype" not in type(made)._config:
            given[1].pop("dtype", None)  # the tensors on meta know it, and the numbers must not depend on it
        _arguments[made] = given
        tree, call = survey(made), object()
        for module in made.modules():
            own = {home.name: id(held.tensor) for home, held in tree.of(module) if len(held.homes) == 1}
            BIRTHS[module] = call, tree.paths[id(module)], own
    return made


def _copied(arguments: Arguments) -> Arguments | None:
    """A deep copy of arguments; None where a module or tensor is in them, which is the caller's, or a copy is impossible."""
    seen: dict[int, object] = {}
    rest: list[object] = [arguments]
    while rest:
        value = rest.pop()
        if isinstance(value, nn.Module | Tensor):
            return None
        if id(value) not in seen and not isinstance(value, type | ModuleType):
            seen[id(value)] = value
            rest += (value.__closure__ or ()) if isinstance(value, FunctionType) else gc.get_referents(value)
    try:
        return copy.deepcopy(arguments)
    except Exception:  # whatever an object raises that cannot be copied
        return None


@dataclass(slots=True)
class Constructed:
    """What recorded constructors say of the tensors of a tree."""

    values: dict[HeldTensor, Tensor] = field(default_factory=dict)
    """The deferred tensor with the value of each tensor that is on meta."""
    by: dict[HeldTensor, str] = field(default_factory=dict)
    """The constructor that gives it, for the report."""
    modules: set[int] = field(default_factory=set)
    """The ids of the modules that are initialised so."""
    problems: dict[int, str] = field(default_factory=dict)
    """Why modules are initialised by their `reset_parameters` after all, by the id of the module."""
    refused: set[int] = field(default_factory=set)
    """The modules that this would give wrong values: their library has a way of its own."""
    lost: list[str] = field(default_factory=list)
    """Why writes of an author's constructor are lost, where that is not refused."""


def constructed(tree: Tree, seed: int, names: Mapping[int, str], missing: Container[HeldTensor]) -> Constructed:
    """Record the constructors that give modules of a tree their values, where these are missing.

    `names` has the name of each module that random numbers depend on, by its id.
    """
    found = Constructed()
    made: dict[int, ModuleBase | str] = {}
    for start, top in _constructed_parts(tree.root, None):
        if not any(held in missing for module in top.modules() for _, held in tree.of(module)):
            continue
        if start is None:
            near = cast(ModuleBase, _nearest_declared(tree, top))
            name = class_name(near)
            why: ModuleBase | str = (
                f"{name} has an __init__ of its own, whose arguments {name}.on_meta() would have kept"
            )
            if near in _arguments or not getattr(type(near), "_writes_init", False):
                why = f"an argument of {name}() is or holds a module or a tensor, or cannot be copied"
        else:
            if id(start) not in made:
                made[id(start)] = _constructed_anew(start, seed, names[id(start)])
            why = made[id(start)]
        if isinstance(why, ModuleBase) and start is not None:
            why = _matched(tree, start, why, top, found)
        if why:
            _note_problem(top, cast(str, why), found)
    for held in list(found.values):
        if held not in missing or id(held.origin.module) not in found.modules:
            del found.values[held]
    return found


def _constructed_parts(module: nn.Module, start: ModuleBase | None) -> Iterator[tuple[ModuleBase | None, nn.Module]]:
    """The parts that only constructors initialise, each after the declared module whose constructor is to be recorded."""
    if isinstance(module, ModuleBase):
        if _arguments_of(module) is not None:
            start = module
        if _writes_values(module) or _changes_needy(module):
            yield start, module
            return
    elif not is_declared(module) and _needs_constructor(module):
        yield start, module
        return
    for child in module.children():
        yield from _constructed_parts(child, start)


def _writes_values(module: nn.Module) -> bool:
    """Whether the constructor of a declared module runs code of the author."""
    return isinstance(module, ModuleBase) and (type(module)._writes_init or hasattr(module, "__post_init__"))


def _changes_needy(module: nn.Module) -> bool:
    """Whether a method of the author may write to a child that only a constructor initialises."""
    return writes_below(module) and any(_needs_constructor(child) for child in foreign_children(module))


def _needs_constructor(child: nn.Module) -> bool:
    """Whether a module that is not declared, or one in it, is of another library than torch and cannot initialise itself."""
    if is_declared(child) or isinstance(child, ParametrizationList):
        return False
    is_foreign = not declared_class(child).__module__.startswith(("torch.", "qten_gen."))
    return (is_foreign and method_of(child) is None) or any(map(_needs_constructor, child.children()))


def _arguments_of(module: ModuleBase) -> Arguments | None:
    """Copies of the arguments that construct a module once more; None where nothing has kept them, or some are the caller's.

    A module or a tensor is the caller's: constructing anew would change it once more.
    """
    cls = cast("type[ModuleBase]", declared_class(module))
    arguments = _arguments.get(module)
    if arguments is None and module not in _arguments and not cls._writes_init:
        arguments = (), {cls._aliases.get(name, name): getattr(module, name) for name in cls._config}
    return arguments and _copied(arguments)


def _constructed_anew(start: ModuleBase, seed: int, name: str) -> ModuleBase | str:
    """A declared module, constructed once more without values; or why that does not work."""
    arguments = _arguments_of(start)
    assert arguments is not None
    cls = declared_class(start)
    try:
        with seeded(seed, name), torch.device("cpu"):
            return cast(ModuleBase, recorded(lambda: cls(*arguments[0], **arguments[1]), moves_on=False))
    except Exception as error:  # whatever the constructor raises where tensors have no values
        return f"{cls.__name__}() cannot be recorded: {error}"


def _matched(tree: Tree, start: ModuleBase, made: nn.Module, top: nn.Module, found: Constructed) -> str:
    """Note the values of the modules of a part that the constructor made as they are now; what else there is, as a problem."""
    prefix = tree.paths[id(start)]
    twins = {without_wrappers(path): module for path, module in made.named_modules(remove_duplicate=False)}
    fakes = {without_wrappers(home.qualified): each.tensor for each in survey(made).held for home in each.homes}
    by = f"{class_name(start if is_declared(top) else top)}.__init__"
    birth, lost = BIRTHS.get(start), ""
    for module in top.modules():
        path, born = tree.paths[id(module)], BIRTHS.get(module)
        is_kept = birth is None or (born is not None and born[0] is birth[0])
        at = born[1].removeprefix(birth[1]) if birth and born and is_kept else path.removeprefix(prefix)
        twin = twins.get(without_wrappers(at.removeprefix(".")))
        is_twin = twin is not None and declared_class(twin) is declared_class(module)
        is_changed = is_kept and is_twin and _configuration(module) != _configuration(cast(nn.Module, twin))
        places = [(home, held) for home, held in tree.of(module) if held.tensor.is_meta]
        fits: dict[HeldTensor, Tensor] = {}
        for home, held in places:
            fake = fakes.get(without_wrappers((at + home.qualified.removeprefix(path)).removeprefix(".")))
            if fake is not None and fake.shape == held.tensor.shape:
                fits[held] = fake
        if is_kept and is_twin and not is_changed and all(held in fits for _, held in places):
            made_here = {held: fits[held] for home, held in places if home is held.origin}
            found.modules.add(id(module))
            found.values |= made_here
            found.by |= dict.fromkeys(made_here, by)
        elif not lost or is_changed or _writes_values(module):
            name = next((home.qualified for home, held in places if held not in fits), path or class_name(module))
            lost = f"{class_name(start)}() does not make {name} as it is now"
            if is_declared(top) and (is_changed or _writes_values(module)):
                found.lost.append(lost)
    return "" if is_declared(top) else lost


def _configuration(module: nn.Module) -> str:
    """The values of a declared module's configuration that can be compared."""
    names = type(module)._config if isinstance(module, ModuleBase) else ()
    leaves = tree_leaves([getattr(module, name) for name in names])
    return repr([leaf for leaf in leaves if isinstance(leaf, bool | int | float | complex | str)])


def _note_problem(top: nn.Module, why: str, found: Constructed) -> None:
    """Note why a part is initialised by its `reset_parameters` after all, if it is."""
    if not is_declared(top) or any(map(_writes_values, top.modules())):
        found.lost.append(why if is_declared(top) else f"{class_name(top)} is not constructed once more: {why}")
    tops = [part for part in top.modules() if _needs_constructor(part)] if is_declared(top) else [top]
    for part in tops:
        modules = list(part.modules())
        found.problems |= dict.fromkeys(map(id, modules), f"{class_name(part)} initialises it, and {why}")
        found.modules -= set(map(id, modules))
        if any(callable(getattr(module, name, None)) for module in modules for name in _OWN_WAYS):
            found.refused |= set(map(id, modules))


def _nearest_declared(tree: Tree, top: nn.Module) -> nn.Module:
    """The innermost declared module that a part is in, or the part itself."""
    path = tree.paths[id(top)]
    while path and not isinstance(tree.root.get_submodule(path), ModuleBase):
        path = path.rpartition(".")[0]
    return tree.root.get_submodule(path)
