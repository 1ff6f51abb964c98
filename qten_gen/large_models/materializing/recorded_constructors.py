"""Initial values that constructors alone know: those of children of other libraries, and what the author's code in them writes.

A model of transformers, timm or diffusers is initialised by its constructor, which calls `_init_weights`, `init_weights` or a
function of the library. The layers in it have torch's `reset_parameters`, which gives other values. So where a child has a module
of another library without a `reset_parameters`, the declared class above it is constructed once more, on fake tensors, and what
the child holds when it is assigned is what it is initialised by.

A declared class with a `__post_init__` or an `__init__` of its own is constructed once more too. Where that has written to a
tensor, all tensors of the class have the values that its constructor leaves behind: one may be computed from another.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook

from ...runtime.declaring.containers import ModuleDict, ModuleList
from ...runtime.module.core.module_base import ModuleBase
from ..deferred.recording import Recorder
from .initialisation import class_name, declared_class, method_of, program_of
from .matching import without_wrappers
from .meta_construction import Arguments, constructor_arguments
from .stand_ins import StandIns
from .survey import HeldTensor, Home, survey
from .written import histories

_OWN_WAYS = ("_init_weights", "init_weights", "initialize_weights", "init_parameters")
"""Methods that give the layers below a module other values than the layers' own `reset_parameters`."""


@dataclass(frozen=True, slots=True)
class Constructed:
    """The results of the recorded constructors of children."""

    values: Mapping[int, Tensor] = field(default_factory=dict)
    """The fake tensor with the values of each tensor of the children, by the id of the tensor."""
    children: Mapping[int, nn.Module] = field(default_factory=dict)
    """The child that each module belongs to, by the id of the module."""
    not_recorded: Mapping[int, str] = field(default_factory=dict)
    """Why the modules of a child are initialised by their `reset_parameters` after all, by the id of the module."""
    refused: frozenset[int] = frozenset()
    """The tensors that this would give wrong values: their class has a way of its own."""
    wholes: Sequence[_Whole] = ()
    """The recorded constructors in which code of the author ran."""
    by: dict[int, str] = field(default_factory=dict)
    """The constructor whose values a tensor has because the author's code wrote there, by the id of the tensor; from `finish`."""

    def put(self, stand_ins: StandIns, origins: Mapping[int, Home]) -> None:
        """Give the stand-ins of the children's tensors the recorded values, under the recorder."""
        with torch.no_grad():
            for held in stand_ins.held:
                if id(held.tensor) in self.values and id(origins[id(held.tensor)].module) in self.children:
                    stand_ins.at(held).copy_(self.values[id(held.tensor)])

    def finish(self, stand_ins: StandIns, recorder: Recorder) -> None:
        """After the initialisation, give the stand-ins what the constructors in which the author's code writes left behind.

        One that writes to no tensor has made each tensor as the initialisation has.
        """
        places = {
            key: (recorder.slot(fake), recorder.slot(stand_ins.of[key]))
            for whole in self.wholes
            for key, fake in whole.left.items()
        }
        made = histories(recorder.tape) if places else {}
        storage_of = recorder.tape.storage_of
        with torch.no_grad():
            for whole in self.wholes:
                pairs = [places[key] for key in whole.left]
                if any(made.get(storage_of(one)) != made.get(storage_of(other)) for one, other in pairs):
                    for key, fake in whole.left.items():
                        stand_ins.of[key].copy_(fake)
                    self.by.update(dict.fromkeys(whole.left, f"{whole.name}.__init__"))


@dataclass(frozen=True, slots=True)
class _Whole:
    """The results of a recorded constructor."""

    name: str
    left: Mapping[int, Tensor]
    """The fake tensor with the values of each tensor, by the id of the tensor."""


