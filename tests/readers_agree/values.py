"""Ways of writing a value, and the positions of values: defaults, arguments of specifiers, flags and class keywords."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from .spelling import Piece, Spelling, Way, elsewhere, evaluated_later, named, same, spelling, written

IN_FILE = "NAME = EXPR"

WAYS: dict[str, Way] = {
    "plain": same,
    "put off": evaluated_later,
    "in brackets": written("(EXPR)"),
    "on lines": written("(  # a comment\n        EXPR  # another\n    )"),
    "constant": named("NAME = EXPR"),
    "annotated constant": named("NAME: object = EXPR"),
    "final constant": named("NAME: Final = EXPR"),
    "several targets": named("NAME = NAME_2 = EXPR"),
    "in a tuple of constants": named("NAME, NAME_2 = EXPR, 1"),
    "constant by walrus": named("(NAME := EXPR)"),
    "walrus": written("(w := EXPR)"),
    "constant in try": named("try:\n    NAME = EXPR\nexcept ImportError:\n    NAME = EXPR"),
    "constant in try, or another": named("try:\n    NAME = EXPR\nexcept ImportError:\n    NAME = b'no'"),
    "constant in if": named("if typing:\n    NAME = EXPR\nelse:\n    NAME = b'no'"),
    "constant for the program": named("if TYPE_CHECKING:\n    NAME = b'no'\nelse:\n    NAME = EXPR"),
    "constant in a loop": named("for NAME in [EXPR]:\n    pass"),
    "constant in with": named("import contextlib\nwith contextlib.nullcontext(EXPR) as NAME:\n    pass"),
    "bound again above": named("NAME = b'no'\nNAME = EXPR"),
    "bound again below": lambda piece: replace(
        found := named("NAME = EXPR")(piece), after=f"{piece.after}{found.expr} = b'no'\n"
    ),
    "changed by a function": named("def change_NAME():\n    global NAME\n    NAME = EXPR\nNAME = b'no'\nchange_NAME()"),
    "by a function": named("def make_NAME():\n    return EXPR\nNAME = make_NAME()"),
    "a call": lambda piece: replace(found := named("def NAME():\n    return EXPR")(piece), expr=f"{found.expr}()"),
    "lambda, called": written("(lambda: EXPR)()"),
    "lambda": written("(lambda: EXPR)"),
    "function": named("def NAME():\n    return EXPR"),
    "partial, called": written("functools.partial(lambda value: value, EXPR)()"),
    "class constant": lambda piece: replace(
        found := named("class NAME:\n    value = EXPR")(piece), expr=f"{found.expr}.value"
    ),
    "constant of a dataclass": lambda piece: replace(
        found := named(
            "import dataclasses\n@dataclasses.dataclass\nclass NAME_C:\n    value: object\nNAME = NAME_C(EXPR)"
        )(piece),
        expr=f"{found.expr}.value",
    ),
    "member of an enum": lambda piece: replace(
        found := named("class NAME(enum.Enum):\n    value_ = EXPR")(piece), expr=f"{found.expr}.value_.value"
    ),
    "constant in its own class": lambda piece: replace(piece, expr="own", inside=f"own = {piece.expr}\n"),
    "class variable in its own class": lambda piece: replace(
        piece, expr="own", inside=f"own: ClassVar[object] = {piece.expr}\n"
    ),
    "conditional": written("EXPR if typing else b'no'"),
    "subscript": written("(EXPR, 1)[0]"),
    "item of a dict": written("{'a': EXPR}['a']"),
    "item of a constant": lambda piece: replace(found := named("NAME = {'a': EXPR}")(piece), expr=f"{found.expr}['a']"),
    "or": written("(None or EXPR)"),
    "and": written("(typing and EXPR)"),
    "const": written("const(EXPR)"),
    "attribute of a module": elsewhere("from . import OTHER", "OTHER.NAME"),
    "attribute of a renamed module": elsewhere("from . import OTHER as m_NAME", "m_NAME.NAME"),
    "from a file": elsewhere("from .OTHER import NAME"),
    "from a file, renamed": elsewhere("from .OTHER import NAME as N_NAME", "N_NAME"),
    "star import": elsewhere("from .OTHER import *"),
    "reexported": elsewhere("from . import NAME", init="from .OTHER import NAME"),
    "reexported by star": elsewhere("from . import NAME", init="from .OTHER import *"),
    "imported in try": elsewhere("try:\n    from .OTHER import NAME\nexcept ImportError:\n    NAME = b'no'"),
    "imported in except": elsewhere(
        "try:\n    from .missing import NAME\nexcept ImportError:\n    from .OTHER import NAME"
    ),
    "imported and bound again": lambda piece: replace(
        found := elsewhere("from .OTHER import NAME")(piece),
        before=f"{found.before}{found.expr}_1 = {found.expr}\n{found.expr} = b'no'\n",
        expr=f"{found.expr}_1",
    ),
}

NUMBERS: dict[str, str] = {
    "number": "3",
    "negative": "-3",
    "sum": "1 + 2",
    "product": "3 * 2",
    "quotient": "7 // 2",
    "power": "2 ** 3",
    "true quotient": "6 / 2",
    "bool": "True",
    "float": "0.5",
    "underscores": "1_000",
    "hexadecimal": "0x10",
    "int()": "int('3')",
    "len": "len('abc')",
    "max": "max(2, 3)",
    "IntEnum": "enum.IntEnum('Number', 'a b').b",
    "torch": "torch.iinfo(torch.int8).max",
    "comparison": "2 > 1",
    "not": "not 0",
}
STRINGS: dict[str, str] = {
    "name": "'dim'",
    "expression": "'2*dim'",
    "joined": "'2*' 'dim'",
    "sum of strings": "'2*' + 'dim'",
    "f-string": "f'{2}*dim'",
    "plain f-string": "f'dim'",
    "raw": "r'dim'",
    "long": "'''dim'''",
    "formatted": "'{}*dim'.format(2)",
    "percent": "'%s*dim' % 2",
    "repeated": "'dim' * 1",
    "bytes": "b'dim'",
    "StrEnum": "enum.StrEnum('Name', {'dim': 'dim'}).dim",
    "stripped": "' dim '.strip()",
    "path": "__name__[:0] + 'dim'",
    "no expression": "'reflect'",
    "empty": "''",
    "comparison": "'dim > 0'",
    "condition": "'dim if other else 2'",
    "attribute": "'dim.real'",
    "item": "'(1, 2)[other]'",
    "tuple": "'(dim, 2)'",
    "call": "'max(dim, other)'",
    "quoted": "\"dim == 'a'\"",
    "half": "'dim / 2'",
}
OTHERS: dict[str, str] = {
    "None": "None",
    "function": "F.relu",
    "builtin": "torch.relu",
    "class": "nn.ReLU",
    "partial": "functools.partial(F.leaky_relu, negative_slope=0.1)",
    "partial of torch": "functools.partial(nn.init.normal_, std=0.02)",
    "initialiser": "nn.init.ones_",
    "dtype": "torch.float32",
    "method": "'fill'",
    "tuple": "(1, 2)",
    "names": "('dim', 'other')",
    "tuple of sums": "(1 + 1, 'a' + 'b')",
    "list": "[1, 2]",
    "dict": "{'a': 1}",
    "set": "{1, 2}",
    "frozenset": "frozenset({1})",
    "tensor": "torch.ones(2)",
    "module": "nn.Linear(2, 2)",
    "infinity": "float('inf')",
    "complex": "1j",
    "ellipsis": "...",
    "slice": "slice(1)",
    "object": "object()",
    "a specifier": "param(2, initializer=nn.init.ones_)",
    "a buffer": "buffer(2, initializer=nn.init.ones_)",
    "a child": "submodule(nn.Linear, 2, 2)",
    "a field": "field(default=3)",
    "a field by factory": "field(default_factory=lambda: 3)",
}

POSITIONS: dict[str, str] = {
    "default of a config field": "x: object = EXPR",
    "default of a typed config field": "x: Callable = EXPR",
    "default by field()": "x: object = field(default=EXPR)",
    "factory": "x: object = field(default_factory=EXPR)",
    "keyword only": "x: int = field(default=1, kw_only=EXPR)",
    "alias": "x: int = field(default=1, alias=EXPR)",
    "dimension": "x: nn.Parameter = param(EXPR, initializer=nn.init.ones_)",
    "second dimension": "x: nn.Parameter = param('dim', EXPR, initializer=nn.init.ones_)",
    "dimensions": "x: nn.Parameter = param(*[EXPR], initializer=nn.init.ones_)",
    "dimension of a buffer": "x: Tensor = buffer(EXPR, initializer=nn.init.ones_)",
    "initialiser": "x: nn.Parameter = param('dim', initializer=EXPR)",
    "dtype": "x: nn.Parameter = param('dim', initializer=nn.init.ones_, dtype=EXPR)",
    "requires_grad": "x: nn.Parameter = param('dim', initializer=nn.init.ones_, requires_grad=EXPR)",
    "persistent": "x: Tensor = buffer('dim', initializer=nn.init.ones_, persistent=EXPR)",
    "when": "x: nn.Parameter | None = param(2, initializer=nn.init.ones_, when=EXPR)",
    "tie": "y: nn.Parameter = param(2, initializer=nn.init.ones_)\n    x: nn.Parameter = param(tie=EXPR)",
    "class of a child": "x: nn.Module = submodule(EXPR)",
    "argument of a child": "x: nn.Linear = submodule(nn.Linear, EXPR, 2)",
    "keyword of a child": "x: nn.Module = submodule(nn.Linear, 2, 2, bias=EXPR)",
    "inner argument": "x: nn.Module = submodule(nn.Sequential, submodule(nn.Linear, EXPR, 2))",
    "inner child": "x: nn.Module = submodule(nn.Sequential, EXPR)",
    "member": "x: nn.Module = sequential(EXPR)",
    "named member": "x: nn.Module = sequential(a=EXPR)",
    "condition of a member": "flag: bool = True\n    x: nn.Module = sequential(submodule(nn.Linear, 2, 2, when=EXPR))",
    "repeat of a member": "x: nn.Module = sequential(submodule(nn.Linear, 2, 2, repeat=EXPR))",
    "selector": "x: nn.Module = submodule(choice(EXPR, {1: nn.ReLU, 2: nn.GELU}))",
    "options": "x: nn.Module = submodule(choice('dim', EXPR))",
    "option": "x: nn.Module = submodule(choice('dim', {1: EXPR}))",
    "key": "x: nn.Module = submodule(choice('dim', {EXPR: nn.ReLU}))",
    "chosen argument": "x: nn.Module = submodule(nn.Linear, 2, choice('dim', {1: EXPR}))",
    "list of lists": "x: nn.Module = submodule(submodule(nn.Linear, 2, 2, repeat=EXPR), repeat=2)",
    "value": "x: Tensor = buffer(value=EXPR)",
    "value of a parameter": "x: nn.Parameter = param('dim', value=EXPR)",
    "repeat of a parameter": "x: nn.ParameterList = param(2, initializer=nn.init.ones_, repeat=EXPR)",
    "keys of a parameter": "x: nn.ParameterDict = param(2, initializer=nn.init.ones_, keys=EXPR)",
    "group": "x: nn.Parameter = param(2, initializer=nn.init.ones_, group=EXPR)",
    "repeat": "x: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat=EXPR)",
    "keys": "x: ModuleDict[nn.Linear] = submodule(nn.Linear, 2, 2, keys=EXPR)",
    "when of a child": "x: nn.Linear | None = submodule(nn.Linear, 2, 2, when=EXPR)",
    "a parameter's value": "x: nn.Parameter = EXPR",
    "a child's value": "x: nn.Linear = EXPR",
    "a tensor's value": "x: Tensor = EXPR",
    "cached": "@virtual(cached=EXPR, sources=())\n    def x(self, dtype, device) -> Tensor: ...",
    "sources": "@virtual(cached=True, sources=EXPR)\n    def x(self, dtype, device) -> Tensor: ...",
    "source": "@virtual(cached=True, sources=(EXPR,))\n    def x(self, dtype, device) -> Tensor: ...",
    "cast": "@virtual(cast=EXPR)\n    def x(self, dtype, device) -> Tensor: ...",
    "derived": "x: object = derived(EXPR)",
    "unpacked and derived": "x: object = derived(*[EXPR])",
    "check": "check(EXPR)",
    "second check": "check('dim > 0')\n    check(EXPR)",
    "when of one of several": "x: ModuleList[nn.Linear] = submodule(nn.Linear, 2, 2, repeat=2, when=EXPR)",
    "unpacked": "x: nn.Linear = submodule(nn.Linear, **{'in_features': EXPR, 'out_features': 2})",
}
"""Fields of a Module with a value somewhere."""

NET = "class Net(Module):\n    INSIDE\n    dim: int\n    other: int = 1\n    {}\n    def fill(self, tensor): tensor.zero_()"

BATCH_POSITIONS: dict[str, str] = {
    "default of a static field": "class Batch(TensorClass):\n    INSIDE\n    x: object = EXPR",
    "default of a tensor": "class Batch(TensorClass):\n    INSIDE\n    x: Tensor = EXPR",
    "default of a number": "class Batch(TensorClass):\n    INSIDE\n    x: float = EXPR",
    "default of an optional": "class Batch(TensorClass):\n    INSIDE\n    x: Tensor | None = EXPR",
    "default by field() of a batch": "class Batch(TensorClass):\n    INSIDE\n    x: object = field(default=EXPR)",
    "alias in a batch": "class Batch(TensorClass):\n    INSIDE\n    x: object = field(default=1, alias=EXPR)",
    "factory of a batch": "class Batch(TensorClass):\n    INSIDE\n    x: object = field(default_factory=EXPR)",
    "a flag": "class Batch(TensorClass, frozen=EXPR):\n    x: Tensor",
    "checks": "class Batch(TensorClass, checks=EXPR):\n    x: Tensor",
    "flag in brackets": "class Batch(TensorClass[EXPR]):\n    x: Tensor",
    "unpacked flags": "class Batch(TensorClass, **{'frozen': EXPR}):\n    x: Tensor",
    "init": "class Base(Module):\n    def __init__(self): super().__init__()\nclass Net(Base, init=EXPR):\n    x: int",
}

FITTING: dict[str, tuple[str, ...]] = {
    "dimension": ("3", "-3", "'2*dim'", "1 + 2"),
    "argument of a child": ("3", "-3", "'2*dim'", "F.relu", "const('a')", "1 + 2", "(1, 'a')"),
    "keyword of a child": ("True", "'dim'", "None", "0.5", "torch.float32"),
    "inner argument": ("3", "'dim'"),
    "repeat": ("3", "'dim'"),
    "when": ("'dim'", "'not dim or other > 1'"),
    "when of one of several": ("'index > 0'", "'dim == index and other != 2'"),
    "derived": ("3", "'2*dim'", "'dim if other is None else (dim, other)[0]'"),
    "check": ("'dim > 0'", "'dim % other == 0 and len((dim, other)) >= min(other, 1)'"),
    "tie": ("'y'",),
    "keys": ("('a', 'b')", "'dim'"),
    "keyword only": ("True",),
    "requires_grad": ("False",),
    "persistent": ("False",),
    "initialiser": ("nn.init.zeros_", "'fill'", "lambda x: x.zero_()"),
    "dtype": ("torch.float32",),
    "class of a child": ("nn.ReLU", "Block"),
    "default of a config field": ("3", "'a'", "F.relu", "torch.ones(2)", "[1]", "nn.Linear(2, 2)"),
    "a parameter's value": ("param(2, initializer=nn.init.ones_)", "None"),
    "a child's value": ("submodule(nn.Linear, 2, 2)", "None"),
    "a tensor's value": ("buffer(2, initializer=nn.init.ones_)", "None"),
    "default by field()": ("3", "[1]"),
    "factory": ("list", "lambda: 3"),
    "inner child": ("submodule(nn.Linear, 2, 2)",),
    "member": ("submodule(nn.Linear, 2, 2)", "nn.ReLU"),
    "condition of a member": ("'flag'",),
    "repeat of a member": ("2", "'dim'"),
    "selector": ("'dim'",),
    "options": ("{1: nn.ReLU}",),
    "option": ("nn.ReLU",),
    "key": ("1",),
    "list of lists": ("2",),
    "value": ("'fill'", "lambda module: torch.ones(2)"),
    "repeat of a parameter": ("2",),
    "keys of a parameter": ("('a', 'b')",),
    "group": ("'no_decay'",),
    "alias": ("'given'", "'x_class'"),
    "cached": ("True", "'may_be_stale'"),
    "sources": ("('dim',)", "()"),
    "source": ("'dim'",),
    "cast": ("True",),
    "unpacked": ("3",),
    "a flag": ("True", "False"),
    "checks": ("'off'",),
    "flag in brackets": ("'frozen'",),
    "unpacked flags": ("True",),
    "init": ("False",),
    "default of a static field": ("'a'", "[1]", "F.relu"),
    "default of a tensor": ("None", "torch.ones(2)", "1"),
    "default of an optional": ("None",),
    "default of a number": ("1", "0.5", "None"),
    "factory of a batch": ("list",),
}
"""Values that fit a position, which are written in all ways."""

BODIES = {**{name: NET.format(field) for name, field in POSITIONS.items()}, **BATCH_POSITIONS}


def spellings() -> Iterator[Spelling]:
    """What fits a position in all ways of writing it, and everything in every position."""
    for position, values in FITTING.items():
        for value, (way, write) in product(values, WAYS.items()):
            yield spelling(f"{position}: {way}, {value}", write(Piece(value)), BODIES[position])
    for (position, body), (kind, value) in product(BODIES.items(), {**NUMBERS, **STRINGS, **OTHERS}.items()):
        yield spelling(f"{position}: value, {kind}", Piece(value), body)
