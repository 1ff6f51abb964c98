"""How a source names what it imports: each name in one of its spellings, and the import statements for all of them."""

from __future__ import annotations

from collections.abc import Collection
from random import Random


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

    def local(self, module: str, name: str) -> str:
        """A class of another file of the project."""
        key = f"{module}:{name}"
        if key not in self._spelled:
            self._spelled[key] = self._import_local(module, name)
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
