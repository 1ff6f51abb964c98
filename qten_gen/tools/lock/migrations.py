"""What `migrate` follows from the differences of two locks, for each class whose version has to be raised; and trying it.

What an earlier lock holds is loaded into the model of today, as tensors without memory.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..inspect.user_code import aside
from .lines import TIE, UNNAMED, Line, Lock, unfolded
from .lock_differences import Difference, shown


class Migration(NamedTuple):
    """The changes that a class has to make to a state dict of its last version; the names are those in the module."""

    path: str
    """One of the modules of the class."""
    version: int
    """The version that the class gets."""
    renames: tuple[tuple[str, str], ...]
    undecided: tuple[str, ...]
    """The decisions left to a person: `added position: float32 [10, 8] param`."""

    @property
    def lines(self) -> list[str]:
        """The statements, without indentation."""
        body: list[str] = []
        if self.renames:
            pairs = ", ".join(f'("{old}", "{new}")' for old, new in self.renames)
            pairs += "," if len(self.renames) == 1 else ""
            body = [f"for old, new in ({pairs}):", "    if old in state_dict:"]
            body += ["        state_dict[new] = state_dict.pop(old)"]
        if self.undecided:
            what = (line.replace("\\", "\\\\").replace('"', '\\"') for line in self.undecided)
            body += ["raise NotImplementedError(", '    "old checkpoints"', *(f'    "; {line}"' for line in what), ")"]
        return [f"if version < {self.version}:", *(f"    {line}" for line in body)]


def migrations(found: Iterable[Difference], old: Lock, new: Lock, classes: Mapping[str, str]) -> dict[str, Migration]:
    """The migration of each class, by its name; the class of a difference is the innermost that the old lock has, too."""
    known = {path for line in unfolded(old.lines) for path in around(line.name)}
    of_class: dict[str, tuple[str, dict[Difference, None]]] = {}
    for item in found:
        path = owner(item.name, classes, known)
        if path is None:
            continue
        _, differences = of_class.setdefault(classes[path], (path, {}))
        differences[_within(item, path)] = None
    return {
        name: Migration(
            path,
            max(old.versions.get(name, UNNAMED), new.versions.get(name, UNNAMED)) + 1,
            tuple((item.before, item.name) for item in differences if item.change == "renamed"),
            tuple(" ".join(str(item).split()) for item in shown(differences) if item.change != "renamed"),
        )
        for name, (path, differences) in of_class.items()
    }


def owner(name: str, classes: Mapping[str, str], known: Iterable[str]) -> str | None:
    """The innermost module around a tensor that a user class made, and that there was before."""
    return next((path for path in around(name) if path in classes and (path in known or not path)), None)


def around(name: str) -> Iterator[str]:
    """The paths of the modules around a tensor, the innermost first."""
    while name:
        name = name.rpartition(".")[0]
        yield name


def _within(item: Difference, path: str) -> Difference:
    """A difference with the names that a module has for its tensors."""
    prefix = f"{path}." if path else ""
    before = item.before.removeprefix(prefix) if item.change in ("renamed", "tied", "untied") else item.before
    return item._replace(name=item.name.removeprefix(prefix), before=before)


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
