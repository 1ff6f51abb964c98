"""What random classes are written with: the names that a file imports, the classes that were written before, docstrings."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from random import Random

from .vocabulary import DOCS


@dataclass(frozen=True)
class Known:
    """A class that was written before."""

    kind: str
    """`tensorclass` or `module`."""
    module: str
    name: str
    fields: tuple[str, ...]
    has_defaults: bool
    """Whether a field has a default, so that a child's fields need one too."""
    flags: str = ""
    variable: str = ""
    """The type variable that it is generic over."""
    required: tuple[str, ...] = ()
    """The constructor arguments of a Module that have no default, all of them numbers."""
    is_final: bool = False


def parent_of(random: Random, kind: str, known: list[Known]) -> Known | None:
    """A class of the kind to derive from, now and then."""
    parents = [found for found in known if found.kind == kind and not found.is_final]
    return random.choice(parents) if parents and random.random() < 0.35 else None


class Names:
    """The names of one source file."""

    def __init__(self, random: Random, taken: Collection[str]) -> None:
        self._random = random
        self._taken = set(taken)
        self._lines: dict[str, str] = {}
        self._spelled: dict[str, str] = {}
        self.variables: list[str] = []
        """Type variables that the file defines."""
        self.statements: list[str] = []
        """Statements above the classes: aliases, constants, functions."""

    def variable(self, random: Random) -> str:
        """The name of a type variable."""
        if not self.variables:
            self.variables.append(self._fresh(random.choice(("T", "S", "Data"))))
            self("typing.TypeVar"), self("torch.Tensor")
        return self.variables[0]

    @property
    def imports(self) -> list[str]:
        """The import statements for everything that was named."""
        return list(self._lines.values())

    def __call__(self, qualified: str) -> str:
        """A name such as `torch.Tensor` as this file spells it."""
        if qualified not in self._spelled:
            self._spelled[qualified] = self._import(qualified)
        return self._spelled[qualified]

    def of(self, known: Known, module: str) -> str:
        """A class of the project, which this file, `module`, may have written itself."""
        if known.module == module:
            return known.name
        key = f"{known.module}:{known.name}"
        if key not in self._spelled:
            self._spelled[key] = self._import_local(known.module, known.name)
        return self._spelled[key]

    def _import(self, qualified: str) -> str:
        module, _, name = qualified.rpartition(".")
        match self._random.randrange(10):
            case 0 if "." not in module and (module in self._lines or self._is_free(module)):
                self._lines[module] = f"import {module}"
                self._taken.add(module)
                return qualified
            case 1:
                alias = self._fresh(f"{module.rpartition('.')[2][:2]}_")
                self._lines[alias] = f"import {module} as {alias}"
                return f"{alias}.{name}"
            case 2:
                alias = self._fresh(f"{name}_")
                self._lines[alias] = f"from {module} import {name} as {alias}"
                return alias
        if not self._is_free(name):
            alias = self._fresh(f"My{name}")
            self._lines[alias] = f"from {module} import {name} as {alias}"
            return alias
        self._taken.add(name)
        self._lines[name] = f"from {module} import {name}"
        return name

    def _import_local(self, module: str, name: str) -> str:
        match self._random.randrange(4):
            case 0 if self._is_free(module):
                self._taken.add(module)
                self._lines[module] = f"from . import {module}"
                return f"{module}.{name}"
            case 1:
                alias = self._fresh(f"Other{name}")
                self._lines[alias] = f"from .{module} import {name} as {alias}"
                return alias
        if not self._is_free(name):
            alias = self._fresh(f"Far{name}")
            self._lines[alias] = f"from .{module} import {name} as {alias}"
            return alias
        self._taken.add(name)
        self._lines[name] = f"from .{module} import {name}"
        return name

    def _is_free(self, name: str) -> bool:
        return name not in self._taken

    def _fresh(self, name: str) -> str:
        while not self._is_free(name):
            name = f"{name}_"
        self._taken.add(name)
        return name


def doc(random: Random, indent: int) -> str:
    """A docstring as source text, spelled in one of several ways."""
    text = random.choice(DOCS)
    pad = " " * indent
    plain = not set(text) & set('"\\\0\r\x0c\ud800') and text
    match random.randrange(4):
        case 0 if plain:
            return f'{pad}"""{text}"""'
        case 1 if plain and "'" not in text:
            return f"{pad}'''{text}'''"
        case 2 if len(text) > 3:
            middle = len(text) // 2
            return f"{pad}({text[:middle]!r} {text[middle:]!r})"
    return f"{pad}{text!r}"
