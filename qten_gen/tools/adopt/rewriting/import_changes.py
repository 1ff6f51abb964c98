"""Adds the imports that changes need, where isort would put them, and removes those that only the replaced text used.

The visitors of `libcst.codemod` for this are not used: they put imports behind all others and names before all others, cost 50 ms
for each file, most of it to construct them, and 0.4 s to import. With them, adopting vit-pytorch takes four times as long.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence

import libcst as cst

from ....read.syntax import tree_of
from ..adoption import Need
from ..imported import Import, bound, imports, is_removable
from ..opened import OpenFile
from ..source_text import Text
from ..uses import unused, uses
from .elision import rewritten_parts
from .statements import BLANK, Statement, parts_of, under, without_empty

_FUTURE, _STANDARD, _THIRD, _OWN = range(4)


def with_imports(
    before: OpenFile, content: str, needs: Collection[Need], own: Collection[str], replaced: Collection[str]
) -> str:
    """The text of a file whose classes have been changed, with its imports put right.

    Args:
        before: The file before the changes.
        content: Its text after the changes of classes.
        needs: What the changes need.
        own: The first parts of the names of the project's modules.
        replaced: The names in what was changed. Only their imports can be unused now.

    Raises:
        CannotRewrite: libcst cannot parse the imports.
    """
    tree = tree_of(content)
    gone = _gone(before, content, tree, {need.bound for need in needs}, replaced)
    if not needs and not gone:
        return content
    return rewritten_parts(content, tree, (), lambda module: _changed(module, tree, needs, gone, own))


def _gone(
    before: OpenFile, content: str, tree: ast.Module, taken: Collection[str], replaced: Collection[str]
) -> dict[Import, list[ast.alias]]:
    """The imports whose last use was replaced, and those of names that now mean something else."""
    imported = {bound(alias, node) for node in imports(tree) for alias in node.names}
    now = unused(imported & set(replaced), tree)
    old = uses(before.tree) if now else {}
    text = Text(content)
    found: dict[Import, list[ast.alias]] = {}
    for node in imports(tree):
        gone = [
            alias
            for alias in node.names
            if (name := bound(alias, node)) in taken or (name in now and old.get(name) and not before.is_exported(name))
        ]
        if gone and is_removable(node, gone, text):
            found[node] = gone
    return found


def _changed(
    module: cst.Module,
    tree: ast.Module,
    needs: Collection[Need],
    gone: Mapping[Import, Collection[ast.alias]],
    own: Collection[str],
) -> cst.Module:
    """The tree of a file with other imports."""
    lines = [[line] for line in module.body]
    # Statements with semicolons between them share a line.
    at = dict(zip(tree.body, (line for line in lines for _ in parts_of(line[0])), strict=True))
    for node, aliases in gone.items():
        line = at[node]
        line[0] = _without(line[0], {bound(alias, node) for alias in aliases})
    fresh: list[tuple[str, bool, str]] = []
    for module_name, names, statement in _statements(needs):
        known = _importing(module_name, tree) if names else None
        if known is None:
            fresh.append((module_name, bool(names), statement))
        else:
            at[known][0] = _with_names(at[known][0], names)
    begun: set[tuple[ast.stmt, int]] = set()
    for module_name, is_from, statement in fresh:
        beside, is_below, blanks = _place(module_name, is_from, own, tree)
        line, new = at[beside], cst.parse_statement(statement)
        section = beside, _section_of(module_name, own)
        is_begun = section in begun
        begun.add(section)
        if is_below:
            line.append(under([] if is_begun else [BLANK] * blanks, new))
        elif is_begun:
            line.insert(-1, new)
        else:
            # The comments above go above both.
            line[-1:] = [under(line[-1].leading_lines, new), under([BLANK] * blanks, line[-1])]
    return module.with_changes(body=without_empty(each for line in lines for each in line))


def _statements(needs: Collection[Need]) -> Iterator[tuple[str, list[str], str]]:
    """The imports that are needed: the module, the names that are imported from it, if not itself, and the statement."""
    for module in sorted({need.module for need in needs}):
        for alias in sorted({need.alias or "" for need in needs if need.module == module and need.name is None}):
            yield module, [], f"import {module} as {alias}" if alias else f"import {module}"
        names = sorted({need.name for need in needs if need.module == module and need.name is not None})
        if names:
            yield module, names, f"from {module} import {', '.join(names)}"


def _with_names(line: Statement, added: Sequence[str]) -> Statement:
    """An import of further names, each before the first one that comes after it in the alphabet."""
    node = next(each for each in parts_of(line) if isinstance(each, cst.ImportFrom))
    if isinstance(node.names, cst.ImportStar):
        return line
    old, names = node.names, list(node.names)
    for name in added:
        at = next((at for at, each in enumerate(names) if each.evaluated_name > name), len(names))
        names.insert(at, cst.ImportAlias(cst.Name(name)))
    space = (
        getattr(old[0].comma, "whitespace_after", cst.SimpleWhitespace(" "))
        if len(old) > 1
        else cst.SimpleWhitespace(" ")
    )
    if isinstance(space, cst.ParenthesizedWhitespace):
        # The space between names, without a comment that belongs to one of them.
        space = cst.ParenthesizedWhitespace(indent=space.indent, last_line=space.last_line)
    inner = [
        each
        if isinstance(each.comma, cst.Comma) and each is not old[-1]
        else each.with_changes(comma=cst.Comma(whitespace_after=space))
        for each in names[:-1]
    ]
    return line.with_deep_changes(node, names=[*inner, names[-1].with_changes(comma=old[-1].comma)])


def _without(line: Statement, names: Collection[str]) -> Statement:
    """A line without imports of some names; an empty one if nothing is left of it."""
    for node in parts_of(line):
        if isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
            kept = [alias for alias in node.names if _binds(alias, node) not in names]
            if not kept:
                return line.with_changes(body=[])
            kept[-1] = kept[-1].with_changes(comma=node.names[-1].comma)
            line = line.with_deep_changes(node, names=kept)
    return line


def _binds(alias: cst.ImportAlias, node: cst.Import | cst.ImportFrom) -> str:
    """The name that an import binds."""
    name = alias.evaluated_alias or alias.evaluated_name
    return name.partition(".")[0] if isinstance(node, cst.Import) else name


def _importing(module: str, tree: ast.Module) -> ast.ImportFrom | None:
    """The import of other names of a module, above all that uses them."""
    for node in imports(tree):
        if not isinstance(node, ast.ImportFrom) or node.module != module or node.level or node.lineno >= _limit(tree):
            continue
        if node.names[0].name != "*":
            return node
    return None


def _place(module: str, is_from: bool, own: Collection[str], tree: ast.Module) -> tuple[ast.stmt, bool, int]:
    """The statement beside which a new import belongs, whether below it, and how many blank lines go between them."""
    known = [node for node in imports(tree) if node.lineno < _limit(tree)]
    section = _section_of(module, own)
    beside = [node for node in known if _section(node, own) == section]
    keys = [_key(node) for node in beside]
    wanted = (is_from, module.lower())
    if beside:
        # Imports that are in no order get it at their end.
        earlier = [node for node in beside if _key(node) < wanted] if keys == sorted(keys) else beside
        return (earlier[-1], True, 0) if earlier else (beside[0], False, 0)
    before = [node for node in known if _section(node, own) < section]
    after = [node for node in known if _section(node, own) > section]
    if before:
        return before[-1], True, 1
    if after:
        return after[0], False, 1
    return next(node for node in tree.body if not _is_docstring(node, tree)), False, 2


def _key(node: Import) -> tuple[bool, str]:
    """The order of isort inside a section: plain imports first, then by name."""
    is_from = isinstance(node, ast.ImportFrom)
    return is_from, ((node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name).lower()


def _section(node: Import, own: Collection[str]) -> int:
    """The section of isort that an import belongs to."""
    if isinstance(node, ast.ImportFrom) and node.level:
        return _OWN
    return _section_of(node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name, own)


def _section_of(module: str, own: Collection[str]) -> int:
    """The section of isort that a module belongs to."""
    head = module.partition(".")[0]
    if head == "__future__":
        return _FUTURE
    return _STANDARD if head in sys.stdlib_module_names else _OWN if head in own else _THIRD


def _limit(tree: ast.Module) -> int:
    """The line of the first class or function: what it uses has to be imported before."""
    found = (node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef))
    return min((node.lineno for node in found), default=sys.maxsize)


def _is_docstring(node: ast.stmt, tree: ast.Module) -> bool:
    return node is tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
