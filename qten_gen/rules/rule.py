"""A rule: its check, and its documentation, which `qten-gen explain` prints and docs/rules.md is made of.

The docstring of a check says what the rule reports, and why that is bad; below `Example:` is a difference of two Python texts.
The first has a mistake, which carets mark, and the second is its correction. The tests hold the check to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import cleandoc
from textwrap import indent

from ..common.records import record
from ..model import FileDecl, ModuleDecl, TensorClassDecl
from ..model.diagnostics import Diagnostic, Kind
from .plain_classes import Finding, PlainClass
from .rule_input import Facts, Problem, RuleContext


@record(frozen=True, slots=True)
class Rule:
    """What finds the mistakes of one kind. A rule without a check documents what another part of the generator reports."""

    kind: Kind
    check: Callable[[RuleContext], Iterator[Problem]] | None = None
    """Checks one declaration."""
    check_module: Callable[[ModuleDecl, RuleContext], Iterator[Problem]] | None = None
    """Checks one declaration, if it is a Module."""
    check_tensorclass: Callable[[TensorClassDecl, RuleContext], Iterator[Problem]] | None = None
    """Checks one declaration, if it is a TensorClass."""
    check_file: Callable[[FileDecl, Facts], Iterator[Problem]] | None = None
    """Checks a whole file, such as its handlers."""
    check_plain: Callable[[PlainClass], Iterator[Finding]] | None = None
    """Checks a class that derives from torch.nn.Module and declares nothing."""
    text: str = ""
    """The documentation of a rule without a check."""

    def of_declaration(self, context: RuleContext) -> Iterator[Diagnostic]:
        """The diagnostics about one declaration."""
        match context.declaration:
            case ModuleDecl() as module if self.check_module is not None:
                found = self.check_module(module, context)
            case TensorClassDecl() as tensorclass if self.check_tensorclass is not None:
                found = self.check_tensorclass(tensorclass, context)
            case _:
                found = iter(()) if self.check is None else self.check(context)
        return map(self.diagnostic, found)

    def of_file(self, file: FileDecl, facts: Facts) -> Iterator[Diagnostic]:
        """The diagnostics about what a file has beside its declarations."""
        return map(self.diagnostic, self.check_file(file, facts) if self.check_file is not None else ())

    def of_plain(self, cls: PlainClass) -> Iterator[Finding]:
        """The findings in a plain class."""
        return iter(self.check_plain(cls) if self.check_plain is not None else ())

    def diagnostic(self, found: Problem) -> Diagnostic:
        """A problem as a diagnostic of the kind of the rule, without path and span."""
        return Diagnostic(self.kind, found.message, found.place, found.help, found.notes, found.within, fix=found.fix)

    @property
    def doc(self) -> str:
        """What the rule reports, and why."""
        return self._documentation[0]

    @property
    def example(self) -> str:
        """The example: lines with a sign, as in a diff."""
        return self._documentation[2]

    @property
    def _documentation(self) -> tuple[str, str, str]:
        function = self.check or self.check_module or self.check_tensorclass or self.check_file or self.check_plain
        return cleandoc(self.text or (function and function.__doc__) or "").partition("\n\nExample:\n\n")


def bad(example: str) -> str:
    """The text with the mistake, carets included.

    >>> bad("-x = 1\\n-    ^\\n+x = 2\\n y = 3\\n")
    'x = 1\\n    ^\\ny = 3\\n'
    """
    return _without("+", example)


def good(example: str) -> str:
    """The text without the mistake."""
    return _without("-", example)


def _without(sign: str, example: str) -> str:
    return "".join(f"{line[1:]}\n" for line in example.strip("\n").split("\n") if not line.startswith(sign))


def page(rule: Rule) -> str:
    """The documentation of a rule as text. Carets mark the mistake in the text that is reported."""
    kind = rule.kind
    head = f"{kind.code} [{kind.name}], {'an' if kind.severity == 'error' else 'a'} {kind.severity}"
    reported, right = (indent(part.strip("\n"), "    ") for part in (bad(rule.example), good(rule.example)))
    return f"{head}\n\n{rule.doc}\n\nReported:\n\n{reported}\n\nRight:\n\n{right}\n"
