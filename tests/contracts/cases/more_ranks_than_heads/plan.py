"""A plan for the layers of a decoder."""

tp_plan = {"wq": "colwise", "wk": "colwise", "wo": "rowwise"}
