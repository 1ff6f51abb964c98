"""Makes the changes that levels propose, with libcst: to class statements, and to imports where isort would put them.

Imported where a file changes, and nowhere else. The visitors of `libcst.codemod` for imports are not used: they put new imports
behind all others and new names before all others.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import libcst as cst

from ...generate.codemods import rewritten
from ...read.syntax import tree_of
from .files import Import, OpenFile, Text, bound_by, imports, is_removable, uses
from .records import Change, Need, Proposal

_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement

_BLANK = cst.EmptyLine(indent=False)
"""A line without anything."""

_MARK = "__folded_by_qten_gen_"

_FUTURE, _STANDARD, _THIRD, _OWN = range(4)
"""The sections of isort."""


def rewritten_file(file: OpenFile, content: str, proposals: Sequence[Proposal], own: Collection[str]) -> str:
    """The text of a file with the changes of proposals made.

    Args:
        file: The file before.
        content: Its text, with the line ends that it has.
        proposals: What is done with its classes.
        own: The first parts of the names of the project's modules.

    Raises:
        CannotRewrite: libcst cannot parse the file, or would not write it back as it was.
        SyntaxError: The result would not be Python.
    """
    classes = [file.classes[proposal.name].node for proposal in proposals]
    replaced = {name for cls in classes for part in (*cls.bases, *cls.decorator_list) for name in uses(part)}
    needs = {need for proposal in proposals for need in proposal.needs}

    folded = _Folded(content, file.tree)

    def changed(module: cst.Module) -> cst.Module:
        module = module.visit(_ChangeClasses({proposal.name: proposal.changes for proposal in proposals}))
        code = folded.restored(module.code)
        tree = tree_of(code)
        gone = _gone(file, Text(code), tree, {need.bound for need in needs}, replaced)
        return _with_imports(module, tree, needs, gone, own) if needs or gone else module

    return folded.restored(rewritten(folded.text, changed))


class _Folded:
    """A text in which a name stands for the body of each function: libcst takes eleven times as long to parse as `ast`."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._bodies: list[str] = []
        lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)
        waiting: list[ast.AST] = [tree]
        found: list[tuple[int, int]] = []
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                start, end = node.body[0], node.end_lineno or node.lineno
                first = min([start.lineno, *(each.lineno for each in getattr(start, "decorator_list", ()))])
                if not lines[first - 1][: start.col_offset].strip(" \t"):  # it begins its line
                    found.append((first, end))
            elif not isinstance(node, ast.expr):
                waiting += ast.iter_child_nodes(node)
        for first, last in () if _MARK in text else sorted(found, reverse=True):  # the lines above keep their numbers
            whole = "".join(lines[first - 1 : last])
            body = whole.strip(" \t\f\r\n")
            before, _, behind = whole.partition(body)
            lines[first - 1 : last] = [f"{before}{_MARK}{len(self._bodies)}_{behind}"]
            self._bodies.append(body)
        self.text = "".join(lines)

    def restored(self, text: str) -> str:
        """A text with the bodies in their places again."""
        return re.sub(rf"{_MARK}(\d+)_", lambda found: self._bodies[int(found[1])], text) if self._bodies else text


class _OwnStatements(cst.CSTTransformer):
    """Leaves alone what is in functions and in other classes."""

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        return False

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        return False


class _ChangeClasses(_OwnStatements):
    """Changes the classes of a file, by name."""

    def __init__(self, changes: Mapping[str, Sequence[Change]]) -> None:
        super().__init__()
        self.changes = changes

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        for change in self.changes.get(original_node.name.value, ()):
            updated_node = change(updated_node)
        return updated_node


def with_base(cls: cst.ClassDef, position: int, text: str) -> cst.ClassDef:
    """Another name in a base: `Module` for `nn.Module`, and the same inside of `TensorClass["nocast"]`."""
    base = cls.bases[position]
    head: cst.CSTNode = base.value
    while isinstance(head, cst.Subscript):
        head = head.value
    # Parentheses around the base stay.
    name = cst.parse_expression(text).with_changes(lpar=getattr(head, "lpar", ()), rpar=getattr(head, "rpar", ()))
    new = base.with_changes(value=name if head is base.value else base.value.deep_replace(head, name))
    return cls.with_changes(bases=[*cls.bases[:position], new, *cls.bases[position + 1 :]])


