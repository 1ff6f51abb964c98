"""Random Modules and their handlers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from qten_gen.rules.field_names import MODULE

from . import tensorclasses
from .spelling import Known, Names, doc, parent_of
from .vocabulary import FIELDS, HOSTILE_FIELDS, REFUSED_FIELDS

_INITIALIZERS = ("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.normal_")
_SIZES = ("dim", "width", "depth", "größe", "index", "range", "len", "object", "n", "self_")


def write(random: Random, names: Names, module: str, name: str, known: list[Known]) -> tuple[str, Known]:
    """A class and what is remembered of it."""
    parent = parent_of(random, "module", known)
    sizes = list(dict.fromkeys(random.choice(_SIZES) for _ in range(random.randint(0, 3))))
    if parent is not None:
        sizes = [size for size in sizes if size not in parent.fields]
    config: list[str] = []
    required: list[str] = []
    numbers = list(parent.required if parent else ())
    defaulting = parent is not None and parent.has_defaults
    for size in sizes:
        defaulting = defaulting or random.random() < 0.4
        config.append(f"    {size}: int{f' = {random.randint(1, 4)}' if defaulting else ''}")
        numbers.append(size)
        required += [] if defaulting else [size]
    switches = ["use_bias"] if random.random() < 0.3 and (parent is None or "use_bias" not in parent.fields) else []
    config += [f"    {switch}: bool = {random.random() < 0.5}" for switch in switches]
    defaulting = defaulting or bool(switches)
    for field in _other_names(random, parent, numbers):
        found = tensorclasses.static(random, names)
        if found.defaults:
            defaulting = True
            config.append(f"    {field}: {found.text}{_optional(found.defaults)} = {random.choice(found.defaults)}")
    fields: list[str] = []
    registered: list[str] = []
    for field in _names(random, parent):
        if field not in numbers and field not in switches:
            fields.append(field)
            registered += _registered(random, names, field, numbers, switches, module, known)
    body = [
        *([doc(random, 4)] if random.random() < 0.6 else []),
        *config,
        *registered,
        *_virtual(random, names),
        *_methods(random, names),
    ]
    base = names("qten_gen.Module") if parent is None else names.of(parent, module)
    head = f"class {name}({base}):"
    inherited = () if parent is None else parent.fields
    made = Known(
        "module",
        module,
        name,
        (*inherited, *sizes, *switches, *fields),
        defaulting,
        required=(*(parent.required if parent else ()), *required),
    )
    return "\n".join(["", "", head, *(body or ["    pass"])]), made


def _optional(defaults: tuple[str, ...]) -> str:
    return " | None" if "None" in defaults else ""


def _names(random: Random, parent: Known | None) -> list[str]:
    pool = FIELDS if random.random() < 0.5 else (*FIELDS, *HOSTILE_FIELDS)
    pool = pool if random.random() < 0.97 else REFUSED_FIELDS
    found = [random.choice(pool) for _ in range(random.choice((0, 1, 2, 3, 4)))]
    taken = () if parent is None else parent.fields
    return [name for name in dict.fromkeys(found) if name not in taken and _is_allowed(random, name)]


def _other_names(random: Random, parent: Known | None, numbers: list[str]) -> list[str]:
    pool = tuple(f"{name}_" for name in FIELDS) if random.random() < 0.6 else HOSTILE_FIELDS
    found = [random.choice(pool) for _ in range(random.choice((0, 0, 1, 2)))]
    taken = () if parent is None else parent.fields
    found = [name for name in dict.fromkeys(found) if name not in taken and name not in numbers]
    return [name for name in found if _is_allowed(random, name)]


def _is_allowed(random: Random, name: str) -> bool:
    """Whether a field is likely to be allowed to have the name; rarely, others are tried."""
    return not (name.startswith("_") or name in MODULE) or random.random() < 0.03


def _dimension(random: Random, numbers: list[str]) -> str:
    if not numbers or random.random() < 0.3:
        return str(random.randint(1, 4))
    one, two = random.choice(numbers), random.choice(numbers)
    return f'"{random.choice((one, one, f"2*{one}", f"{one} + {two}", f"({one}+1)//2*{two}", f"-({one} - 3*{one})"))}"'


def _registered(
    random: Random, names: Names, field: str, numbers: list[str], switches: list[str], module: str, known: list[Known]
) -> Iterator[str]:
    """A parameter, buffer or submodule, and perhaps its documentation."""
    when = f'when="{random.choice(switches)}"' if switches and random.random() < 0.4 else ""
    none = " | None" if when else ""
    dims = [_dimension(random, numbers) for _ in range(random.randint(0, 2))]
    match random.randrange(4):
        case 0:
            more = ["requires_grad=False"] if random.random() < 0.2 else []
            arguments = [*dims, *([when] if when else []), *more, _initializer(random, names)]
            yield f"    {field}: {names('torch.nn.Parameter')}{none} = {names('qten_gen.param')}({', '.join(arguments)})"
        case 1:
            more = ["persistent=False"] if random.random() < 0.3 else []
            more += [f"dtype={names('torch.float64')}"] if random.random() < 0.2 else []
            arguments = [*dims, *([when] if when else []), *more, _initializer(random, names)]
            yield f"    {field}: {names('torch.Tensor')}{none} = {names('qten_gen.buffer')}({', '.join(arguments)})"
        case 2:
            yield f"    {field}: {_child_of_torch(random, names, numbers, when, none)}"
        case 3:
            child = _child(random, names, numbers, module, known)
            yield f"    {field}: {child or _child_of_torch(random, names, numbers, when, none)}"
    if random.random() < 0.25:
        yield doc(random, 4)


def _initializer(random: Random, names: Names) -> str:
    chosen = names(random.choice(_INITIALIZERS))
    match random.randrange(6):
        case 0:
            return f"initializer={names('functools.partial')}({names('torch.nn.init.constant_')}, val=0.5)"
        case 1:
            return "initializer=lambda tensor: tensor.fill_(2)"
    return f"initializer={chosen}"


def _child_of_torch(random: Random, names: Names, numbers: list[str], when: str, none: str) -> str:
    submodule = names("qten_gen.submodule")
    size = _dimension(random, numbers)
    linear = names("torch.nn.Linear")
    match random.randrange(5):
        case 0:
            repeat = _dimension(random, numbers)
            size = '"index+1"' if random.random() < 0.3 and "index" not in numbers else size
            return f"{names('qten_gen.ModuleList')}[{linear}] = {submodule}({linear}, {size}, 2, repeat={repeat})"
        case 1:
            keys = random.choice(("('left', 'right')", "('a',)", "('größe', 'x-y')", "('it\\'s',)"))
            return f"{names('qten_gen.ModuleDict')}[{linear}] = {submodule}({linear}, {size}, 2, keys={keys})"
        case 2:
            sequential = names("torch.nn.Sequential")
            arguments = [sequential, f"{submodule}({linear}, {size}, 1)", *([when] if when else [])]
            return f"{sequential}{none} = {submodule}({', '.join(arguments)})"
    return f"{linear}{none} = {submodule}({', '.join([linear, size, '3', 'bias=False', *([when] if when else [])])})"


def _child(random: Random, names: Names, numbers: list[str], module: str, known: list[Known]) -> str:
    """A child of a class that was declared before; nothing where there is none."""
    found = [one for one in known if one.kind == "module"]
    if not found:
        return ""
    one = random.choice(found)
    spelled = names.of(one, module)
    arguments = ", ".join([spelled, *(_dimension(random, numbers) for _ in one.required)])
    if random.random() < 0.3:
        return f"{names('qten_gen.ModuleList')}[{spelled}] = {names('qten_gen.submodule')}({arguments}, repeat=2)"
    return f"{spelled} = {names('qten_gen.submodule')}({arguments})"


def _virtual(random: Random, names: Names) -> Iterator[str]:
    if random.random() < 0.3:
        name = random.choice(("derived", "virtual_", "eye", "property_", "_hidden"))
        caching = random.choice(("", "cached=True", "cached=False"))
        call = random.choice(("", f"({caching})", f"(cast=True, {caching})"))
        yield f"    @{names('qten_gen.virtual')}{call}"
        yield f"    def {name}(self, dtype: {names('torch.dtype')}, device: {names('torch.device')}) -> {names('torch.Tensor')}:"
        yield doc(random, 8)
        yield f"        return {names('torch.ones')}(3, dtype=dtype, device=device)"


def _methods(random: Random, names: Names) -> Iterator[str]:
    tensor = names("torch.Tensor")
    if random.random() < 0.6:
        rest = random.choice(
            ("", ", *, scale: float = 1.0", ", *rest: int", ", **rest: object", ", flag: bool = True, /")
        )
        yield f"    def forward(self, x: {tensor}{rest}) -> {tensor}:"
        yield "        return x"
    if random.random() < 0.15:
        yield "    def reset_parameters(self) -> None:"
        yield "        super().reset_parameters()"
    if random.random() < 0.15:
        yield "    def __post_init__(self) -> None:"
        yield "        pass"
    if random.random() < 0.15:
        yield f"    def {random.choice(('helper', '_helper', 'construct', 'default', 'fill'))}(self) -> int:"
        yield "        return 1"


def handler(
    random: Random, names: Names, module: str, owner: Known, known: list[Known], number: int
) -> tuple[str, str]:
    """The name of a type, and a function that is registered for it and a module."""
    spelled = names.of(owner, module)
    types = [one for one in known if one.kind == "tensorclass"]
    choices = ["str", "bytes", "int", "tuple", "dict", "float | complex"]
    qualified = {}
    if types:
        one = random.choice(types)
        local = names.of(one, module)
        qualified[local] = f"{one.module}.{one.name}"
        choices += [local] * 3
    type = random.choice(choices)
    obj = random.choice(("obj", "text", "self", "n", "größe", "x"))
    rest = random.choice(
        (
            "",
            ", /",
            ", *args: int",
            ", *args: int, flag: bool = True, **rest: str",
            ", *, scale: float = 1.0, mode: str = 'a, b'",
            ", scale: float = 1.0, *, mode: str",
            ", mode: str = ')', names: tuple[str, ...] = ('a', 'b')",
            ", **rest: object",
            ", option: int | None = None, /, *, other: dict[str, int] = {}",
        )
    )
    result = random.choice((names("torch.Tensor"), "str", "int | None", "None", "tuple[int, str]"))
    arguments = {"tuple": "[str, ...]", "dict": "[str, int]"}
    annotated = f"{obj}: {type}{arguments.get(type, '')}"
    function = random.choice(("_", f"handle{number}", f"handle{number}", "receive"))
    return qualified.get(type, type), "\n".join(
        [
            "",
            "",
            f"@{spelled}.register({type})",
            f"def {function}(module: {spelled}, {annotated}{rest}) -> {result}:",
            "    raise NotImplementedError",
        ]
    )
