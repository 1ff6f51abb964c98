"""Tries migrations: what an earlier lock holds is loaded into the model of today, as tensors without memory."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from ..inspect.silence import aside
from .folded_lines import unfolded
from .lines import TIE, UNNAMED, Line, Lock


def tried(model: nn.Module, classes: Mapping[str, str], lock: Lock) -> list[str]:
    """The problem with the checkpoints of the earlier locks of a lock: each has to load strictly into the model.

    A `migrate` that raises NotImplementedError refuses old checkpoints on purpose.
    """
    problems: list[str] = []
    for earlier in lock.earlier:
        state = _state(earlier, classes)
        if state is None:
            continue
        named = ", ".join(f"{name} {version}" for name, version in earlier.versions.items())
        try:
            with aside(), torch.no_grad():
                model.load_state_dict(state, strict=True, assign=True)
        except NotImplementedError:
            continue
        except Exception as error:  # of the user's `migrate`, or what does not fit
            said = " ".join(str(error).split()).partition(f"for {type(model).__name__}: ")
            problems.append(f"a checkpoint of {named} does not load: {said[2] or f'{type(error).__name__}: {said[0]}'}")
    return problems


def _state(lock: Lock, classes: Mapping[str, str]) -> OrderedDict[str, Tensor] | None:
    """A state dict as a lock says, with the versions of its modules; None if a tensor had no shape."""
    lines = [line for line in unfolded(lock.lines) if line.is_saved]
    if any(line.shape == "?" for line in lines):
        return None
    tensors = {line.name: _tensor(line) for line in lines if line.kind != TIE}
    found: OrderedDict[str, Tensor] = OrderedDict()
    around = {""}
    for line in lines:
        if line.name not in tensors and line.tie not in tensors:
            continue  # tied to what no checkpoint holds
        found[line.name] = tensors[line.tie if line.kind == TIE else line.name]
        segments = line.name.split(".")
        around.update(".".join(segments[:count]) for count in range(1, len(segments)))
    # torch keeps the versions of a state dict in this attribute.
    versions = {path: {"version": lock.versions.get(classes[path], UNNAMED)} for path in around if path in classes}
    found._metadata = versions  # type: ignore[attr-defined] # torch's own attribute
    return found


def _tensor(line: Line) -> Tensor:
    dtype: torch.dtype = getattr(torch, line.dtype)
    return torch.empty(json.loads(line.shape), dtype=dtype, device="meta")
