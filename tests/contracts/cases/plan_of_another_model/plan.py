"""A configuration as transformers writes them."""

from typing import ClassVar


class Config:
    base_model_tp_plan: ClassVar = {"layers.*.self_attn.q_proj": "colwise", "layers.*.mlp.up": "colwise"}
