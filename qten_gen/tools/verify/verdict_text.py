"""A verdict as text."""

from __future__ import annotations

from collections.abc import Iterator

from .verifying import Verdict

_OF_NO_TENSOR = {"constructor", "config", "tree", "attributes", "random numbers drawn"}
"""The kinds of differences that leave all tensors equal."""


def lines(verdict: Verdict, *, took: float | None = None) -> Iterator[str]:
    """The lines of a verdict."""
    for difference in verdict.differences:
        where = f" {difference.where}" if difference.where else ""
        more = f" (and {difference.more} more)" if difference.more else ""
        what = f"note: different {difference.kind}, in **kwargs or lists for tuples alone:"
        yield what if difference.is_note else f"different {difference.kind}:{where}{more}"
        yield f"  old  {difference.old}"
        yield f"  new  {difference.new}"
    for name in verdict.unwritten[:1]:
        more = f" and {len(verdict.unwritten) - 1} more" if len(verdict.unwritten) > 1 else ""
        yield f"note: the constructor does not write the memory of {name}{more}; it was filled with random numbers for forward"
    if verdict.failure is not None:
        yield f"error: forward raised in both: {verdict.failure}"
    elif not verdict.ran:
        yield 'note: outputs and gradients were not compared; pass inputs: --run "x: Float[2, 16, 64]"'
    yield f"{verdict.target}: {_said(verdict)}" + (f" in {took:.2f}s" if took is not None else "")


def _said(verdict: Verdict) -> str:
    """What is equal and what differs, in one line."""
    compared = f"{verdict.tensors} tensors" + (", outputs and gradients" if verdict.ran else "")
    differing = [each.kind for each in verdict.differences if not each.is_note]
    if verdict.failure is not None:
        compared = f"{verdict.tensors} tensors; forward could not be compared"
    if not differing:
        return f"equal ({compared})"
    rest = f"; {compared} are equal" if verdict.failure is None and set(differing) <= _OF_NO_TENSOR else ""
    return f"not equal: different {', '.join(differing)}{rest}"
