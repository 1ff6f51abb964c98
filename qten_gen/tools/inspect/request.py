"""What a user asks of `qten-gen inspect`, and the error for what cannot be done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """The model to inspect, and what to find out about it. All values are text as the user wrote it."""

    target: str
    """Where the model is: `pkg.model:Decoder`."""
    config: tuple[str, ...] = ()
    """Arguments of its constructor: `("depth=48", "dim=8192")`."""
    config_json: str | None = None
    """The same as a JSON object."""
    inputs: tuple[str, ...] | None = None
    """The inputs to run forward with: `("tokens: Int[4,2048]",)`; None for no run, empty for a forward without inputs."""
    ranks: int | None = None
    """The number of ranks that the parameters are divided among."""
    mesh: str | None = None
    """The mesh that a sharding plan is for: `tp=8,ep=4`."""
    plan: str | None = None
    """Where the plan is, `shop/plans.py:tp_plan`; None for the model's own."""
    dtype: str | None = None
    device: str = "cpu"
    import_roots: tuple[str, ...] = ()
    """Folders to import from, beside `sys.path`."""


class InspectionError(Exception):
    """Why a model cannot be inspected: everything that is wrong, a line each."""

    def __init__(self, problems: Sequence[str], *, is_misuse: bool = True, trace: str = "") -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
        self.is_misuse = is_misuse
        """Whether the arguments of the command are wrong, rather than the model."""
        self.trace = trace
        """The frames of the user's code that led to it, as Python prints them; empty for none."""


def split_call(target: str) -> tuple[str, tuple[str, ...]]:
    """The target and the arguments of one with arguments, as settings name it: `shop.model:Decoder(width=64, depth=2)`.

    Raises:
        InspectionError: It is not of that form.
    """
    matched = _CALL.fullmatch(target)
    if matched is None:
        raise InspectionError([f"the target {target!r} is not of the form module:name(argument=value, ...)"])
    return matched[1], tuple(_split(matched[2] or ""))


def in_settings(problem: str, target: str) -> str:
    """A problem of a target of the settings, where arguments stand behind its name.

    >>> in_settings("Net: width: missing (int); it has no default, pass --config width=VALUE", "shop.model:Net")
    'Net: width: missing (int); it has no default, write "shop.model:Net(width=VALUE)" for the target'
    """
    name = target.partition("(")[0]
    return re.sub(r"pass --config (\S+=VALUE)", rf'write "{name}(\1)" for the target', problem)


_CALL = re.compile(r"([^()]+?)\s*(?:\((.*)\))?\s*", re.DOTALL)


def _split(arguments: str) -> Iterator[str]:
    """Arguments between commas that stand in no brackets and no quotes."""
    pieces = re.findall(r"""(?:\[[^]]*\]|\{[^}]*\}|\([^)]*\)|"[^"]*"|'[^']*'|[^,])+""", arguments)
    for piece in pieces:
        name, _, value = piece.strip().partition("=")
        text = value.strip()
        is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        yield f"{name.strip()}={text[1:-1] if is_quoted else text}"
