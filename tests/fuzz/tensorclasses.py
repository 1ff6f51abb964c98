"""Random TensorClasses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from qten_gen.common.naming import ALIASES
from qten_gen.rules.field_names import TENSORCLASS

from .spelling import Known, Names, doc, parent_of
from .vocabulary import FIELDS, HOSTILE_FIELDS, REFUSED_FIELDS

_FLAGS = ("frozen=True", "nocast=True", "shadow=True", "open=True", 'checks="off"', "autocast=True")
_SHAPES = (
    "*batch",
    "*batch seq",
    "*batch seq 3",
    "*batch _ #seq",
    "...",
    "... dim",
    "*batch rgb=3",
    "*batch n value",
)


@dataclass(frozen=True)
class _Annotation:
    text: str
    defaults: tuple[str, ...] = ()
    """Expressions that the field can hold; empty where it has no default."""


def write(random: Random, names: Names, module: str, name: str, known: list[Known]) -> tuple[str, Known]:
    """A class and what is remembered of it."""
    parent = parent_of(random, "tensorclass", known)
    variable = names.variable(random) if random.random() < 0.15 else ""
    flags = sorted({random.choice(_FLAGS) for _ in range(random.choice((0, 0, 0, 1, 2)))})
    if parent is not None:
        flags = [flag for flag in flags if not flag.startswith("frozen")]
        flags += ["frozen=True"] if "frozen" in parent.flags else []
    fields = _fields(random, parent)
    defaulting = parent is not None and parent.has_defaults
    lines: list[str] = []
    for field in fields:
        found = _annotation(random, names, module, name, known, variable)
        defaulting = defaulting or (bool(found.defaults) and random.random() < 0.3)
        lines += _field(random, names, field, found, defaulting)
    body = [
        *([doc(random, 4)] if random.random() < 0.6 else []),
        *lines,
        *_methods(random, names, fields),
    ]
    final = random.random() < 0.1
    bases = [_base(random, names, module, parent), *([f"{names('typing.Generic')}[{variable}]"] if variable else [])]
    head = f"class {name}({', '.join([*bases, *flags])}):"
    decorators = [f"@{names('typing.final')}"] if final else []
    inherited = () if parent is None else parent.fields
    made = Known(
        "tensorclass", module, name, (*inherited, *fields), defaulting, " ".join(flags), variable, is_final=final
    )
    return "\n".join(["", "", *decorators, head, *(body or ["    pass"])]), made


def _base(random: Random, names: Names, module: str, parent: Known | None) -> str:
    if parent is None:
        return names("qten_gen.TensorClass")
    spelled = names.of(parent, module)
    return f"{spelled}[{names('torch.Tensor')}]" if parent.variable and random.random() < 0.7 else spelled


def _fields(random: Random, parent: Known | None) -> list[str]:
    count = random.choice((0, 1, 2, 2, 3, 4, 6))
    pool = FIELDS if random.random() < 0.4 else (*FIELDS, *HOSTILE_FIELDS)
    pool = pool if random.random() < 0.97 else REFUSED_FIELDS
    found = [random.choice(pool) for _ in range(count)]
    if parent is not None and parent.fields and random.random() < 0.3:
        found.append(random.choice(parent.fields))
    return [name for name in dict.fromkeys(found) if not _is_refused(name) or random.random() < 0.03]


def _is_refused(name: str) -> bool:
    return name in TENSORCLASS or name in ALIASES or name.startswith("__")


def _annotation(random: Random, names: Names, module: str, name: str, known: list[Known], variable: str) -> _Annotation:
    """What a field holds, in one of many spellings, with values that it can have as a default."""
    found = _plain(random, names, module, name, known, variable)
    if "None" in found.defaults and random.random() < 0.9:
        found = _optional(random, names, found)
    if random.random() < 0.08 and "'" not in found.text and "\\" not in found.text:
        inner = found.text.replace('"', "'") if '"' in found.text else found.text
        found = _Annotation(f'"{inner}"', found.defaults)
    return found


def _plain(random: Random, names: Names, module: str, name: str, known: list[Known], variable: str) -> _Annotation:
    tensor = names("torch.Tensor")
    if variable and random.random() < 0.3:
        return _Annotation(variable)
    match random.randrange(16):
        case 0 | 1 | 2:
            return _Annotation(tensor, ("None",) if random.random() < 0.3 else ())
        case 3:
            family = random.choice(("Float", "Int", "Bool", "Num", "Float32", "Shaped", "Complex"))
            shape = random.choice(_SHAPES)
            return _Annotation(
                f'{names(f"jaxtyping.{family}")}[{tensor}, "{shape}"]', ("None",) if random.random() < 0.3 else ()
            )
        case 4:
            inner = random.choice((tensor, f"dict[str, {tensor}]", f"list[{tensor}]"))
            return _Annotation(f"{names('qten_gen.Unbatched')}[{inner}]")
        case 5:
            return _Annotation(random.choice((f"dict[str, {tensor}]", f"list[{tensor}]")))
        case 6:
            return _Annotation(f"{names('qten_gen.PerItem')}[{random.choice(('str', 'int', 'list[str]'))}]")
        case 7 | 8:
            return _nested(random, names, module, name, known)
        case 9:
            kind, value = random.choice((("int", "3"), ("float", "1e-3"), ("bool", "True"), ("complex", "2j")))
            return _Annotation(kind, (value,))
        case 10:
            return _Annotation(f"{names('typing.Annotated')}[{tensor}, 'note']")
    return static(random, names)


def static(random: Random, names: Names) -> _Annotation:
    """A Python value of many types, with its defaults."""
    callable_ = names("collections.abc.Callable")
    choices: list[Callable[[], _Annotation]] = [
        lambda: _Annotation("str", ("'train'", "'\"'", "'\\\\'", "'\\x00'", "'it\\'s'", "''", "None")),
        lambda: _Annotation("bytes", ("b'\\x00'", "b''")),
        lambda: _Annotation("set[str]", (f"{names('qten_gen.field')}(default_factory=set)",)),
        lambda: _Annotation("frozenset[int]", ("frozenset()",)),
        lambda: _Annotation("list[str]", (f"{names('qten_gen.field')}(default_factory=list)",)),
        lambda: _Annotation("dict[str, int]", (f"{names('qten_gen.field')}(default_factory=dict)",)),
        lambda: _Annotation("tuple[int, ...]", ("()", "(1, 2)", "(1,)")),
        lambda: _Annotation("tuple[()]", ("()",)),
        lambda: _Annotation("type[int]", ("int", "bool")),
        lambda: _Annotation(f"{callable_}[[int], str]", ("str",)),
        lambda: _Annotation(f"{callable_}[..., object]", ("print",)),
        lambda: _Annotation(f'{names("typing.Literal")}["a", "b"]', ("'a'",)),
        lambda: _Annotation(f"{names('typing.Literal')}['it\\'s', 3, None]", ("None", "3")),
        lambda: _Annotation(names("typing.Any"), ("None", "3")),
        lambda: _Annotation("object", ("None", "3")),
        lambda: _Annotation(f"{names('collections.abc.Sequence')}[str]", ("()", "'abc'")),
        lambda: _Annotation(f"{names('collections.abc.Mapping')}[str, object]"),
        lambda: _Annotation(names("pathlib.Path")),
        lambda: _Annotation(names("torch.dtype"), (names("torch.float16"),)),
        lambda: _Annotation(names("torch.device")),
        lambda: _Annotation("str | int", ("'a'", "3")),
    ]
    return random.choice(choices)()


def _optional(random: Random, names: Names, found: _Annotation) -> _Annotation:
    text = found.text
    quoted = text.startswith('"')
    spellings: list[Callable[[], str]] = [
        lambda: f'"{text[1:-1]} | None"' if quoted else f"{text} | None",
        lambda: f'"None | {text[1:-1]}"' if quoted else f"None | {text}",
        lambda: f"{names('typing.Optional')}[{text}]",
        lambda: f"{names('typing.Union')}[{text}, None]",
    ]
    return _Annotation(random.choice(spellings)(), found.defaults)


def _nested(random: Random, names: Names, module: str, name: str, known: list[Known]) -> _Annotation:
    found = [one for one in known if one.kind == "tensorclass"]
    if random.random() < 0.2 or not found:
        return _Annotation(f'"{name} | None"', ("None",))
    one = random.choice(found)
    spelled = names.of(one, module)
    if one.variable:
        spelled = f"{spelled}[{names('torch.Tensor')}]"
    return _Annotation(spelled, ("None",) if random.random() < 0.4 else ())


def _field(random: Random, names: Names, name: str, found: _Annotation, defaulting: bool) -> Iterator[str]:
    """The statement of one field, and perhaps its documentation."""
    given = ""
    if defaulting and found.defaults:
        default = random.choice(found.defaults)
        specifier = names("qten_gen.field")
        if default.startswith(f"{specifier}("):
            given = default
        else:
            given = default if random.random() < 0.7 else f"{specifier}(default={default})"
    elif defaulting or random.random() < 0.1:
        given = f"{names('qten_gen.field')}(kw_only=True)"
    yield f"    {name}: {found.text}{f' = {given}' if given else ''}"
    if random.random() < 0.25:
        yield doc(random, 4)


def _methods(random: Random, names: Names, fields: list[str]) -> Iterator[str]:
    """Methods of the user's, some with names that generated code could have."""
    if random.random() < 0.2:
        yield "    def __post_init__(self) -> None:"
        yield "        self.__dict__ if hasattr(self, '__dict__') else None"
    if random.random() < 0.2:
        method = random.choice(("helper", "_helper", "twice", "_check", "given", "is_empty_", "__len__", "__repr__"))
        result = {"__len__": "int", "__repr__": "str"}.get(method, "int")
        yield f"    def {method}(self) -> {result}:"
        yield f"        return {'1' if result == 'int' else repr('me')}"
    if random.random() < 0.1:
        yield "    @classmethod"
        yield f"    def make(cls, size: int = 3) -> {names('typing.Self')} | None:"
        yield "        return None"
