"""An environment with libraries, as text on the disk: what an installer leaves in `site-packages`."""

from pathlib import Path
from textwrap import dedent

NETS = """
    from torch import Tensor, nn
    from qten_gen import Module, TensorClass, param

    class Point(TensorClass):
        xy: Tensor

    class Net(Module):
        width: int
        weight: nn.Parameter = param("width", initializer=nn.init.zeros_)
"""

MODEL = """
    from torch import Tensor
    from shop_models import Net, Point

    class Wider(Net):
        depth: int

    class Box(Point):
        extent: Tensor
        corner: Point
"""


class Environment:
    """A virtual environment in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "lib" / "python3.11" / "site-packages"
        self.site.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, text: str = "") -> None:
        """Write a file below `site-packages`."""
        target = self.site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def metadata(self, name: str, files: list[str], requires: str = "qten-gen (>=1)") -> None:
        """Write the metadata of a distribution."""
        folder = f"{name.replace('-', '_')}-1.0.dist-info"
        needs = f"Requires-Dist: {requires}\n" if requires else ""
        self.write(
            f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}\nAbout qten-gen.\n"
        )
        self.write(f"{folder}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{folder}/METADATA"]))

    def install(self, suffix: str = ".py") -> None:
        """Install `shop_models`, which declares `Point` and `Net` in a module of its own and reexports them."""
        self.write(f"shop_models/__init__{suffix}", "from .nets import Net as Net, Point as Point\n")
        self.write(f"shop_models/nets{suffix}", NETS)
        self.metadata("shop-models", [f"shop_models/__init__{suffix}", f"shop_models/nets{suffix}"])