def constructed(root: nn.Module, held: Sequence[HeldTensor], recorder: Recorder) -> Constructed:
    """Record the constructors that give the children of declared modules their values. Called under the recorder."""
    of_module: dict[int, list[tuple[Home, Tensor]]] = {}
    for each in held:
        for home in each.homes:
            of_module.setdefault(id(home.module), []).append((home, each.tensor))
    recorded: dict[str, _Recorded] = {}
    values: dict[int, Tensor] = {}
    children: dict[int, nn.Module] = {}
    not_recorded: dict[int, str] = {}
    refused: set[int] = set()
    for start, prefix, child in _children(root):
        if prefix not in recorded:
            recorded[prefix] = _recorded(start, prefix, recorder)
        found, problem = recorded[prefix].children, recorded[prefix].problem
        modules = list(_undeclared(child))
        places = [place for module in modules for place in of_module.get(id(module), []) if place[1].is_meta]
        lost = next((home for home, tensor in places if not _fits(found.get(home.qualified), tensor)), None)
        if lost is None:
            values |= {id(tensor): found[home.qualified] for home, tensor in places}
            children |= {id(module): child for module in modules}
            continue
        problem = problem or f"{class_name(start)}() does not make {lost.qualified} as it is now"
        not_recorded |= {id(module): f"{class_name(child)} initialises it, and {problem}" for module in modules}
        if any(callable(getattr(module, name, None)) for module in modules for name in _OWN_WAYS):
            refused |= {id(module) for module in modules}
    wholes: list[_Whole] = []
    for start, prefix in _finishing(root):
        whole = recorded.get(prefix) or _recorded(start, prefix, recorder)
        if whole.made is not None:
            wholes.append(_whole(whole.made, prefix, held))
        else:
            warnings.warn(
                f"materialize(): {whole.problem}; what the author's code in it writes to tensors on meta is lost, unless"
                " reset_parameters writes it too",
                stacklevel=2,
            )
    return Constructed(values, children, not_recorded, frozenset(refused), wholes)


def _whole(made: ModuleBase, prefix: str, held: Sequence[HeldTensor]) -> _Whole:
    """The results of a constructor in the modules that are still of the class that it made."""
    now = {without_wrappers(home.qualified): (home.module, each.tensor) for each in held for home in each.homes}
    left: dict[int, Tensor] = {}
    for each in survey(made):
        for home in each.homes:
            module, tensor = now.get(without_wrappers(prefix + home.qualified), (None, each.tensor))
            if module is None or declared_class(module) is not declared_class(home.module):
                continue
            if tensor.is_meta and _fits(each.tensor, tensor):
                left[id(tensor)] = each.tensor
    return _Whole(class_name(made), left)


def _fits(value: Tensor | None, tensor: Tensor) -> bool:
    return value is not None and value.shape == tensor.shape


def _children(root: nn.Module) -> Iterator[tuple[ModuleBase, str, nn.Module]]:
    """The children that only their constructors initialise, each after the declared module to construct and its prefix.

    That is the outermost one whose arguments are known.
    """

    def walk(
        module: nn.Module, path: str, start: ModuleBase, prefix: str
    ) -> Iterator[tuple[ModuleBase, str, nn.Module]]:
        if isinstance(module, ModuleBase) and _arguments(start) is None:
            start, prefix = module, path
        for name, child in module.named_children():
            if not isinstance(child, ModuleBase | ModuleList | ModuleDict) and _needs_constructor(child):
                yield start, prefix, child
            else:
                yield from walk(child, f"{path}{name}.", start, prefix)

    return walk(root, "", root, "") if isinstance(root, ModuleBase) else iter(())


def _finishing(root: nn.Module) -> Iterator[tuple[ModuleBase, str]]:
    """The outermost declared modules in whose constructors code of the author runs, each with its prefix.

    A child that was an argument is the caller's: constructing anew would change it once more.
    """
    arguments = _arguments(root) if isinstance(root, ModuleBase) else None
    if isinstance(root, ModuleBase) and arguments is not None:
        given = any(isinstance(value, nn.Module | Tensor) for value in (*arguments[0], *arguments[1].values()))
        if not given and any(map(_runs_code_of_the_author, root.modules())):
            yield root, ""
            return
    for name, child in root.named_children():
        yield from ((start, f"{name}.{prefix}") for start, prefix in _finishing(child))


