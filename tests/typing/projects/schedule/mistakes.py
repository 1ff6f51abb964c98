"""Mistakes with static fields of many types."""

import torch

from schedule.sched import DEFAULT, Plan, build, plans

plan = plans()["short"]
plan.phase = "warm"  # E
plan.level = 3  # E
plan.parent.rates  # E
plan.fn(plan.rates)  # E
build({"x": lambda: 3})  # E
build({}).scale  # E
Plan(torch.ones(2), dtype_="float32")  # E
DEFAULT.rate  # E
