"""Plans in dicts, lists and chains."""

from __future__ import annotations

from operator import attrgetter

import torch
from torch import Tensor

from schedule import sched
from schedule.sched import DEFAULT, Plan, build, plans


def halve(x: Tensor) -> Tensor:
    return x / 2


def merged(left: dict[str, Plan], right: dict[str, Plan]) -> dict[str, Plan]:
    return {**left, **right} | {"default": DEFAULT}


def phases(plan: sched.Plan) -> list[str]:
    return [one.phase.name for one in plan.chain()]


def main() -> None:
    made = plans()
    child = Plan(torch.ones(2), sched.Phase.HOLD, fn=halve, parent=made["short"], scale=2.0, batch_size=2)
    print(phases(child), child.apply_fn().rates, child.root.level, child.next_phase())
    built = build({"short": lambda: child})
    if built is not None and built.parent is not None:
        print(built.parent.rates.shape, built.scale * 2, built.span.low + 1)
    everything = merged(made, {"child": child})
    print(sorted(everything), everything["default"].rates, child.kind("x"), child.dtype_)
    child.phase = sched.Phase.COOL
    child.options["a"] = 1
    child.level = 2
    print(sorted(everything.values(), key=lambda plan: plan.scale)[0].scale, child.options, child.level)
    both: list[Plan | None] = [built, None, *made.values()]
    print(len([plan for plan in both if plan is not None]))
    print(list(map(attrgetter("scale"), made.values())), [one.root.phase for one in child.chain()])
    total = sum((plan.scale for plan in made.values()), 0.0)
    print(total, child.fn(torch.ones(1)) if child.fn is not None else None, child.get("scale"), child.get("phase").name)
    changed = child.replace(span=sched.Range(1, 5), options={"b": "c"})
    print(changed.span.high, changed.options)


main()