def with_arguments(cls: cst.ClassDef, added: Sequence[str]) -> cst.ClassDef:
    """Further bases behind the old ones, and further keywords, such as `init=False`, before the old ones."""
    new = cst.ensure_type(cst.parse_expression(f"_({', '.join(added)})"), cst.Call).args
    bases = [*cls.bases, *(each for each in new if each.keyword is None)]
    arguments = [*bases, *(each for each in new if each.keyword is not None), *cls.keywords]
    before = [*cls.bases, *cls.keywords]
    if before and arguments[-1] is not before[-1]:  # behind the last one stands what stood behind the last one before
        last, space = before[-1], cst.SimpleWhitespace("")
        for index, each in enumerate(arguments[:-1]):
            if each is last or not isinstance(each.comma, cst.Comma):
                comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                arguments[index] = each.with_changes(comma=comma, whitespace_after_arg=space)
        end = arguments[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        arguments[-1] = end
    return cls.with_changes(bases=arguments[: len(bases)], keywords=arguments[len(bases) :])


def without_decorator(cls: cst.ClassDef, position: int) -> cst.ClassDef:
    """A class without one of its decorators."""
    return cls.with_changes(decorators=[*cls.decorators[:position], *cls.decorators[position + 1 :]])


def with_annotations(cls: cst.ClassDef, lines: Sequence[str]) -> cst.ClassDef:
    """Statements at the beginning of the class body, set apart from its documentation and its methods."""
    block = cst.ensure_type(cls.body, cst.IndentedBlock)
    body = [each for each in block.body if isinstance(each, _Statement)]
    at = 1 if len(body) > 1 and cls.get_docstring(clean=False) is not None else 0
    new: list[_Statement] = [cst.parse_statement(line) for line in lines]
    new[0] = new[0].with_changes(leading_lines=[_BLANK] if at else [])
    first, behind = body[at], body[at].leading_lines
    is_apart = bool(behind) and behind[0].comment is None
    if not is_apart and not (isinstance(first, cst.SimpleStatementLine) and isinstance(first.body[0], cst.AnnAssign)):
        body[at] = first.with_changes(leading_lines=[_BLANK, *behind])
    return cls.with_changes(body=block.with_changes(body=[*body[:at], *new, *body[at:]]))


def allowing_none(cls: cst.ClassDef, field: str) -> cst.ClassDef:
    """A class whose annotation of a field with the default None says so."""
    return cls.with_changes(body=cls.body.visit(_AllowNone(field)))


class _AllowNone(_OwnStatements):
    """Adds `| None` to the annotation of a field, inside of quotes if it is in some."""

    def __init__(self, field: str) -> None:
        super().__init__()
        self.field = field

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:
        names = [each.value for each in (updated_node.target, updated_node.value) if isinstance(each, cst.Name)]
        if names != [self.field, "None"]:
            return updated_node
        written = updated_node.annotation.annotation
        none: cst.BaseExpression = cst.BinaryOperation(written, cst.BitOr(), cst.Name("None"))
        if isinstance(written, cst.SimpleString):
            none = written.with_changes(value=written.value.removesuffix(written.quote) + f" | None{written.quote}")
        return updated_node.with_deep_changes(updated_node.annotation, annotation=none)


def with_result(cls: cst.ClassDef, method: str, text: str) -> cst.ClassDef:
    """A class whose first method of a name says what it returns."""
    body = cst.ensure_type(cls.body, cst.IndentedBlock).body
    found = next(each for each in body if isinstance(each, cst.FunctionDef) and each.name.value == method)
    return cls.with_deep_changes(found, returns=cst.Annotation(cst.parse_expression(text)))


def _gone(
    before: OpenFile, text: Text, tree: ast.Module, taken: Collection[str], replaced: Collection[str]
) -> dict[Import, list[ast.alias]]:
    """The imports whose last use was replaced, or whose name now means something else."""
    now, old = uses(tree), uses(before.tree)
    found: dict[Import, list[ast.alias]] = {}
    for node in imports(tree):
        gone = [
            alias
            for alias in node.names
            if (name := bound_by(alias, node)) in taken
            or (name in replaced and old[name] and not now[name] and not before.is_exported(name))
        ]
        if gone and is_removable(node, gone, text):
            found[node] = gone
    return found


def _with_imports(
    module: cst.Module,
    tree: ast.Module,
    needs: Collection[Need],
    gone: Mapping[Import, Collection[ast.alias]],
    own: Collection[str],
) -> cst.Module:
    """The tree of a file with other imports."""
    lines = [[line] for line in module.body]
    # Statements with semicolons between them share a line.
    at = dict(zip(tree.body, (line for line in lines for _ in _parts_of(line[0])), strict=True))
    for node, aliases in gone.items():
        line = at[node]
        line[0] = _without(line[0], {bound_by(alias, node) for alias in aliases})
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
        space = [] if section in begun else [_BLANK] * blanks
        if is_below:
            line.append(new.with_changes(leading_lines=space))
        elif section in begun:
            line.insert(-1, new)
        else:
            # The comments above go above both.
            above = line[-1].leading_lines
            line[-1:] = [new.with_changes(leading_lines=above), line[-1].with_changes(leading_lines=space)]
        begun.add(section)
    return module.with_changes(body=_without_empty(each for line in lines for each in line))


def _parts_of(line: _Statement) -> Sequence[cst.CSTNode]:
    """The statements of a line, which semicolons separate."""
    return line.body if isinstance(line, cst.SimpleStatementLine) else [line]


def _without_empty(lines: Iterable[_Statement]) -> list[_Statement]:
    """The lines that are left. Comments above a removed one are above the next one."""
    kept: list[_Statement] = []
    waiting: Sequence[cst.EmptyLine] = ()
    is_waiting = False
    for line in lines:
        above = line.leading_lines
        if not _parts_of(line):
            waiting, is_waiting = [*waiting, *above], True
            continue
        if is_waiting:
            above = [*waiting, *above] if any(each.comment is not None for each in waiting) else above or waiting
            while not kept and above and above[0].comment is None:
                above = above[1:]  # nothing begins with a blank line
        kept.append(line.with_changes(leading_lines=above))
        waiting, is_waiting = (), False
    return kept


def _statements(needs: Collection[Need]) -> Iterator[tuple[str, list[str], str]]:
    """The imports that are needed: the module, the names that are imported from it, if not itself, and the statement."""
    for module in sorted({need.module for need in needs}):
        for alias in sorted({need.alias or "" for need in needs if need.module == module and need.name is None}):
            yield module, [], f"import {module} as {alias}" if alias else f"import {module}"
        names = sorted({need.name for need in needs if need.module == module and need.name is not None})
        if names:
            yield module, names, f"from {module} import {', '.join(names)}"


def _with_names(line: _Statement, added: Sequence[str]) -> _Statement:
    """An import of further names, each before the first one that comes after it in the alphabet."""
    node = next(each for each in _parts_of(line) if isinstance(each, cst.ImportFrom))
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


def _without(line: _Statement, names: Collection[str]) -> _Statement:
    """A line without imports of some names; an empty one if nothing is left of it."""
    for node in _parts_of(line):
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
