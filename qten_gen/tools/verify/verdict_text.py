"""A verdict as text."""

from __future__ import annotations

from collections.abc import Iterator

from .verifying import Verdict


def lines(verdict: Verdict, *, took: float | None = None) -> Iterator[str]:
    """The lines of a verdict."""
    for difference in verdict.differences:
        where = f" {difference.where}" if difference.where else ""
        more = f" (and {difference.more} more)" if difference.more else ""
        yield f"different {difference.kind}:{where}{more}"
        yield f"  old  {difference.old}"
        yield f"  new  {difference.new}"
    for name in verdict.unwritten[:1]:
        more = f" and {len(verdict.unwritten) - 1} more" if len(verdict.unwritten) > 1 else ""
        yield f"note: the constructor does not write the memory of {name}{more}; it was filled with random numbers for forward"
    if verdict.failure is not None:
        yield f"error: forward raised in both: {verdict.failure}"
    elif not verdict.ran:
        yield 'note: outputs and gradients were not compared; pass inputs: --run "x: Float[2, 16, 64]"'
    said = "not equal" if verdict.differences else "equal"
    compared = f"{verdict.tensors} tensors" + (", outputs and gradients" if verdict.ran else "")
    if verdict.failure is not None:
        compared = f"{verdict.tensors} tensors; forward could not be compared"
    yield f"{verdict.target}: {said} ({compared})" + (f" in {took:.2f}s" if took is not None else "")
