"""Names of parameters that are checked: `select`, `partition`, and `audit` for the groups of an optimizer. For any nn.Module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import EllipsisType
from typing import Any, Literal, overload

from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.optim import Optimizer

from ...common.name_patterns import PatternError, listed, matching
from ...common.suggestions import did_you_mean
from .module_base import ModuleBase


@overload
def select(model: nn.Module, *patterns: str, of: Literal["parameters"] = "parameters") -> dict[str, nn.Parameter]: ...
@overload
def select(model: nn.Module, *patterns: str, of: Literal["buffers"]) -> dict[str, Tensor]: ...
@overload
def select(model: nn.Module, *patterns: str, of: Literal["modules"]) -> dict[str, nn.Module]: ...
def select(
    model: nn.Module, *patterns: str, of: Literal["parameters", "buffers", "modules"] = "parameters"
) -> Mapping[str, object]:
    """The parameters of a module whose names match a pattern; a pattern that matches nothing is an error.

    A pattern is compared with whole names, segment by segment: `*` is anything within a segment, `**` any number of segments,
    `{q,k,v}` one of several texts, `{0-11}` one of these numbers.

    >>> model = nn.ModuleDict({"encoder": nn.Linear(2, 3), "decoder": nn.Linear(3, 2)})
    >>> list(select(model, "*coder.weight"))
    ['encoder.weight', 'decoder.weight']
    >>> select(model, "encodr.**")
    Traceback (most recent call last):
    ValueError: select(): 'encodr.**' matches nothing: did you mean encoder?

    Args:
        model: Any nn.Module, declared or not.
        patterns: One or more patterns; each of the texts in braces has to match something, too.
        of: What is selected.

    Returns:
        What is selected by name, in the order of the module, each once, under the first of its names that match.

    Raises:
        TypeError: a pattern is not a string, such as a list of patterns.
        ValueError: a pattern is malformed or matches nothing, or there is no pattern.
    """
    if not patterns:
        raise ValueError('select() takes a pattern, such as "**.weight"')
    named = _named(model, of)
    wanted = {name for pattern in patterns for name in _matching("select()", pattern, named)}
    found: dict[int, tuple[str, object]] = {}
    for name, held in named.items():
        if name in wanted:
            found.setdefault(id(held), (name, held))
    return dict(found.values())


def partition(
    model: nn.Module, groups: Mapping[str, str | Iterable[str] | EllipsisType]
) -> dict[str, dict[str, nn.Parameter]]:
    """All parameters of a module in groups: each in exactly one, or an error that names it.

    >>> groups = partition(nn.Linear(2, 3), {"decay": "weight", "rest": ...})
    >>> {name: list(group) for name, group in groups.items()}
    {'decay': ['weight'], 'rest': ['bias']}
    >>> decay, rest = (list(group.values()) for group in groups.values())
    >>> optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest}])

    Args:
        model: Any nn.Module, declared or not.
        groups: The patterns of each group, as `select` takes them; `...` for all parameters that no other group has.

    Returns:
        The parameters of each group by name, in the order of the groups. A group `...` may be empty.

    Raises:
        ValueError: a pattern matches nothing, or a parameter is in no group, or in two, under one of its names or another.
    """
    named = _named(model, "parameters")
    group_of: dict[int, tuple[str, str]] = {}
    problems: list[str] = []
    rest = [group for group, patterns in groups.items() if isinstance(patterns, EllipsisType)]
    if len(rest) > 1:
        raise ValueError(f"partition(): {' and '.join(map(repr, rest))} are both `...`")
    for group, patterns in groups.items():
        if isinstance(patterns, EllipsisType):
            continue
        given = [patterns] if isinstance(patterns, str) else patterns
        matched = {name for pattern in given for name in _matching(f"partition(): {group}", pattern, named)}
        for name in filter(matched.__contains__, named):
            other, first = group_of.setdefault(id(named[name]), (group, name))
            if other != group:
                problems.append(f"{name} is in {group!r} and in {other!r}{'' if first == name else f', as {first}'}")
    left = []
    for name, parameter in named.items():
        if id(parameter) not in group_of:
            group_of[id(parameter)] = (rest[0] if rest else "", name)
            left.append(name)
    if left and not rest:
        problems.append(f"in no group: {listed(left)}; add a group with `...` for the rest")
    if problems:
        raise ValueError("partition(): " + "; ".join(problems))
    return {
        group: {name: each for name, each in named.items() if group_of[id(each)] == (group, name)} for group in groups
    }


def audit(model: nn.Module, *optimizers: Optimizer) -> None:
    """Check that optimizers that somebody else built have each trainable parameter of a module exactly once.

    >>> model = nn.Linear(2, 3)
    >>> audit(model, torch.optim.SGD(model.parameters()))
    >>> audit(model, torch.optim.SGD([model.weight]))
    Traceback (most recent call last):
    ValueError: audit(): in no group: bias

    Args:
        model: Any nn.Module, declared or not.
        optimizers: One or several, which share the parameters between them.

    Raises:
        TypeError: a list of optimizers is passed as one.
        ValueError: a parameter that records gradients is in no group, or one is in several, or a group has parameters that are
            not the module's, such as the ones of a layer that was replaced since.
    """
    for optimizer in optimizers:
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(
                f"audit(): takes optimizers one by one, got a {type(optimizer).__name__}; write audit(model, *optimizers)"
            )
    names: dict[int, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), name)
    held = [parameter for optimizer in optimizers for group in optimizer.param_groups for parameter in group["params"]]
    counts = Counter(map(id, held))
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    missing = [names[id(parameter)] for parameter in trainable if id(parameter) not in counts]
    several = [names[each] for each, count in counts.items() if count > 1 and each in names]
    strange = [tuple(parameter.shape) for parameter in held if id(parameter) not in names]
    found = [f"in no group: {listed(missing)}"] if missing else []
    found += [f"in several groups: {listed(several)}"] if several else []
    if strange:
        found.append(
            f"{len(strange)} that the module does not have, of shape {listed([str(shape) for shape in strange])}"
        )
    if found:
        raise ValueError("audit(): " + "; ".join(found))


def _named(model: nn.Module, of: str) -> dict[str, Any]:
    """The tensors or modules in a module under all their names, ties included."""
    if of not in ("parameters", "buffers", "modules"):
        raise ValueError(f"select(): of must be 'parameters', 'buffers' or 'modules', got {of!r}")
    found = dict(getattr(model, f"named_{of}")(remove_duplicate=False))
    found.pop("", None)  # the module itself
    return found


def _matching(caller: str, pattern: object, names: Collection[str]) -> list[str]:
    if not isinstance(pattern, str):
        raise TypeError(f'{caller} takes patterns, such as "**.weight", got {type(pattern).__name__}')
    try:
        return matching(pattern, names)
    except PatternError as error:
        separator = ": " if caller.endswith("()") else " "
        raise ValueError(f"{caller}{separator}{error}") from None


DEFAULT = "default"
"""The group of the parameters that no declaration gives one."""


def optimizer_groups(root: nn.Module, options: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """See `Module.optimizer_groups`. A parameter under several names is in the first group that one of them has."""
    known = {DEFAULT, *(group for module in root.modules() for group in _groups_of(module).values())}
    for name, given in options.items():
        if name not in known:
            help = did_you_mean(name, sorted(known), f"the groups are {', '.join(sorted(known))}")
            raise ValueError(f"{type(root).__name__} has no parameter group {name!r}: {help}")
        for key in ("params", "name"):
            if key in given:
                raise ValueError(f"the options of the group {name!r} contain {key!r}, which optimizer_groups() writes")
    group_of: dict[nn.Parameter, str | None] = {}
    for parameter, group in _grouped(root, None):
        group_of[parameter] = group_of.get(parameter) or group
    found: dict[str, list[nn.Parameter]] = {}
    for parameter, group in group_of.items():
        found.setdefault(group or DEFAULT, []).append(parameter)
    return [{"params": parameters, "name": name, **options.get(name, {})} for name, parameters in found.items()]


def _groups_of(module: nn.Module) -> dict[str, str]:
    return module._groups if isinstance(module, ModuleBase) else {}


def _grouped(module: nn.Module, group: str | None) -> Iterator[tuple[nn.Parameter, str | None]]:
    """All parameters with their groups, several times under several names. `group` is the module's own."""
    own = _groups_of(module)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield parameter, own.get(name, group)
    for name, child in module._modules.items():
        if child is None:
            continue
        # The tensor that a parametrized field is computed from stands there, under the name of the field.
        if name == "parametrizations" and parametrize.is_parametrized(module):
            for of, parts in child.named_children():
                yield from _grouped(parts, own.get(of, group))
        else:
            yield from _grouped(child, own.get(name, group))
