"""What the playground calls: the text of `model.py` in, the generated texts and the findings out."""

from __future__ import annotations

import json

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.python import PythonLexer

from qten_gen.generate.plan import plan
from qten_gen.report import report

_LEXER = PythonLexer()
_FORMATTER = HtmlFormatter(nowrap=True)


def generate(source: str) -> str:
    """The result of a run over one file, as JSON: the outputs by suffix as HTML, the findings, and the traceback of a crash."""
    made = plan({"model.py": source.encode("utf-8", "replace")}, {})
    outputs = {path.removeprefix("model_qten"): text for path, text in made.outputs.items() if text is not None}
    findings = [
        {
            "severity": item.kind.severity,
            "line": item.span.line,
            "column": item.span.column,
            "end": item.span.end_column if item.span.end_line == item.span.line else None,
            "text": item.span.text,
            "report": report("full", [item]),
        }
        for item in made.diagnostics
    ]
    return json.dumps(
        {
            "outputs": {suffix: highlight(text, _LEXER, _FORMATTER) for suffix, text in outputs.items()},
            "findings": findings,
            "crash": "\n".join(crash.traceback for crash in made.crashes),
        }
    )
