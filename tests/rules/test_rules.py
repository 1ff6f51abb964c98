"""Every rule, by its own examples."""

import re
from pathlib import Path

import pytest

from qten_gen import rules
from qten_gen.common.diagnostic_codes import ERRORS, WARNINGS
from qten_gen.generate.plan import plan
from qten_gen.generate.suppression import unsuppressed
from qten_gen.model.diagnostics import Diagnostic, ordered
from qten_gen.project.scan import Origin
from qten_gen.read.module import read
from qten_gen.read.positions import locate
from qten_gen.rules.rule import bad, good
from qten_gen.tools.adopt.opening import Sources
from qten_gen.tools.check.plain_modules import check
from templates.rules_page import codes, documentation, summary
from tests.linking import link
from tests.rules.marked import case

# What these rules report is no Python file: the place of an output, the settings, the name of a file, a folder.
OTHER_INPUT = {"QG003", "QG004", "QG005", "QG006", "QG007"}
CHECKED = [rule for rule in rules.RULES if rule.kind.code not in OTHER_INPUT]


def found_in(text: str) -> tuple[Diagnostic, ...]:
    """What a run says about a file `shop/model.py` with this text, or about several files, each below a line `# shop/name.py`."""
    files_of_text = several(text)
    if files_of_text:
        return plan(files_of_text, {}).diagnostics
    data = text.encode()
    if "nn.Module)" in text and "qten_gen" not in text:
        return check_plain_classes(text)
    source, said = read(data, "shop/model.py", "shop.model")
    files, more = link([source])
    found = [*said, *more, *(item for file in files for item in rules.check(file))]
    found = [*unsuppressed(found, "shop/model.py", data)]
    return ordered(locate(found, {"shop/model.py": data}))


def check_plain_classes(text: str) -> tuple[Diagnostic, ...]:
    """What `qten-gen check` says about a file `shop/model.py`."""
    origins = {"shop/model.py": Origin("", "shop.model")}
    return check(Sources.of({"shop/model.py": text.encode()}, origins, origins)).findings


def several(text: str) -> dict[str, bytes]:
    """The files of an example by path, each with as many blank lines above it that its lines keep their numbers."""
    heads = list(re.finditer(r"^# (\S+\.py)$", text, re.MULTILINE))
    ends = [head.start() for head in heads[1:]] + [len(text)] * bool(heads)
    return {
        head[1]: ("\n" * text.count("\n", 0, head.start()) + text[head.start() : end]).encode()
        for head, end in zip(heads, ends, strict=True)
    }


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.kind.name)
def test_the_bad_example_is_reported_at_the_marked_place_and_nothing_else_is(rule: rules.Rule) -> None:
    marked = case(bad(rule.example))

    (found,) = found_in(marked.text)

    assert (found.code, found.span.line, found.span.column) == (rule.kind.code, marked.line, marked.column)
    assert found.span.end_column == marked.end_column
    assert found.kind == rule.kind


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.kind.name)
def test_the_good_example_is_clean(rule: rules.Rule) -> None:
    assert found_in(good(rule.example)) == ()


def test_codes_and_names_are_unique() -> None:
    assert len({rule.kind.code for rule in rules.RULES}) == len(rules.RULES)
    assert len({rule.kind.name for rule in rules.RULES}) == len(rules.RULES)


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.kind.name)
def test_every_finding_says_how_to_mend_it(rule: rules.Rule) -> None:
    (found,) = found_in(case(bad(rule.example)).text)

    # The words of a syntax error are the interpreter's, and those of a malformed expression name the remedy themselves.
    assert found.help or rule.kind.code in ("QG001", "QG301")


def test_the_page_of_rules_describes_every_rule() -> None:
    page = documentation()

    for rule in rules.RULES:
        assert f"\n### {rule.kind.code} {rule.kind.name}\n" in page
        assert summary(rule) in page


def test_the_page_of_the_rules_is_fresh() -> None:
    page = Path(__file__).parents[2] / "docs" / "rules.md"
    assert page.read_text(encoding="utf-8") == documentation(), "run: make generate"


def test_the_codes_that_settings_may_name_are_those_of_the_rules() -> None:
    severities = {rule.kind.code: rule.kind.severity for rule in rules.RULES}
    assert {code for code, severity in severities.items() if severity == "warning"} == set(WARNINGS)
    assert {code for code, severity in severities.items() if severity == "error"} == set(ERRORS)
    path = Path(rules.__file__).parents[1] / "common" / "diagnostic_codes.py"
    assert path.read_text(encoding="utf-8") == codes(), "run: make generate"
