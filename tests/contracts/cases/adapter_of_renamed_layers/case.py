"""The targets of an adapter were renamed; it attaches to nothing, or to half, and the base model answers (SimpleTuner#766)."""

from pathlib import Path

from qten_gen.tools.lock.lock import Line, Lock
from qten_gen.tools.lock.name_lists import unmatched

PLAIN = ""
OURS = "lora.yaml:target_modules: 'qkv' matches nothing: there are blocks, in_proj, proj, weight"
LOCK = Lock("shop.model:Decoder", {}, (Line("blocks.{0-1}.in_proj.weight"), Line("blocks.{0-1}.proj.weight")))


def plain() -> None:
    names = [f"blocks.{number}.{name}" for number in range(2) for name in ("in_proj", "proj")]
    targets = ["qkv", "proj"]
    assert [name for name in names if name.endswith(tuple(f".{target}" for target in targets))]


def ours() -> str:
    return "\n".join(unmatched("lora.yaml:target_modules", str(Path(__file__).parent), LOCK))
