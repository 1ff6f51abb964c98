"""Constructing declared modules: on meta, and once more under `deferred_init` for values that constructors alone know.

A model of transformers, timm or diffusers is initialised by its constructor, whose `_init_weights` gives the layers in it other
values than their own `reset_parameters`. So where a child has a module of another library without a `reset_parameters`, the
nearest declared module above it whose arguments are known is constructed once more. So is a declared class with a `__post_init__`
or an `__init__` of its own: its constructor may write anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.types import Device as DeviceLike

from ...runtime.module.module_base import ModuleBase
from ..deferred.deferred_init import recorded
from .initialising import foreign_children, writes_below
from .surroundings import seeded
from .survey import (
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

_arguments: WeakKeyDictionary[nn.Module, Arguments] = WeakKeyDictionary()
"""The constructor arguments of modules with an `__init__` of their own, which they need not keep themselves."""

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
    try:
        with torch.device("meta"):
            made = cls(*args, **keywords)
    except (NotImplementedError, RuntimeError) as error:
        error.add_note(
            "on_meta() constructs without values: guard what reads them by `if not tensor.is_meta`,"
            " or build the module with qten_gen.deferred_init"
        )
        raise
    if isinstance(made, ModuleBase) and type(made)._writes_init:
        _arguments[made] = args, {name: value for name, value in keywords.items() if name != "device"}
    return made


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
            name = class_name(_nearest_declared(tree, top))
            why: ModuleBase | str = (
                f"{name} has an __init__ of its own, whose arguments {name}.on_meta() would have kept"
            )
        else:
            if id(start) not in made:
                made[id(start)] = _constructed_anew(start, seed, names[id(start)])
            why = made[id(start)]
        if isinstance(why, ModuleBase) and start is not None:
            why = _matched(tree, start, why, top, found)
        if why:
            _note_problem(top, cast(str, why), start is not None, found)
    for held in list(found.values):
        if held not in missing or id(held.origin.module) not in found.modules:
            del found.values[held]
    return found


def _constructed_parts(module: nn.Module, start: ModuleBase | None) -> Iterator[tuple[ModuleBase | None, nn.Module]]:
    """The parts that only constructors initialise, each after the declared module whose constructor is to be recorded."""
    if isinstance(module, ModuleBase):
        if _arguments_of(module) is not None:
            start = module
        if type(module)._writes_init or hasattr(module, "__post_init__") or _changes_needy(module):
            yield start, module
            return
    elif not is_declared(module) and _needs_constructor(module):
        yield start, module
        return
    for child in module.children():
        yield from _constructed_parts(child, start)


def _changes_needy(module: nn.Module) -> bool:
    """Whether a method of the author may write to a child that only a constructor initialises."""
    return writes_below(module) and any(_needs_constructor(child) for child in foreign_children(module))


def _needs_constructor(child: nn.Module) -> bool:
    """Whether a module that is not declared, or one in it, is of another library than torch and cannot initialise itself."""
    if is_declared(child):
        return False
    is_foreign = not declared_class(child).__module__.startswith(("torch.", "qten_gen."))
    return (is_foreign and method_of(child) is None) or any(map(_needs_constructor, child.children()))


def _arguments_of(module: ModuleBase) -> Arguments | None:
    """The arguments that construct a module once more; None where nothing has kept them, or one of them is a module or tensor.

    Such an argument is the caller's: constructing anew would change it once more.
    """
    cls = cast("type[ModuleBase]", declared_class(module))
    if cls._writes_init:
        arguments = _arguments.get(module)
    else:
        arguments = (), {cls._aliases.get(name, name): getattr(module, name) for name in cls._config}
    if arguments is None or any(
        isinstance(value, nn.Module | Tensor) for value in (*arguments[0], *arguments[1].values())
    ):
        return None
    return arguments


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
    twins = {
        without_wrappers(path): declared_class(module) for path, module in made.named_modules(remove_duplicate=False)
    }
    fakes = {without_wrappers(home.qualified): each.tensor for each in survey(made).held for home in each.homes}
    by = f"{class_name(start if is_declared(top) else top)}.__init__"
    lost = ""

    def twin_of(qualified: str) -> str:
        return without_wrappers(qualified.removeprefix(prefix).removeprefix("."))

    for module in top.modules():
        places = [(home, held) for home, held in tree.of(module) if held.tensor.is_meta]
        values = {held: fakes.get(twin_of(home.qualified)) for home, held in places}
        fits = {held: fake for held, fake in values.items() if fake is not None and fake.shape == held.tensor.shape}
        path = tree.paths[id(module)]
        if len(fits) == len(values) and twins.get(twin_of(path)) is declared_class(module):
            found.modules.add(id(module))
            found.values |= fits
            found.by |= dict.fromkeys(fits, by)
        elif not lost:
            name = next((home.qualified for home, held in places if held not in fits), path)
            lost = f"{class_name(start)}() does not make {name} as it is now"
    return "" if is_declared(top) else lost


def _note_problem(top: nn.Module, why: str, is_tried: bool, found: Constructed) -> None:
    """Note why a part is initialised by its `reset_parameters` after all, if it is."""
    if is_declared(top) and is_tried:
        warnings.warn(
            f"materialize(): {why}; what the author's code in it writes to tensors on meta is lost, unless"
            " reset_parameters writes it too",
            stacklevel=4,
        )
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
