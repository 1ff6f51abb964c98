"""What checkers and editors see of the methods of TensorClass that are functions in files of their own.

ty does not bind a function that a class body assigns. So `stubs/qten_gen_typing` writes these methods out, as the functions say
them, with their documentation.

python -m templates.members fields > stubs/qten_gen_typing/fields.pyi
"""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROOM = REPOSITORY / "qten_gen" / "runtime" / "tensorclass"

FILES = {
    "fields": ("core.lookup", "methods.keys", "methods.updating"),
    "writing": (
        "methods.inplace",
        "methods.indexing",
        "methods.assignment",
        "methods.joining",
        "core.locking_methods",
    ),
    "conversion": (
        "methods.moving",
        "methods.applying",
        "methods.conversion",
        "storage.pickling",
        "torch_tools.datasets",
        "torch_tools.transforms",
    ),
    "interop": (
        "fields.mappings",
        "interop.tensordicts",
        "interop.records",
    ),
    "storage": ("storage.memory_map", "storage.state_dict", "storage.safetensors_files"),
    "processes": ("torch_tools.packing", "processes.sharing"),
}
"""The files, and the modules whose functions each of them has, below `qten_gen/runtime/tensorclass`."""

_ALL = {module for modules in FILES.values() for module in modules}

_OWN = {"T_co": "T", "Self": "T", "B": "T"}
"""Names for the class of the object: one type variable, because jedi takes `Self` for the class that defines the method."""


@dataclass(frozen=True)
class Method:
    """A function that the class body assigns, `to = moving.to`, or that a table behind it names."""

    name: str
    module: str
    function: str
    on_class: bool = False


def methods() -> Iterator[Method]:
    """The assignments in the body of TensorClass, and the late methods in the tables behind it."""
    tree = ast.parse((ROOM / "tensorclass.py").read_bytes())
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if node.module else alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name(id=module), attr=function)):
                if modules.get(module) in _ALL:
                    yield Method(name, modules[module], function)
            case ast.Assign(targets=[ast.Name(id="LATE" | "LATE_ON_CLASS" as table)], value=ast.Dict() as named):
                for module, names in ast.literal_eval(named).items():
                    for each in names.split() if module in _ALL else ():
                        name, _, function = each.partition("=")
                        yield Method(name, module, function or name, on_class=table == "LATE_ON_CLASS")


def stub(file: str) -> str:
    """The text of a file of `FILES`, as ruff formats it."""
    imports = {"qten_gen.runtime.tensorclass.core.stored": {"Stored"}}
    lines: list[str] = []
    for module in FILES[file]:
        source = _Source(module, imports)
        for method in methods():
            if method.module == module:
                lines += source.method(method)
    head = "".join(
        f"{f'from {module} ' if module else ''}import {', '.join(sorted(names))}\n"
        for module, names in sorted(imports.items())
    )
    doc = '"""Made of the functions that TensorClass has as methods, by `make generate`."""'
    variable = f'T = TypeVar("T", bound="{file.capitalize()}")\n'
    return _formatted(
        f"{head}\n{variable}\nclass {file.capitalize()}(Stored):\n    {doc}\n\n" + "\n".join(lines) + "\n"
    )


def _formatted(text: str) -> str:
    for command in (["check", "--quiet", "--select=I", "--fix"], ["format", "--quiet"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--stdin-filename=stubs/qten_gen_typing/members.pyi", "-"]
        text = subprocess.run(
            arguments, input=text, cwd=REPOSITORY, text=True, stdout=subprocess.PIPE, check=True
        ).stdout
    return text


class _Source:
    """One module, and what the stub has to import for the annotations that it writes."""

    def __init__(self, module: str, imports: dict[str, set[str]]) -> None:
        self.module = f"qten_gen.runtime.tensorclass.{module}"
        self.tree = ast.parse((ROOM / f"{module.replace('.', '/')}.py").read_bytes())
        self.imports = imports
        self.names = dict(self._imported())

    def _imported(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Where each name comes from: the module, and how it is written in an import."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.asname or alias.name, ("", _written(alias))
            if isinstance(node, ast.ImportFrom):
                package = self.module.split(".")[: -node.level] if node.level else []
                home = ".".join([*package, *([node.module] if node.module else [])])
                for alias in node.names:
                    yield alias.asname or alias.name, (home, _written(alias))

    def method(self, method: Method) -> Iterator[str]:
        """The lines of a method: its overloads, or its one signature, and its documentation."""
        found = [node for node in self.tree.body if isinstance(node, ast.FunctionDef) and node.name == method.function]
        *overloads, written = found
        for at, signature in enumerate(overloads or [written]):
            last = at == len(overloads or [written]) - 1
            yield from self._signature(method, signature, ast.get_docstring(written) if last else None)

    def _signature(self, method: Method, function: ast.FunctionDef, doc: str | None) -> Iterator[str]:
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call):  # such as @overload; a call changes no types
                yield f"    @{self._text(decorator)}"
        if method.on_class:
            yield "    @classmethod"
        arguments = function.args
        (arguments.posonlyargs or arguments.args)[0].annotation = None
        arguments.defaults = [_shown(default) for default in arguments.defaults]
        arguments.kw_defaults = [default and _shown(default) for default in arguments.kw_defaults]
        made = ast.FunctionDef(
            method.name, arguments, [ast.Pass()], [], self._own(function.returns), lineno=1, col_offset=0
        )
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg):
                argument.annotation = self._own(argument.annotation)
        if _mentions_own(made):
            own = ast.parse("type[T]" if method.on_class else "T", mode="eval").body
            (arguments.posonlyargs or arguments.args)[0].annotation = own
        line = ast.unparse(ast.fix_missing_locations(made)).splitlines()[0]
        yield f"    {line}" if doc else f"    {line} ..."
        if doc:
            indented = "\n".join(f"        {each}".rstrip() for each in doc.splitlines())
            end = "\n        " if "\n" in doc else ""
            yield f'        {"r" if chr(92) in doc else ""}"""{indented.strip()}{end}"""'

    def _own(self, annotation: ast.expr | None) -> ast.expr | None:
        """An annotation as a method says it, with what it needs among the imports."""
        if annotation is None:
            return None
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        text = self._text(annotation)
        return ast.parse(text, mode="eval").body

    def _text(self, expression: ast.expr) -> str:
        for node in ast.walk(expression):
            if isinstance(node, ast.Name):
                node.id = _OWN.get(node.id, node.id)
                self._import(node.id)
        return ast.unparse(expression)

    def _import(self, name: str) -> None:
        if name == "T":
            self.imports.setdefault("typing", set()).add("TypeVar")
        elif name in self.names:
            home, written = self.names[name]
            self.imports.setdefault(home, set()).add(written)
        elif not hasattr(builtins, name) or name in _defined(self.tree):
            self.imports.setdefault(self.module, set()).add(name)


def _mentions_own(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "T" for node in ast.walk(function))


def _shown(default: ast.expr) -> ast.expr:
    """A default as a stub says it: a value, and not the name of one."""
    return ast.Constant(...) if isinstance(default, ast.Name) else default


def _written(alias: ast.alias) -> str:
    return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"


def _defined(tree: ast.Module) -> set[str]:
    """The names of a module's own type aliases and type variables."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


if __name__ == "__main__":
    print(stub(sys.argv[1]), end="")
