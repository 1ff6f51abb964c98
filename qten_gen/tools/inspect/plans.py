"""Sharding plans held against a model: names, sizes, ties, pairs, and what a rank holds. Arithmetic: no process is started.

A plan is a table in a file, whose keys are ends of names, or what the model itself has: `_tp_plan` and `_ep_plan`, which
transformers fills with whole names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import NamedTuple

from torch import nn

from ...common.name_patterns import PatternError, advice, matching
from .declared_sizes import DeclaredSizes
from .documents import DocumentError, value_at
from .model_tree import ModuleEntry, TensorEntry
from .plan_styles import Side, Style, UnknownStyle, styles
from .request import InspectionError

Mesh = Mapping[str, int]
"""The sizes of the axes of a mesh by name."""


class Problem(NamedTuple):
    """A mistake in a plan, or only a noteworthy fact."""

    name: str
    """The tensor or the module; empty for a rule that matches none."""
    text: str
    is_error: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.text}" if self.name else self.text


class Cut(NamedTuple):
    """A tensor that a plan cuts."""

    path: str
    shape: tuple[int, ...]
    """The shape of the part that the first rank has, which has most."""
    axes: tuple[tuple[str, int], ...]
    """The axes of the mesh, each with the dimension that it cuts."""


class Plan(NamedTuple):
    """A plan, and what is wrong with it."""

    source: str
    mesh: Mesh
    rules: int
    """How many rules it has."""
    unmatched: int
    """How many of them match nothing."""
    cuts: tuple[Cut, ...]
    problems: tuple[Problem, ...]
    bytes: int
    """The memory of the parameters and buffers on the first rank."""

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not any(problem.is_error for problem in self.problems)


class _Rule(NamedTuple):
    key: str
    value: object
    axis: str
    is_whole: bool
    """Whether the key is a whole name, and not the end of one."""


def mesh_of(text: str) -> dict[str, int]:
    """The mesh of `tp=8,ep=4`.

    Raises:
        InspectionError: it is not of that form.
    """
    mesh: dict[str, int] = {}
    for item in text.split(","):
        name, _, size = (part.strip() for part in item.partition("="))
        if not name.isidentifier() or not size.isdecimal() or int(size) < 1 or name in mesh:
            raise InspectionError([f"--mesh: expected axes with sizes, such as tp=8,ep=4, got {text!r}"])
        mesh[name] = int(size)
    return mesh


def plan_of(model: nn.Module, tree: ModuleEntry, mesh: Mesh, place: str | None) -> Plan:
    """Hold a plan against a model.

    Args:
        model: The model, on any device.
        tree: What it holds.
        mesh: The mesh that it is cut for.
        place: Where the plan is, `shop/plans.py:tp_plan`; None for the model's own.

    Raises:
        InspectionError: there is no plan, or it cannot be read.
    """
    rules = _own_rules(model) if place is None else _rules_at(place, mesh)
    source = place or "the model's own plan"
    found = _Held(model, tree, mesh)
    problems = [problem for rule in rules if (problem := found.apply(rule)) is not None]
    unmatched = sum("matches nothing" in problem.text for problem in problems)
    problems += [*found.uneven(), *found.untied(), *found.unpaired()]
    held = sum(found.local(entry).bytes for entry in tree.all_tensors() if entry.kind != "attribute")
    return Plan(source, mesh, len(rules), unmatched, tuple(found.cuts()), tuple(problems), held)


def _own_rules(model: nn.Module) -> list[_Rule]:
    rules = [
        _Rule(str(key), value, axis, True)
        for axis in ("tp", "ep")
        for key, value in dict(getattr(model, f"_{axis}_plan", None) or {}).items()
    ]
    if not rules:
        raise InspectionError(["the model has no _tp_plan and no _ep_plan; name a plan: --plan shop/plans.py:tp_plan"])
    return rules


def _rules_at(place: str, mesh: Mesh) -> list[_Rule]:
    try:
        found = value_at(place, ".")
    except DocumentError as error:
        raise InspectionError([f"--plan: {error}"]) from None
    if not isinstance(found, Mapping) or not found:
        raise InspectionError([f"--plan: {place}: expected a table of names, such as {{'q_proj': 'colwise'}}"])
    name = place.rpartition(":")[2]
    wanted = "ep" if "ep_plan" in name or name == "ep" else "tp"
    axis = wanted if wanted in mesh else next(iter(mesh))
    return [_Rule(str(key), value, axis, False) for key, value in found.items()]


class _Held:
    """A model, with what a plan says of each of its tensors."""

    def __init__(self, model: nn.Module, tree: ModuleEntry, mesh: Mesh) -> None:
        self._mesh = mesh
        self._tensors = {entry.path: entry for entry in tree.all_tensors() if entry.kind == "parameter"}
        self._kinds = {entry.path: entry.kind for entry in tree.all_modules() if entry.path}
        self._names = [*self._kinds, *(entry.path for entry in tree.all_tensors())]
        self._sizes = DeclaredSizes(model)
        self._styles: dict[str, dict[str, Style]] = {}
        """By the name of a tensor and the axis."""
        self._named: set[tuple[str, str]] = set()
        """Tensors that a rule names, and not only their module."""

    def apply(self, rule: _Rule) -> Problem | None:
        """Give the tensors of a rule its style; what is wrong with the rule."""
        pattern = rule.key if rule.is_whole else f"**.{rule.key.strip('.')}"
        try:
            names = matching(pattern, self._names)
        except PatternError:  # a model's own plan is written for all configurations of its class
            return Problem("", self._told(rule, pattern), not rule.is_whole)
        for name in names:
            try:
                said = styles(rule.value, rule.axis, is_embedding=self._kinds.get(name, "").endswith("Embedding"))
            except UnknownStyle as error:
                return Problem("", f"{rule.key!r}: {error}")
            strange = next((axis for axis in said if axis not in self._mesh and isinstance(rule.value, Mapping)), None)
            if strange is not None:
                return Problem("", f"{rule.key!r} cuts along {strange!r}; the mesh has {', '.join(self._mesh)}")
            for path in [name] if name in self._tensors else self._inside(name):
                for axis, style in said.items():
                    if name == path or (path, axis) not in self._named:
                        self._styles.setdefault(path, {})[axis] = style
                    if name == path:
                        self._named.add((path, axis))
        return None

    def _told(self, rule: _Rule, pattern: str) -> str:
        try:
            return f"{rule.key!r} matches nothing: {advice(pattern, self._names)}"
        except PatternError as error:
            return str(error)

    def _inside(self, module: str) -> list[str]:
        return [path for path in self._tensors if path.rpartition(".")[0] == module]

    def _dimensions(self, path: str) -> Iterator[tuple[str, int, Style]]:
        """How a tensor is cut: the axis, the dimension, and what the plan says."""
        entry = self._tensors[path]
        for axis, style in self._styles.get(path, {}).items():
            dimension = style.dimension(entry.shape) if entry.is_initialised else None
            if dimension is not None and axis in self._mesh:
                yield axis, dimension, style

    def cuts(self) -> Iterator[Cut]:
        """The tensors that are cut, in the order of the model."""
        for path, entry in self._tensors.items():
            axes = tuple((axis, dimension) for axis, dimension, _ in self._dimensions(path))
            if axes:
                yield Cut(path, self.local(entry).shape, axes)

    def local(self, entry: TensorEntry) -> TensorEntry:
        """A tensor as the first rank has it."""
        if entry.path not in self._styles or entry.kind != "parameter":
            return entry
        shape = list(entry.shape)
        for axis, dimension, _ in self._dimensions(entry.path):
            shape[dimension] = -(-shape[dimension] // self._mesh[axis])
        whole = prod(entry.shape)
        elements, size = (amount * prod(shape) // whole if whole else 0 for amount in (entry.elements, entry.bytes))
        return replace(entry, shape=tuple(shape), elements=elements, bytes=size)

    def uneven(self) -> Iterator[Problem]:
        """The dimensions that do not divide."""
        for path, entry in self._tensors.items():
            if entry.tied_to is not None:
                continue
            for axis, dimension, style in self._dimensions(path):
                count = self._mesh[axis]
                for size, written, why in self._sizes.parts(path, entry.shape, dimension, style.pieces):
                    if size % count:
                        fits = [str(each) for each in range(1, min(size, count) + 1) if size % each == 0][-8:]
                        text = f"dimension {dimension}: `{written} % {axis}`: {axis} is {_either(fits)}{why}"
                        yield Problem(path, text, not style.may_be_uneven)

    def untied(self) -> Iterator[Problem]:
        """Names of one tensor that are cut differently."""
        for path, entry in self._tensors.items():
            if entry.tied_to is not None:
                own, other = (self._placed(name) for name in (path, entry.tied_to))
                if own != other:
                    yield Problem(path, f"{own}, but {entry.tied_to}, the same tensor, is {other}")

    def _placed(self, path: str) -> str:
        cuts = [f"in dimension {dimension} by {axis}" for axis, dimension, _ in sorted(self._dimensions(path))]
        return f"cut {' and '.join(cuts)}" if cuts else "whole"

    def unpaired(self) -> Iterator[Problem]:
        """Layers that give a part of their result where no layer takes one, and layers that take a part that none gives.

        A column and a row are a pair if they are in one module, or else in one layer, the module below a number. Where one has
        a pair further down, only its author knows whether that is the other half, so the finding is a note.
        """
        halves: dict[str, dict[Side, list[str]]] = {}
        for path in self._tensors:
            module = path.rpartition(".")[0]
            for axis, _, style in self._dimensions(path):
                if style.side and len(self._tensors[path].shape) == 2 and axis in self._mesh:
                    parent = module.rpartition(".")[0]
                    halves.setdefault(parent, {}).setdefault(style.side, []).append(module)
        left: dict[str, dict[Side, list[str]]] = {}
        for parent, sides in halves.items():
            if len(sides) == 1:
                for side, modules in sides.items():
                    left.setdefault(_layer(parent), {}).setdefault(side, []).extend(modules)
        for layer, sides in left.items():
            if len(sides) == 1 and layer:
                for side, modules in sides.items():
                    text = (
                        "gives a part of its result, and no layer beside it takes one (rowwise)"
                        if side == "column"
                        else "takes a part of its input, and no layer beside it gives one (colwise)"
                    )
                    for module in modules:
                        around = module.rpartition(".")[0]
                        below = {each for other in halves if other.startswith(f"{around}.") for each in halves[other]}
                        yield Problem(module, text, below <= {side})


def _layer(path: str) -> str:
    """The module below the last number of a path, or the path if it has none."""
    segments = path.split(".")
    number = max((index for index, segment in enumerate(segments) if segment.isdecimal()), default=None)
    return path if number is None else ".".join(segments[: number + 1])


def _either(values: list[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"