def _arguments(module: ModuleBase) -> Arguments | None:
    return constructor_arguments(module, cast("type[ModuleBase]", declared_class(module)))


def _runs_code_of_the_author(module: nn.Module) -> bool:
    """Whether a declared class constructs by more than its declaration says."""
    return isinstance(module, ModuleBase) and (type(module)._writes_init or hasattr(module, "__post_init__"))


def _undeclared(module: nn.Module) -> Iterator[nn.Module]:
    """A module and those below it, down to declared ones."""
    if not isinstance(module, ModuleBase):
        yield module
        for child in module.children():
            yield from _undeclared(child)


def _needs_constructor(child: nn.Module) -> bool:
    """Whether a module that is not declared, or one in it, is of another library than torch and cannot initialise itself."""
    return any(
        method_of(each) is None and not declared_class(each).__module__.startswith(("torch.", "qten_gen."))
        for each in _undeclared(child)
    )


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The results of constructing a declared module once more."""

    problem: str = ""
    """Why it could not be constructed."""
    made: ModuleBase | None = None
    children: Mapping[str, Tensor] = field(default_factory=dict)
    """The values of the children of other libraries when they were assigned, by qualified name."""


def _recorded(start: ModuleBase, prefix: str, recorder: Recorder) -> _Recorded:
    """Construct a declared module once more."""
    cls = cast("type[ModuleBase]", declared_class(start))
    arguments = _arguments(start)
    if arguments is None:
        return _Recorded(
            f"{cls.__name__} has an __init__ of its own, whose arguments {cls.__name__}.on_meta() would have kept"
        )
    recorder.program = program_of(f"{cls.__name__}()")
    try:
        with _assigned_children() as assigned, _without_numbers_of_python(), torch.device("cpu"):
            made = cls(*arguments[0], **arguments[1])
    except _DrawnByPython:
        return _Recorded(f"{cls.__name__}() draws from random or NumPy, whose numbers do not depend on the seed")
    except Exception as error:  # whatever the constructor raises where tensors have no values
        return _Recorded(f"{cls.__name__}() cannot be recorded: {error}")
    children = {
        prefix + home.qualified: assigned[id(each.tensor)][1]
        for each in survey(made)
        for home in each.homes
        if id(each.tensor) in assigned
    }
    return _Recorded("", made, children)


@contextmanager
def _assigned_children() -> Iterator[dict[int, tuple[Tensor, Tensor]]]:
    """The tensors of children that only constructors initialise, by id, each with a copy from when the child was assigned."""
    found: dict[int, tuple[Tensor, Tensor]] = {}
    thread = get_ident()

    def note(parent: nn.Module, name: str, child: nn.Module | None) -> None:
        is_declared = isinstance(parent, ModuleBase | ModuleList | ModuleDict)
        if child is None or not is_declared or get_ident() != thread or not _needs_constructor(child):
            return
        with torch.no_grad():
            for each in survey(child):
                if id(each.tensor) not in found:
                    found[id(each.tensor)] = each.tensor, each.tensor.detach().clone()

    hook = register_module_module_registration_hook(note)
    try:
        yield found
    finally:
        hook.remove()


class _DrawnByPython(Exception):
    """Something drew from Python's own generator, or from NumPy's."""


@contextmanager
def _without_numbers_of_python() -> Iterator[None]:
    """Leave the generators of Python and NumPy as they are. Raises _DrawnByPython if the block drew from them."""
    numpy = sys.modules.get("numpy")
    before, of_numpy = random.getstate(), numpy and numpy.random.get_state()
    yield
    if random.getstate() != before or (numpy and str(numpy.random.get_state()) != str(of_numpy)):
        random.setstate(before)
        if numpy:
            numpy.random.set_state(of_numpy)
        raise _DrawnByPython
