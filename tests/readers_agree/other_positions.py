"""Ways of writing bases, handlers and functions as values, and classes that stand elsewhere than at the top of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from .annotated import QUOTES
from .annotated import WAYS as TYPES
from .spelling import Piece, Spelling, spelling

BASES = {
    "a base": ("class Base(TensorClass):\n    a: Tensor", "Base", "class Batch(EXPR):\n    x: str"),
    "the root": ("", "TensorClass", "class Batch(EXPR):\n    x: Tensor"),
    "the root of modules": (
        "",
        "Module",
        "class Net(EXPR):\n    x: int\n    y: nn.Parameter = param(2, initializer=nn.init.ones_)",
    ),
    "a base of a module": ("class Base(Module):\n    a: int", "Base", "class Net(EXPR):\n    x: int"),
    "a second base": ("class Mixin:\n    pass", "Mixin", "class Batch(EXPR, TensorClass):\n    x: Tensor"),
    "a handler's type": ("", "str", "class Net(Module):\n    a: int\n@Net.register(EXPR)\ndef _(net, x): ..."),
    "a handler's nested type": ("", "Point", "class Net(Module):\n    a: int\n@Net.register(EXPR)\ndef _(net, x): ..."),
    "a handler's owner": ("class Net(Module):\n    a: int", "Net", "@EXPR.register(str)\ndef _(net, x): ..."),
}
"""Statements above, what is written, and where; each class decides what is declared."""

_NO_CLASSES = ("|", "Optional", "Union", "Annotated", "of", "Final", "ClassVar", "callable", "per item", "unbatched")
"""Ways that do not give a class, or that Python refuses here."""

_CONDITIONS = {
    "if": "if typing:\n    {}",
    "else": "if not typing:\n    pass\nelse:\n    {}",
    "try": "try:\n    {}\nexcept ImportError:\n    pass",
    "except": "try:\n    raise ImportError\nexcept ImportError:\n    {}",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    {}",
    "a loop": "for _ in range(1):\n    {}",
    "match": "match 1:\n    case 1:\n        {}",
    "a function": "def make():\n    {}\n    return Batch\nMade = make()",
    "a class": "class Outer:\n    {}",
    "a condition in the class": "class Batch(TensorClass):\n    a: Tensor\n    if typing:\n        x: Tensor",
    "a loop in the class": "class Batch(TensorClass):\n    a: Tensor\n    for x in ():\n        b: Tensor",
    "an assignment": "class Batch(TensorClass):\n    x: Tensor\n    x = None",
}

_HIDING = {
    "a string": "Tensor: Literal['a'] = 'a'",
    "the name of a type": "Tensor: str = 'str'",
    "its own name": "Tensor: str = 'Tensor'",
    "a number": "Tensor: int = 3",
    "None": "Tensor: object = None",
    "a type": "Tensor: type = str",
    "a tuple": "Tensor: object = (1, 2)",
    "a call": "Tensor: object = len('a')",
    "a constant": "Tensor: object = const('str')",
    "field()": "Tensor: int = field(default=3)",
    "a field of itself": "Tensor: list[Tensor] = field()",
    "a specifier": "Tensor: object = param(2, initializer=nn.init.ones_)",
    "a field without an annotation": "Tensor = field()",
    "no value": "Tensor: int",
    "no value, below": "Tensor: int = field(kw_only=True)\n    Tensor: int",
    "a value, annotated below": "Tensor = 3\n    Tensor: int",
    "a method": "def Tensor(self): pass",
    "an async method": "async def Tensor(self): pass",
    "a property": "@property\n    def Tensor(self): pass",
    "a virtual tensor": "@virtual\n    def Tensor(self, dtype, device): pass",
    "a class variable": "Tensor: ClassVar[int] = 3",
}
"""What a class body binds to the name of a type."""
_HIDDEN = {
    "a name": "Tensor",
    "in brackets": "list[Tensor]",
    "in a union": "Optional[Tensor]",
    "in a dict": "dict[str, Tensor]",
    "in Annotated": "Annotated[Tensor, 3]",
    "in a Literal": "Literal['Tensor', 3]",
    "of a module": "torch.Tensor",
    "half quoted": "list['Tensor']",
}

_FUNCTIONS = {
    "a function of torch": "F.relu",
    "a builtin function": "torch.relu",
    "a class": "nn.ReLU",
    "a lambda": "lambda x: x",
    "a partial": "functools.partial(F.leaky_relu, negative_slope=0.1)",
    "a function of the file": "relu",
    "a function of the class": "own",
    "a method of an object": "'a'.upper",
    "a wrapped function": "wrapped",
    "a static method": "staticmethod(relu)",
}
_ABOVE = (
    "def relu(x): return x\n"
    "def decorate(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n"
    "@decorate\ndef wrapped(x): return x\n"
)


def spellings() -> Iterator[Spelling]:
    """Bases and handlers in every way, and classes and functions in unusual places."""
    for (position, (before, expr, body)), (way, write) in product(BASES.items(), TYPES.items()):
        if any(word in way for word in _NO_CLASSES) or "class" in way or "own" in way:
            continue
        piece = write(Piece(expr, before=f"{before}\n"))
        yield spelling(f"{position}: {way}", replace(piece, future=False), body)
    for place, template in _CONDITIONS.items():
        inner = "class Batch(TensorClass):\n    x: Tensor".replace(
            "\n", "\n    " if "case" not in template else "\n        "
        )
        for quote in ("", "put off"):
            piece = QUOTES[quote](Piece(""))
            yield spelling(f"a class in {place}: {quote}", piece, template.replace("{}", inner))
    for (name, hiding), (where, annotation), quote, root in product(
        _HIDING.items(), _HIDDEN.items(), ("", "quoted", "put off"), ("TensorClass", "Module")
    ):
        body = f"class Batch({root}):\n    y: str\n    {hiding}\n    x: EXPR = field(kw_only=True)"
        yield spelling(f"hidden by {name}: {where}, {quote}, {root}", QUOTES[quote](Piece(annotation)), body)
    for (name, function), field, root in product(
        _FUNCTIONS.items(), ("{}", "field(default={})", "const({})"), ("TensorClass", "Module")
    ):
        body = (
            f"class Batch({root}):\n    def own(self, x): return x\n    activation: Callable = {field.format(function)}"
        )
        yield spelling(f"function: {name}, {field}, {root}", Piece("", before=_ABOVE), body)
