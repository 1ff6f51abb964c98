"""Turns the templates into Python functions, in `python_templates.py` and `stub_templates.py`: python -m templates.compile

So neither a run of qten-gen nor a class statement in a program loads jinja2 or compiles a template, and mypy checks that the
views have what the templates ask for. It knows the parts of jinja2's language that the templates use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, nodes

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parent / "qten_gen" / "generate"

_ENVIRONMENT = Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)

_PARAMETERS = {
    "python_templates.py": {
        "file.py.j2": "file: PythonFileView, classes: Iterable[str]",
        "module.py.j2": "c: ModuleView",
        "tensorclass.py.j2": "c: TensorClassView",
    },
    "stub_templates.py": {
        "file.pyi.j2": "file: StubFileView, classes: Iterable[str]",
        "module.pyi.j2": "c: ModuleStubView",
        "tensorclass.pyi.j2": "c: TensorClassStubView",
    },
}
"""The modules that are written, the templates in each, and what these are given."""

_HOMES = {
    "PythonFileView": "file",
    "StubFileView": "stub_file",
    "ModuleView": "module",
    "ModuleStubView": "module_stub",
    "TensorClassView": "tensorclass",
    "TensorClassStubView": "tensorclass_stub",
}
"""The modules of `emit` that define the views."""

_MAPPINGS = ("builtin", "typed")
"""The attributes of views that are dicts: `c.typed.Dict` of a template is `c.typed["Dict"]`."""

_HEAD = """\
\"\"\"Made from templates/*.j2. Do not edit; run: python -m templates.compile\"\"\"

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

{imports}
"""

_COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}


def compiled() -> dict[Path, str]:
    """The modules and their texts."""
    return {PACKAGE / module: _module(templates) for module, templates in _PARAMETERS.items()}


def _module(templates: dict[str, str]) -> str:
    """The text of a module with these templates."""
    views = [view for view in _HOMES if any(f": {view}" in parameters for parameters in templates.values())]
    imports = "\n".join(f"    from ..emit.{_HOMES[view]} import {view}" for view in views)
    functions = (f"\n\n{_function(name, parameters)}" for name, parameters in templates.items())
    return _HEAD.format(imports=imports) + "".join(functions)


def _function(name: str, parameters: str) -> str:
    """The function for a template: `tensorclass_pyi` for `tensorclass.pyi.j2`."""
    called = name.removesuffix(".j2").replace(".", "_")
    lines = [f"def {called}({parameters}) -> str:", f'    """The text of {name}."""']
    lines += ["    out: list[str] = []", "    add = out.append"]
    lines += [f"    {line}" for line in statements((FOLDER / name).read_text(encoding="utf-8"))]
    return "\n".join([*lines, '    return "".join(out)', ""])


def statements(template: str) -> Iterator[str]:
    """The Python statements for the text of a template.

    >>> list(statements("{{ c.name }}: {{ c.type }}"))
    ['add(f"{c.name}: {c.type}")']

    Raises:
        NotImplementedError: The template uses a part of jinja2's language that this file does not know.
    """
    return _statements(_ENVIRONMENT.parse(template).body)


def _statements(body: list[nodes.Node]) -> Iterator[str]:
    """The Python statements for the nodes of a template."""
    for node in body:
        if isinstance(node, nodes.Output):
            yield from _output(node)
        elif isinstance(node, nodes.If):
            yield from _condition(node, "if")
        elif isinstance(node, nodes.For):
            yield from _loop(node)
        else:
            raise NotImplementedError(f"line {node.lineno}: {type(node).__name__}")


def _output(node: nodes.Output) -> Iterator[str]:
    """One call of `add`, with a string for each line of the template."""
    pieces: list[str] = [""]
    for part in node.nodes:
        if isinstance(part, nodes.TemplateData):
            first, *rest = part.data.split("\n")
            pieces[-1] += _literal(first)
            for line in rest:
                pieces[-1] += "\\n"
                pieces.append(_literal(line))
        else:
            pieces[-1] += f"{{{_expression(part)}}}"
    strings = [f'{"f" if "{" in piece else ""}"{piece}"' for piece in pieces if piece]
    if len(strings) == 1:
        yield f"add({strings[0]})"
    else:
        yield from ("add(", *(f"    {string}" for string in strings), ")")


def _literal(text: str) -> str:
    """A text as a part of an f-string in double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("{", "{{").replace("}", "}}")


def _condition(node: nodes.If, keyword: str) -> Iterator[str]:
    yield f"{keyword} {_expression(node.test)}:"
    yield from _indented(node.body)
    for branch in node.elif_:
        yield from _condition(branch, "elif")
    if node.else_:
        yield "else:"
        yield from _indented(node.else_)


def _loop(node: nodes.For) -> Iterator[str]:
    if node.else_ or node.recursive:
        refused = "else: write an if before the loop" if node.else_ else "recursive: write the levels out"
        raise NotImplementedError(f"line {node.lineno}: a for loop cannot have {refused}")
    yield f"for {_expression(node.target)} in {_expression(node.iter)}:"
    if node.test is None:
        yield from _indented(node.body)
    else:
        yield f"    if {_expression(node.test)}:"
        yield from (f"    {line}" for line in _indented(node.body))


def _indented(body: list[nodes.Node]) -> Iterator[str]:
    return (f"    {line}" for line in _statements(body))


def _expression(node: nodes.Node) -> str:
    """A Python expression, in single quotes because it may stand in an f-string."""
    match node:
        case nodes.Name():
            return node.name
        case nodes.Const():
            return repr(node.value)
        case nodes.Getattr(node=nodes.Getattr(attr=attribute) as mapping) if attribute in _MAPPINGS:
            return f"{_expression(mapping)}[{node.attr!r}]"
        case nodes.Getattr():
            return f"{_expression(node.node)}.{node.attr}"
        case nodes.Getitem():
            return f"{_expression(node.node)}[{_expression(node.arg)}]"
        case nodes.Not():
            return f"not {_expression(node.node)}"
        case nodes.And() | nodes.Or():
            return f"({_expression(node.left)} {type(node).__name__.lower()} {_expression(node.right)})"
        case nodes.Compare(ops=[operand]):
            return f"{_expression(node.expr)} {_COMPARISONS[operand.op]} {_expression(operand.expr)}"
        case nodes.Filter(name="length", node=nodes.Node() as measured):
            return f"len({_expression(measured)})"
    raise NotImplementedError(f"line {node.lineno}: {type(node).__name__}")


if __name__ == "__main__":
    for path, text in compiled().items():
        path.write_text(text, encoding="utf-8")
        print(f"written: {path.relative_to(FOLDER.parent)}")
