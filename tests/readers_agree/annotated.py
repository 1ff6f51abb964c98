"""Ways of writing an annotation, and the positions of annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from .spelling import Piece, Spelling, Way, elsewhere, evaluated_later, named, same, spelling, written

TYPES = {
    "tensor": "Tensor",
    "optional": "Tensor | None",
    "nested": "Point",
    "static": "str",
    "number": "int",
    "list": "list[Tensor]",
    "dict": "dict[str, Tensor]",
    "unbatched": "Unbatched[Tensor]",
    "items": "PerItem[str]",
    "shape": 'Float[Tensor, "*batch s"]',
}
"""An annotation for each kind of field."""

_TWO = "try:\n    NAME = {}\nexcept ImportError:\n    NAME = {}"


def filled(text: str) -> Way:
    """The annotation as the argument of a generic alias."""
    return lambda piece: replace(found := named(text)(piece), expr=f"{found.expr}[{piece.expr}]")


WAYS: dict[str, Way] = {
    "plain": same,
    "in brackets": written("(EXPR)"),
    "on lines": written("(  # a comment\n        EXPR  # another\n    )"),
    "put off": evaluated_later,
    "alias": named("NAME = EXPR"),
    "annotated alias": named("NAME: TypeAlias = EXPR"),
    "TypeAliasType": named("NAME = TypeAliasType('NAME', EXPR)"),
    "TypeAliasType by keyword": named("NAME = TypeAliasType(name='NAME', value=EXPR)"),
    "several targets": named("NAME = NAME_2 = EXPR"),
    "alias by walrus": named("(NAME := EXPR)"),
    "alias in a tuple": named("NAME, NAME_2 = EXPR, int"),
    "alias in try": named("try:\n    NAME = EXPR\nexcept ImportError:\n    NAME = EXPR"),
    "alias in try, or another": named(_TWO.format("EXPR", "bytes")),
    "another alias in try, or this": named("try:\n    NAME = __MISSING__\nexcept NameError:\n    NAME = EXPR"),
    "alias in if": named("if typing:\n    NAME = EXPR\nelse:\n    NAME = bytes"),
    "alias in else": named("if not typing:\n    NAME = bytes\nelse:\n    NAME = EXPR"),
    "alias for checkers and the program": named("if TYPE_CHECKING:\n    NAME = EXPR\nelse:\n    NAME = EXPR"),
    "alias for the program": named("if TYPE_CHECKING:\n    NAME = bytes\nelse:\n    NAME = EXPR"),
    "alias in with": named("import contextlib\nwith contextlib.nullcontext():\n    NAME = EXPR"),
    "alias in a loop": named("for _ in range(1):\n    NAME = EXPR"),
    "alias in match": named("match 1:\n    case 1:\n        NAME = EXPR"),
    "bound again above": named("NAME = bytes\nNAME = EXPR"),
    "bound again below": lambda piece: replace(
        found := named("NAME = EXPR")(piece), after=f"{piece.after}{found.expr} = bytes\n"
    ),
    "alias by a function": named("def make_NAME():\n    return EXPR\nNAME = make_NAME()"),
    "alias in a class": named("class Types_NAME:\n    NAME = EXPR\nNAME = Types_NAME.NAME"),
    "attribute of a class": lambda piece: replace(
        found := named("class NAME:\n    inner = EXPR")(piece), expr=f"{found.expr}.inner"
    ),
    "alias in its own class": lambda piece: replace(piece, expr="Own", inside=f"Own = {piece.expr}\n"),
    "recursive alias": named("NAME = Union[EXPR, list['NAME'], dict[str, 'NAME']]"),
    "recursive TypeAliasType": named("NAME = TypeAliasType('NAME', 'EXPR | list[NAME] | dict[str, NAME]')"),
    "generic alias": filled("T_NAME = TypeVar('T_NAME')\nNAME = Union[T_NAME, None]"),
    "generic alias of an optional": filled("T_NAME = TypeVar('T_NAME')\nNAME = Optional[T_NAME]"),
    "generic TypeAliasType": filled(
        "T_NAME = TypeVar('T_NAME')\nNAME = TypeAliasType('NAME', Union[T_NAME, None], type_params=(T_NAME,))"
    ),
    "generic alias left open": named("T_NAME = TypeVar('T_NAME', bound=EXPR)\nNAME = Optional[T_NAME]"),
    "Optional": written("Optional[EXPR]"),
    "Union": written("Union[EXPR, None]"),
    "Union of one": written("Union[EXPR]"),
    "bar": written("EXPR | None"),
    "bar before": written("None | EXPR"),
    "typing.Optional": written("typing.Optional[EXPR]"),
    "Annotated": written("Annotated[EXPR, 'a note', 3]"),
    "Annotated deep": written("Annotated[Annotated[EXPR, 1], 2]"),
    "Final": written("Final[EXPR]"),
    "ClassVar": written("ClassVar[EXPR]"),
    "list of": written("list[EXPR]"),
    "dict of": written("dict[str, EXPR]"),
    "tuple of": written("tuple[EXPR, ...]"),
    "type of": written("type[EXPR]"),
    "callable": written("Callable[[EXPR], EXPR]"),
    "unbatched": written("Unbatched[EXPR]"),
    "per item": written("PerItem[EXPR]"),
    "typing.List": written("typing.List[EXPR]"),
    "typing.Dict": written("typing.Dict[str, EXPR]"),
    "Sequence": written("typing.Sequence[EXPR]"),
    "conditional": written("EXPR if typing else bytes"),
    "other conditional": written("bytes if not typing else EXPR"),
    "a call": written("(lambda: EXPR)()"),
    "a subscript": written("{1: EXPR}[1]"),
    "an attribute of a module": elsewhere("from . import OTHER", "OTHER.NAME"),
    "an attribute of a renamed module": elsewhere("from . import OTHER as m_NAME", "m_NAME.NAME"),
    "a name from a file": elsewhere("from .OTHER import NAME"),
    "a renamed name from a file": elsewhere("from .OTHER import NAME as N_NAME", "N_NAME"),
    "a star import": elsewhere("from .OTHER import *"),
    "reexported": elsewhere("from . import NAME", init="from .OTHER import NAME"),
    "reexported by star": elsewhere("from . import NAME", init="from .OTHER import *"),
    "reexported under another name": elsewhere(
        "from . import N_NAME", "N_NAME", init="from .OTHER import NAME as N_NAME"
    ),
    "imported in try": elsewhere("try:\n    from .OTHER import NAME\nexcept ImportError:\n    NAME = bytes"),
    "imported in except": elsewhere(
        "try:\n    from .missing import NAME\nexcept ImportError:\n    from .OTHER import NAME"
    ),
    "imported in if": elsewhere("if typing:\n    from .OTHER import NAME\nelse:\n    NAME = bytes"),
    "imported in a function": elsewhere(
        "def late_NAME():\n    from .OTHER import NAME\n    return NAME\nNAME = late_NAME()"
    ),
    "imported twice": elsewhere("from io import StringIO as NAME\nfrom .OTHER import NAME"),
    "imported for checkers": lambda piece: evaluated_later(
        elsewhere("if TYPE_CHECKING:\n    from .OTHER import NAME")(piece)
    ),
    "imported for checkers, reexported": lambda piece: evaluated_later(
        elsewhere("if TYPE_CHECKING:\n    from . import NAME", init="from .OTHER import NAME")(piece)
    ),
    "imported for checkers, reexported and renamed": lambda piece: evaluated_later(
        elsewhere("if TYPE_CHECKING:\n    from . import N_NAME", "N_NAME", init="from .OTHER import NAME as N_NAME")(
            piece
        )
    ),
    "imported for checkers as a module": lambda piece: evaluated_later(
        elsewhere("if TYPE_CHECKING:\n    from . import OTHER", "OTHER.NAME")(piece)
    ),
    "a class in the annotation": lambda piece: replace(
        piece, inside="class Own(TensorClass):\n    y: Tensor\n", expr="Own"
    ),
    "a plain class in the class": lambda piece: replace(piece, inside="class Own:\n    pass\n", expr="Own"),
}
"""Ways of writing an annotation that is evaluated."""

if __import__("sys").version_info >= (3, 12):
    WAYS["type statement"] = named("type NAME = EXPR")
    WAYS["type statement of a type statement"] = named("type NAME_1 = EXPR\ntype NAME = NAME_1")
    WAYS["generic type statement"] = filled("type NAME[T] = T | None")


def quoted(piece: Piece) -> Piece:
    """The whole annotation in quotes."""
    return replace(piece, expr=repr(piece.expr))


def quoted_in_parts(piece: Piece) -> Piece:
    """The whole annotation in two strings, which Python joins."""
    half = len(piece.expr) // 2
    return replace(piece, expr=f"{piece.expr[:half]!r} {piece.expr[half:]!r}")


def quoted_on_lines(piece: Piece) -> Piece:
    """The whole annotation in a string with blanks."""
    return replace(piece, expr=f"'''  {piece.expr} '''")


def quoted_names(piece: Piece) -> Piece:
    """The names inside brackets in quotes: `dict[str, "Tensor"]`."""
    head, bracket, rest = piece.expr.partition("[")
    if not bracket or head.startswith(("Float", "(", "lambda")):
        return piece
    inner = rest.removesuffix("]")
    parts = [part.strip() for part in inner.split(",")]
    shown = ", ".join(repr(part) if part.isidentifier() else part for part in parts)
    return replace(piece, expr=f"{head}[{shown}]")


def quoted_twice(piece: Piece) -> Piece:
    """A string in a string."""
    return replace(piece, expr=repr(repr(piece.expr)))


QUOTES: dict[str, Way] = {
    "": same,
    "put off": evaluated_later,
    "quoted": quoted,
    "quoted in parts": quoted_in_parts,
    "quoted on lines": quoted_on_lines,
    "quoted inside": quoted_names,
    "quoted twice": quoted_twice,
    "quoted and put off": lambda piece: evaluated_later(quoted(piece)),
    "quoted inside and put off": lambda piece: evaluated_later(quoted_names(piece)),
}
"""What is put around any annotation at last."""

FIELD = "class Batch(TensorClass, nocast=True):\n    INSIDE\n    x: EXPR"

POSITIONS: dict[str, str] = {
    "a field": FIELD,
    "a field with a default": f"{FIELD} = None",
    "a field by field()": f"{FIELD} = field(default=None)",
    "a converted field": "class Batch(TensorClass, autocast=True):\n    INSIDE\n    x: EXPR",
    "a number": "class Batch(TensorClass):\n    INSIDE\n    x: EXPR",
    "a redeclared field": (
        "class Base(TensorClass, nocast=True):\n    x: object\nclass Batch(Base):\n    INSIDE\n    x: EXPR"
    ),
    "an inherited field": f"{FIELD}\nclass Child(Batch):\n    z: Tensor",
    "a config field": "class Net(Module):\n    INSIDE\n    x: EXPR",
    "a parameter": "class Net(Module):\n    INSIDE\n    x: EXPR = param(2, initializer=nn.init.ones_)",
    "a bound": "T = TypeVar('T', bound=EXPR)\nclass Batch(TensorClass, Generic[T], nocast=True):\n    x: T",
    "a constraint": "T = TypeVar('T', EXPR, Tensor)\nclass Batch(TensorClass, Generic[T], nocast=True):\n    x: T",
}
"""Where annotations stand. Only the first takes part in everything: others have their own rules for few of the ways."""


def spellings() -> Iterator[Spelling]:
    """Each kind of field in each way, with all quotes; each way in each position; and each pair of ways for a tensor."""
    for (kind, type), (way, write), (quote, close) in product(TYPES.items(), WAYS.items(), QUOTES.items()):
        if kind in ("tensor", "nested", "dict") or quote in ("", "quoted", "put off"):
            yield _spelled(f"field: {kind}, {way}, {quote}", type, (write, close), FIELD)
    for (position, body), (way, write), kind in product(
        POSITIONS.items(), WAYS.items(), ("tensor", "nested", "number")
    ):
        if position not in ("a field",) and not ("bound" in position and way.endswith(" class") and "in the" in way):
            yield _spelled(f"{position}: {kind}, {way}", TYPES[kind], (write,), body)


def pairs() -> Iterator[Spelling]:
    """Each way of writing what is written in another way."""
    for (first, inner), (second, outer) in product(WAYS.items(), WAYS.items()):
        yield _spelled(f"pair: {first}, {second}", "Tensor", (inner, outer), FIELD)


def _spelled(name: str, type: str, ways: tuple[Callable[[Piece], Piece], ...], body: str) -> Spelling:
    piece = Piece(type)
    for way in ways:
        piece = way(piece)
    return spelling(name, piece, body)
