"""Small projects made at random, whose files depend on each other in every way that the generator knows."""

from hypothesis import strategies as st

LANGUAGE = "from qten_gen import Module, TensorClass, buffer, param, submodule\nfrom torch import Tensor, nn\n"
KINDS = (
    "from torch import Tensor\nHeights = Tensor\n",
    "Heights = str\n",
    "import enum\nclass Heights(enum.Enum):\n    A = 1\n",
    "from torch import Tensor\nclass Heights(Tensor): ...\n",
    "class Heights: ...\n",
    "Heights = (\n",
)
COMMON = (
    "from torch import Tensor\nfrom qten_gen import TensorClass, Module, param\n",
    "from builtins import str as Tensor\nfrom qten_gen import TensorClass, Module\n",
    "from .kinds import *\nfrom torch import Tensor, nn\nfrom qten_gen import *\n",
    "x = 1\n",
)
BASE = (
    f"{LANGUAGE}from .kinds import Heights\nclass Base(TensorClass):\n    h: Heights\n",
    f"{LANGUAGE}class Base(TensorClass, frozen=True):\n    a: Tensor\n    b: Tensor\n",
    "from .common import Tensor, TensorClass\nclass Base(TensorClass):\n    a: Tensor\n",
    "from .common import *\nclass Base(TensorClass):\n    a: Tensor\n    h: Heights\n",
    f"{LANGUAGE}class Base(TensorClass):\n    w: float\n",
    f"{LANGUAGE}class Base(TensorClass, frozn=True):\n    a: Tensor\n",
    f"{LANGUAGE}from .leaf import Leaf\nclass Base(Leaf):\n    a: Tensor\n",
    "class Base: ...\n",
    "class Base(\n",
)
MIDDLE = (
    "from torch import Tensor\nfrom .base import Base\nclass Middle(Base):\n    m: Tensor\n",
    "from torch import Tensor\nfrom . import base\nclass Middle(base.Base):\n    m: Tensor\n",
    "from .base import *\nfrom .kinds import *\nclass Middle(Base):\n    m: Heights\n",
    "from .base import Base\nMiddle = Base\n",
    "from .base import Base as Middle\n",
    "import shop.base as b\nclass Middle(b.Base):\n    own: 'b.Base'\n",
)
LEAF = (
    "from torch import Tensor\nfrom .middle import Middle\nclass Leaf(Middle):\n    leaf: Tensor\n",
    f"{LANGUAGE}from .middle import Middle\nfrom .base import Base\n"
    "class Leaf(TensorClass):\n    m: Middle\n    b: Base | None\n",
    f"{LANGUAGE}from shop import Base\nclass Leaf(TensorClass):\n    b: Base\n    w: int\n",
    f"{LANGUAGE}from shop import middle\nimport shop.common\n"
    "class Leaf(middle.Middle, TensorClass):\n    x: 'shop.kinds.Heights'\n",
)
NET = (
    f"{LANGUAGE}class Net(Module):\n    dim: int\n    w: nn.Parameter = param('dim', initializer=nn.init.ones_)\n"
    "    def forward(self, x: Tensor) -> Tensor:\n        return x\n",
    "from .common import Module, param\nfrom torch import nn\nclass Net(Module):\n    dim: int\n"
    "    w: nn.Parameter = param('dim', initializer=nn.init.ones_)\n",
    f"{LANGUAGE}class Parent(Module):\n    dim: int\nclass Net(Parent):\n    other: int = 3\n",
)
USER = (
    f"{LANGUAGE}from .net import Net\nclass User(Module):\n    net: Net = submodule(Net, 3)\n"
    "    head: nn.Parameter = param(tie='net.w')\n",
    f"{LANGUAGE}from .net import Net\nclass User(Net):\n    more: int = 1\n",
)
HANDLERS = (
    "from .net import Net\nfrom .leaf import Leaf\n@Net.register(Leaf)\ndef on_leaf(net: Net, leaf: Leaf) -> int: ...\n",
    "from . import net, base\n@net.Net.register(base.Base)\ndef on_base(net, given) -> str: ...\n",
    "from .net import Net\n@Net.register(int)\ndef on_int(net: Net) -> str: ...\n",
    "from .user import User\n@User.register(int)\ndef on_int(user: User, given: int) -> str: ...\n",
    "import atexit\natexit.register(print)\n",
)
MORE_HANDLERS = (
    "from .net import Net\n@Net.register(int)\ndef second(net: Net, given: int) -> float: ...\n",
    "from .net import Net\n@Net.register(bool)\ndef second(net: Net, given: bool) -> float: ...\n",
)
PACKAGE = ("", "from .base import Base\n", "from .middle import *\nfrom . import more\n")
FILES = {
    "shop/__init__.py": PACKAGE,
    "shop/base.py": BASE,
    "shop/common.py": COMMON,
    "shop/handlers.py": HANDLERS,
    "shop/kinds.py": KINDS,
    "shop/leaf.py": LEAF,
    "shop/middle.py": MIDDLE,
    "shop/more.py": MORE_HANDLERS,
    "shop/net.py": NET,
    "shop/user.py": USER,
    "script/kinds.py": KINDS,
    "script/run.py": (
        "from kinds import Heights\nfrom qten_gen import TensorClass\nclass Run(TensorClass):\n    x: Heights\n",
    ),
    "other/run.py": ("from shop.base import Base\nclass Other(Base): ...\n", "import shop.handlers\n"),
}
CHANGES = ("", "# a comment\n\n", "def extra(x):\n    return x\n\n", "import os.path\n")

Project = dict[str, str]


@st.composite
def a_file(draw: st.DrawFn, path: str) -> str:
    """The text of a file."""
    return draw(st.sampled_from(CHANGES)) + draw(st.sampled_from(FILES[path]))


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Sources by path."""
    paths = draw(st.lists(st.sampled_from(sorted(FILES)), unique=True, min_size=2))
    return {
        "shop/__init__.py": draw(a_file("shop/__init__.py")),
        **{path: draw(a_file(path)) for path in sorted(paths)},
    }


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[str, str | None]]:
    """Changes of files: the new text of a path, or None to delete it."""
    paths = draw(st.lists(st.sampled_from(sorted(set(FILES) - {"shop/__init__.py"})), min_size=1, max_size=3))
    return [(path, draw(st.none() | a_file(path) | a_file(path) | a_file(path))) for path in paths]
