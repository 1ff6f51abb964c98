"""The format `junit`: JUnit's XML, which most CI systems show as a list of tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from ..model.diagnostics import Diagnostic
from .stale import ADVICE, CHECK, StaleFile

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(diagnostics: Sequence[Diagnostic], files: Sequence[StaleFile] = ()) -> str:
    """A suite for each file with findings. A suite is a list of cases, and each finding is one.

    Errors and files that are out of date are failures. A warning passes, with its text as output. Without a finding there is one
    case, which passes: some systems take a report without cases for a broken one.
    """
    cases = [*map(_case, diagnostics), *map(_stale, files)] or [
        _element("testcase", name="no findings", classname="qten-gen")
    ]
    root = _element("testsuites", name="qten-gen")
    _count(root, cases)
    for place, own in groupby(cases, key=lambda case: case.get("file", "qten-gen")):
        suite = ElementTree.SubElement(root, "testsuite", name=place)
        suite.extend(own)
        _count(suite, list(suite))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _case(item: Diagnostic) -> ElementTree.Element:
    """The case of a diagnostic, which is a failure if it is an error."""
    name = (
        f"{item.code} [{item.kind.name}] in line {item.span.line}"
        if item.span.line
        else f"{item.code} [{item.kind.name}]"
    )
    case = _element("testcase", name=name, classname=item.path, file=item.path, line=str(item.span.line or 1))
    texts = [item.message, *([f"help: {item.help}"] if item.help else []), *(f"note: {note}" for note in item.notes)]
    if item.is_error:
        case.append(_element("failure", "\n".join(texts), message=item.message, type=item.code))
    else:
        case.append(_element("system-out", "\n".join([f"warning: {texts[0]}", *texts[1:]])))
    return case


def _stale(file: StaleFile) -> ElementTree.Element:
    case = _element("testcase", name=f"{CHECK} {file.path}", classname=file.shown_at, file=file.shown_at, line="1")
    case.append(_element("failure", f"{file.sentence}. {ADVICE}", message=file.sentence, type=CHECK))
    return case


def _count(element: ElementTree.Element, cases: Sequence[ElementTree.Element]) -> None:
    failures = sum(case.find("failure") is not None for case in cases)
    element.attrib.update(tests=str(len(cases)), failures=str(failures), errors="0")


def _element(tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    """An element without the characters that XML cannot contain, such as those of a terminal."""
    element = ElementTree.Element(tag, {key: _NOT_IN_XML.sub("\ufffd", value) for key, value in attributes.items()})
    element.text = None if text is None else _NOT_IN_XML.sub("\ufffd", text)
    return element
