"""Constructing declared modules: on meta, and once more under `deferred_init` for values that constructors alone know.

A model of transformers, timm or diffusers is initialised by its constructor, whose `_init_weights` gives the layers in it other
values than their own `reset_parameters`. So where a child has a module of another library without a `reset_parameters`, the
nearest declared module above it whose arguments are known is constructed once more. So is a declared class with a `__post_init__`
or an `__init__` of its own: its constructor may write anything; and a module with parametrizations. Where that does not work, or
does not make a module as it is now, nothing is guessed: it is an error.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, ModuleType
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.types import Device as DeviceLike
from torch.utils._pytree import tree_leaves

from ...runtime.module.module_base import ModuleBase
from ...runtime.module.stand_in import seeded
from ..deferred.deferred_init import recorded
from .initialising import foreign_children, writes_below
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

INSTEAD = "give its values in state_dict=, or build the module with qten_gen.deferred_init"


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
    """The values that recorded constructors give the tensors of a tree."""

    values: dict[HeldTensor, Tensor] = field(default_factory=dict)
    """The deferred tensor with the value of each tensor that is on meta."""
    by: dict[HeldTensor, str] = field(default_factory=dict)
    """The constructor that gives it, for the report."""
    modules: set[int] = field(default_factory=set)
    """The ids of the modules that are initialised so."""


def constructed(tree: Tree, seed: int, names: Mapping[int, str], missing: Container[HeldTensor]) -> Constructed:
    """Record the constructors that give modules of a tree their values, where these are missing.

    `names` has the name of each module that random numbers depend on, by its id.

    Raises:
        RuntimeError: a constructor cannot be run once more, or does not make a module as it is now.
    """
    found = Constructed()
    made: dict[int, nn.Module] = {}
    for start, top in _constructed_parts(tree.root, None):
        if not any(held in missing for module in top.modules() for _, held in tree.of(module)):
            continue
        if start is None:
            cls = declared_class(tree.root)
            why = f"{cls.__name__}.on_meta() did not make this module, so nothing has kept the arguments"
            if tree.root in _arguments or not getattr(cls, "_writes_init", False):
                why = f"an argument of {cls.__name__}() is or holds a module or a tensor, or cannot be copied"
            raise _impossible(tree, top, why)
        if id(start) not in made:
            args, keywords = cast(Arguments, _arguments_of(start))
            try:
                with seeded(seed, names[id(start)]), torch.device("cpu"):
                    made[id(start)] = recorded(partial(declared_class(start), *args, **keywords), moves_on=False)
            except Exception as error:  # whatever the constructor raises where tensors have no values
                raise _impossible(tree, top, f"{class_name(start)}() cannot be recorded: {error}") from error
        _match(tree, start, made[id(start)], top, missing, found)
    return found


def _impossible(tree: Tree, top: nn.Module, why: str) -> RuntimeError:
    path = tree.paths[id(top)]
    where = f"{path}, of the class {class_name(top)}," if path else class_name(top)
    return RuntimeError(f"materialize(): {where} is initialised by its constructor, and {why}; {INSTEAD}")


def _constructed_parts(module: nn.Module, start: ModuleBase | None) -> Iterator[tuple[ModuleBase | None, nn.Module]]:
    """The parts that only constructors initialise, each after the declared module whose constructor is to be recorded."""
    if isinstance(module, ModuleBase):
        if _arguments_of(module) is not None:
            start = module
        changes_needy = writes_below(module) and any(map(_needs_constructor, foreign_children(module)))
        runs_code = type(module)._writes_init or hasattr(
            module, "__post_init__"
        )  # of the author, which may write anything
        if runs_code or parametrize.is_parametrized(module) or changes_needy:
            yield start, module
            return
    elif not is_declared(module) and _needs_constructor(module):
        yield start, module
        return
    for child in module.children():
        yield from _constructed_parts(child, start)


def _needs_constructor(child: nn.Module) -> bool:
    """Return whether a module that is not declared, or one in it, cannot initialise itself.

    It is of another library than torch and has no `reset_parameters`, or it has parametrizations, which compute their tensors.
    """
    if is_declared(child):
        return False
    is_foreign = not declared_class(child).__module__.startswith(("torch.", "qten_gen."))
    needs = (is_foreign and method_of(child) is None) or parametrize.is_parametrized(child)
    return needs or any(map(_needs_constructor, child.children()))


def _arguments_of(module: ModuleBase) -> Arguments | None:
    """Copies of the arguments that construct a module once more; None where nothing has kept them, or some are the caller's.

    A module or a tensor is the caller's: constructing anew would change it once more.
    """
    cls = cast("type[ModuleBase]", declared_class(module))
    arguments = _arguments.get(module)
    if arguments is None and module not in _arguments and not cls._writes_init:
        arguments = (), {cls._aliases.get(name, name): getattr(module, name) for name in cls._config}
    return arguments and _copied(arguments)


def _match(
    tree: Tree, start: ModuleBase, made: nn.Module, top: nn.Module, missing: Container[HeldTensor], found: Constructed
) -> None:
    """Note the values of the modules of a part, which the constructor has to make as they are now."""
    prefix = tree.paths[id(start)]
    twins = {without_wrappers(path): module for path, module in made.named_modules(remove_duplicate=False)}
    fakes = {without_wrappers(home.qualified): each.tensor for each in survey(made).held for home in each.homes}
    by = f"{class_name(start if is_declared(top) else top)}.__init__"
    birth = BIRTHS.get(start)
    for module in top.modules():
        at, born = _below(prefix, tree.paths[id(module)]), BIRTHS.get(module)
        is_kept = birth is None or (born is not None and born[0] is birth[0] and _below(birth[1], born[1]) == at)
        twin = twins.get(at) if is_kept else None
        needed = [(home, held) for home, held in tree.of(module) if held in missing]
        given = {home: fakes.get(_below(prefix, home.qualified)) for home, _ in needed}
        if twin is None or declared_class(twin) is not declared_class(module):
            wrong = [home.qualified for home, _ in needed]
        elif _configuration(module) != _configuration(twin):
            wrong = [tree.paths[id(module)] or class_name(module)]
        else:
            wrong = [
                home.qualified for home, held in needed if getattr(given[home], "shape", None) != held.tensor.shape
            ]
        if wrong:
            raise _impossible(tree, top, f"{class_name(start)}() does not make {wrong[0]} as it is now")
        found.modules.add(id(module))
        for home, held in needed:
            if home is held.origin:
                found.values[held], found.by[held] = cast(Tensor, given[home]), by


def _below(prefix: str, path: str) -> str:
    """The path of a module below another one, without wrappers."""
    return without_wrappers(path.removeprefix(prefix).removeprefix("."))


def _configuration(module: nn.Module) -> str:
    """The values of a declared module's configuration that can be compared."""
    names = type(module)._config if isinstance(module, ModuleBase) else ()
    leaves = tree_leaves([getattr(module, name, None) for name in names])
    return repr([leaf for leaf in leaves if isinstance(leaf, bool | int | float | complex | str)])
