"""A tensor parallel plan names a layer that this model calls otherwise: it stays whole on each rank (transformers#37893)."""

from pathlib import Path

from qten_gen.tools.lock.lock import Line, Lock
from qten_gen.tools.lock.name_lists import unmatched

PLAIN = ""
OURS = "plan.py:Config.base_model_tp_plan: 'layers.*.mlp.up' matches nothing: did you mean up_proj?"
LOCK = Lock(
    "shop.model:Decoder",
    {},
    (Line("model.layers.{0-1}.self_attn.q_proj.weight"), Line("model.layers.{0-1}.mlp.up_proj.weight")),
)


def plain() -> None:
    """torch's parallelize_module warns of a path that does not exist, on each rank, after the nodes are up."""


def ours() -> str:
    return "\n".join(unmatched("plan.py:Config.base_model_tp_plan", str(Path(__file__).parent), LOCK))
