"""Compares the records of two models, and says the first difference of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import torch
from torch import Tensor

from .model_record import Argument, Difference, Leaf, Record

_NEW_ARGUMENTS = ("device", "dtype")
"""The further arguments of a generated constructor, by keyword."""


def compare(old: Record, new: Record) -> tuple[Difference, ...]:
    """The differences between a model and what it was before, one of each kind, in the order in which they matter."""
    return tuple(_differences(old, new))


def _differences(old: Record, new: Record) -> Iterator[Difference]:
    """The first difference of each kind."""
    yield from _constructor(old, new)
    yield from _texts("config", old.config, _config(old.config, new.config))
    yield from _lists("keys", list(old.state), list(new.state))
    yield from _values("values", old.state, new.state)
    yield from _lists("parameters", list(old.parameters), list(new.parameters))
    yield from _texts("gradients and ties of parameters", old.parameters, new.parameters)
    yield from _lists("buffers outside the state dict", list(old.buffers), list(new.buffers))
    yield from _values("values of buffers outside the state dict", old.buffers, new.buffers)
    yield from _lists("tree", old.tree, new.tree)
    yield from _attributes(old.attributes, new.attributes)
    if not torch.equal(old.random_state, new.random_state):
        yield Difference("random numbers drawn", "", "one number of draws", "another")
    for mode, call in old.calls.items():
        other = new.calls.get(mode)
        if other is None:
            continue
        yield from _leaves(f"outputs in {mode} mode", call.outputs, other.outputs)
        yield from _lists(f"names of gradients in {mode} mode", sorted(call.gradients), sorted(other.gradients))
        yield from _values(f"gradients in {mode} mode", call.gradients, other.gradients)
        yield from _values(f"state after a call in {mode} mode", call.state, other.state)


def _constructor(old: Record, new: Record) -> Iterator[Difference]:
    """Whether every call of the old constructor is one of the new: names, order and defaults.

    `**kwargs` that the new one lacks, and lists that are tuples as defaults, are worth a note.
    """
    known = {each.name for each in old.arguments if each.name not in _NEW_ARGUMENTS or each.default != "None"}
    before = _signature([each for each in old.arguments if each.name in known])
    added = [each for each in new.arguments if each.name not in known]
    allowed = [each for each in added if each.name in _NEW_ARGUMENTS and not each.is_positional]
    rest = _signature([each for each in new.arguments if each not in allowed])
    differs = old.arguments != new.arguments and before != rest
    if differs or (old.takes_others and not new.takes_others):
        is_note = list(map(_as_tuples, before)) == list(map(_as_tuples, rest))
        yield Difference("constructor", "", _written(old), _written(new), is_note=is_note)


def _written(record: Record) -> str:
    """The signature of a constructor."""
    return f"({', '.join([*_signature(record.arguments), *(['**kwargs'] if record.takes_others else [])])})"


def _as_tuples(text: str) -> str:
    """The text of a value with its lists as tuples."""
    return text.translate(str.maketrans("[]", "()"))


def _config(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """The arguments that the old constructor has too. A tuple in place of its list is as good."""
    both = {name: (old[name], text) for name, text in new.items() if name in old}
    return {name: was if _as_tuples(was) == _as_tuples(text) else text for name, (was, text) in both.items()}


def _signature(arguments: Sequence[Argument]) -> list[str]:
    found: list[str] = []
    by_position = True
    for each in arguments:
        if by_position and not each.is_positional:
            found.append("*")
            by_position = False
        found.append(each.name if each.default is None else f"{each.name}={each.default}")
    return found


def _lists(kind: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Difference]:
    """The first name that only one of two lists has, else the first place where their order differs."""
    lost, gained = [name for name in old if name not in new], [name for name in new if name not in old]
    if lost or gained:
        first = (lost or gained)[0]
        place = (old if lost else new).index(first)
        others = len(lost) + len(gained) - (2 if lost and gained else 1)
        yield Difference(kind, f"number {place + 1}", (lost or ["nothing"])[0], (gained or ["nothing"])[0], others)
    elif list(old) != list(new):
        pairs = list(zip_longest(old, new, fillvalue="nothing"))
        places = [index for index, (one, other) in enumerate(pairs) if one != other]
        yield Difference(f"{kind}, in another order", f"number {places[0] + 1}", *pairs[places[0]], len(places) - 1)


def _texts(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Difference]:
    differ = [name for name in old if name in new and old[name] != new[name]]
    missing = [name for name in old if name not in new] if kind == "config" else []
    for name in (differ + missing)[:1]:
        yield Difference(kind, name, old[name], new.get(name, "nothing"), len(differ + missing) - 1)


def _values(kind: str, old: Mapping[str, Tensor], new: Mapping[str, Tensor]) -> Iterator[Difference]:
    """The first tensor that differs, bit for bit. Names that one of them lacks are another kind."""
    differ = [name for name in old if name in new and unequal(old[name], new[name]) is not None]
    for name in differ[:1]:
        found = unequal(old[name], new[name]) or ("", "")
        yield Difference(kind, name, *found, len(differ) - 1)


def _leaves(kind: str, old: Mapping[str, Leaf], new: Mapping[str, Leaf]) -> Iterator[Difference]:
    """The first leaf that differs, one that the other lacks included."""
    names = list(dict.fromkeys([*old, *new]))
    found = [(name, pair) for name in names if (pair := _leaf_pair(old.get(name), new.get(name))) is not None]
    for name, pair in found[:1]:
        yield Difference(kind, name, *pair, len(found) - 1)


def _attributes(old: Mapping[str, Leaf], new: Mapping[str, Leaf]) -> Iterator[Difference]:
    """The first attribute that is missing or has another value. A declared class may have more: arguments and derived values."""
    found = [(name, pair) for name in old if (pair := _leaf_pair(old[name], new.get(name))) is not None]
    for name, pair in found[:1]:
        yield Difference("attributes", name, *pair, len(found) - 1)


def _leaf_pair(old: Leaf | None, new: Leaf | None) -> tuple[str, str] | None:
    """The difference between two leaves; None if there is none."""
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        return unequal(old, new)
    if isinstance(old, Tensor) or isinstance(new, Tensor) or old != new:
        return _shown(old), _shown(new)
    return None


def _shown(leaf: Leaf | None) -> str:
    if isinstance(leaf, Tensor):
        return f"a Tensor {leaf.dtype} {list(leaf.shape)}"
    return "nothing" if leaf is None else leaf


def unequal(old: Tensor, new: Tensor) -> tuple[str, str] | None:
    """The difference between two tensors, bit for bit, NaN and the sign of zero included; None if there is none."""
    kinds = [f"{each.dtype} {list(each.shape)} on {each.device.type}" for each in (old, new)]
    if kinds[0] != kinds[1]:
        return kinds[0], kinds[1]
    if old.is_meta or not old.numel():
        return None
    if old.layout is not torch.strided:
        old, new = old.to_dense(), new.to_dense()
    bits = [each.cpu().contiguous().resolve_conj().resolve_neg().reshape(-1).view(torch.uint8) for each in (old, new)]
    wrong = (bits[0] != bits[1]).reshape(old.numel(), -1).any(1)
    if not bool(wrong.any()):
        return None
    first = int(wrong.nonzero()[0])
    place = [int(each) for each in torch.unravel_index(torch.tensor(first), old.shape)]
    values = [each.reshape(-1)[first].item() for each in (old, new)]
    share = f"{int(wrong.sum())} of {old.numel()} elements"
    return f"{values[0]!r} at {place}", f"{values[1]!r} ({share} differ)"
