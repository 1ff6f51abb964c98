"""Adds the imports that edits need, where isort would put them, and removes those that only the replaced text used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...common.text_edits import Edit, edited
from ...read.syntax import tree_of
from .adoption import Need
from .opened import OpenFile
from .text import Text
from .uses import WORD, unused, uses

_FUTURE, _STANDARD, _THIRD, _OWN = range(4)

_Import = ast.Import | ast.ImportFrom


def with_imports(before: OpenFile, content: str, needs: Collection[Need], own: Collection[str], replaced: str) -> str:
    """The text of a file whose classes have been edited, with its imports put right.

    Args:
        before: The file before the edits.
        content: Its text after the edits of classes.
        needs: What the edits need.
        own: The first parts of the names of the project's modules.
        replaced: What the edits took out. An import can only be unused now if this mentions it.
    """
    text, tree = Text(content), tree_of(content)
    edits = list(_removals(before, text, tree, {need.bound for need in needs}, replaced))
    for module in sorted({need.module for need in needs}):
        for whole in sorted({need.alias or "" for need in needs if need.module == module and need.name is None}):
            statement = f"import {module} as {whole}" if whole else f"import {module}"
            edits.append(_new_statement(statement, own, tree, text))
        names = sorted({need.name for need in needs if need.module == module and need.name is not None})
        if names:
            edits += _new_names(module, names, own, tree, text)
    return edited(content, edits)


def replaceable(file: OpenFile, name: str) -> bool:
    """Whether the import that binds a name at the top level can be taken out: no comment is lost, and no other file needs it."""
    if file.is_exported(name):
        return False
    bound = [(node, alias) for node in _imports(file.tree) for alias in node.names if _bound(alias, node) == name]
    return len(bound) == 1 and _without(bound[0][0], [bound[0][1]], file.text) is not None


def _removals(before: OpenFile, text: Text, tree: ast.Module, taken: Collection[str], replaced: str) -> Iterator[Edit]:
    """The edits that take out imports whose last use was replaced, and those of names that now mean something else."""
    imported = {_bound(alias, node) for node in _imports(tree) for alias in node.names}
    now = unused(imported & set(WORD.findall(replaced)), tree)
    old = uses(before.tree) if now else {}
    for node in _imports(tree):
        gone = [
            alias
            for alias in node.names
            if (name := _bound(alias, node)) in taken
            or (name in now and old.get(name) and not before.is_exported(name))
        ]
        edit = _without(node, gone, text) if gone else None
        if edit is not None:
            yield edit


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """The imports at the top level itself: one inside a block may have a reason that the text does not show."""
    return (node for node in tree.body if isinstance(node, _Import))


def _bound(alias: ast.alias, node: _Import) -> str:
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def _without(node: _Import, gone: Sequence[ast.alias], text: Text) -> Edit | None:
    """The edit that takes names out of an import; None if a comment would be lost, or other code stands in the line."""
    start, end = text.span(node)
    if len(gone) < len(node.names):
        kept = [alias for alias in node.names if alias not in gone]
        first, last = text.span(node.names[0])[0], text.span(node.names[-1])[1]
        if "#" in text.content[first:last]:
            return None
        parts = [text.of(alias) for alias in kept]
        between = text.content[text.span(node.names[0])[1] : text.span(node.names[1])[0]]
        return Edit(first, last, between.join(parts))
    start_of_line, end_of_line = text.line_start(node.lineno), text.line_start((node.end_lineno or node.lineno) + 1)
    around = text.content[start_of_line:start] + text.content[end:end_of_line]
    return None if around.strip() or "#" in text.content[start:end] else Edit(start_of_line, end_of_line, "")


def _new_names(module: str, names: Sequence[str], own: Collection[str], tree: ast.Module, text: Text) -> Iterator[Edit]:
    """The edits for `from module import names`: in a statement that is there, or a new one."""
    for node in _imports(tree):
        if not isinstance(node, ast.ImportFrom) or node.module != module or node.level or node.lineno >= _limit(tree):
            continue
        if node.names[0].name != "*":
            yield from (_added(name, node, text) for name in names)
            return
    yield _new_statement(f"from {module} import {', '.join(names)}", own, tree, text)


def _added(name: str, node: ast.ImportFrom, text: Text) -> Edit:
    """A name among those of a statement, before the first one that comes after it in the alphabet."""
    later = next((alias for alias in node.names if alias.name > name), None)
    lines = {alias.lineno for alias in node.names}
    apart = len(lines) == len(node.names) and node.lineno not in lines
    between = f",\n{text.indentation(node.names[0].lineno)}" if apart else ", "
    if later is not None:
        start = text.span(later)[0]
        return Edit(start, start, f"{name}{between}")
    end = text.span(node.names[-1])[1]
    return Edit(end, end, f"{between}{name}")


def _new_statement(statement: str, own: Collection[str], tree: ast.Module, text: Text) -> Edit:
    """The edit that imports another library at its place."""
    known = [node for node in _imports(tree) if node.lineno < _limit(tree)]
    line, above, below = _place(known, statement, own, tree)
    at = text.line_start(line)
    if at > len(text.content):  # the last line has no end
        return Edit(len(text.content), len(text.content), f"\n{statement}\n")
    return Edit(at, at, "\n" * above + f"{statement}\n" + "\n" * below)


def _place(known: Sequence[_Import], statement: str, own: Collection[str], tree: ast.Module) -> tuple[int, int, int]:
    """The line that a new import begins, and how many blank lines belong above and below it."""
    third = [node for node in known if _section(node, own) == _THIRD]
    keys = [_key(node) for node in third]
    wanted = (statement.startswith("from"), statement.split()[1].lower())
    if third:
        earlier = [node for node in third if _key(node) < wanted] if keys == sorted(keys) else third
        if earlier:
            return _after(earlier[-1]), 0, 0
        return third[0].lineno, 0, 0
    before = [node for node in known if _section(node, own) < _THIRD]
    after = [node for node in known if _section(node, own) == _OWN]
    if before:
        return _after(before[-1]), 1, 0
    if after:
        return after[0].lineno, 0, 1
    first = next((node for node in tree.body if not _is_docstring(node, tree)), None)
    return (1 if first is None else _first_line(first)), 0, 2


def _after(node: _Import) -> int:
    return (node.end_lineno or node.lineno) + 1


def _key(node: _Import) -> tuple[bool, str]:
    """The order of isort inside a section: plain imports first, then by name."""
    is_from = isinstance(node, ast.ImportFrom)
    return is_from, ((node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name).lower()


def _section(node: _Import, own: Collection[str]) -> int:
    """The section of isort that an import belongs to."""
    if isinstance(node, ast.ImportFrom) and node.level:
        return _OWN
    name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    head = name.partition(".")[0]
    if head == "__future__":
        return _FUTURE
    return _STANDARD if head in sys.stdlib_module_names else _OWN if head in own else _THIRD


def _limit(tree: ast.Module) -> int:
    """The line of the first class or function: what it uses has to be imported before."""
    found: Iterable[ast.stmt] = (
        node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return min((_first_line(node) for node in found), default=sys.maxsize)


def _first_line(node: ast.stmt) -> int:
    """The line of a statement, or of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
