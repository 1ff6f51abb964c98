"""A default is a list, a dict or another mutable object.

The default is evaluated once, so all instances would share the object: appending to the list of one instance would change it in
every other. A `default_factory` creates a new object for each instance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import ConfigDecl, FieldDecl
from ..model.diagnostics import Diagnostic, Kind
from .rule_input import RuleContext

KIND = Kind("QG206", "mutable-default")

EXAMPLE = """
-from qten_gen import TensorClass
+from qten_gen import TensorClass, field
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    tags: list[str] = []
-                      ^^
+    tags: list[str] = field(default_factory=list)
"""

_MUTABLE = r"[\[{]|(?:\w+\.)*(list|dict|set|bytearray|deque|defaultdict|OrderedDict|Counter)\("
_KINDS = {"[": "list", "{": "dict"}


def check(context: RuleContext) -> Iterator[Diagnostic]:
    for field in context.fields:
        if not isinstance(field, FieldDecl | ConfigDecl) or field.default is None or field.default.factory:
            continue
        value = field.default.value
        if value.held_specifier is not None:
            continue  # see `misplaced_specifier`
        match = re.match(_MUTABLE, value.text)
        is_known = isinstance(field, ConfigDecl) or context.source is not None
        if match is None and is_known and value.mutable and not value.contains:
            message = f"the default of {field.name} is mutable, and all instances would share it"
            yield Diagnostic(
                KIND, message, value.place, "write field(default_factory=...) with a function that makes it"
            )
        if match is None or (match.group(1) is None and value.is_callable):  # such as {"a": 1}["a"]
            continue
        kind = match.group(1) or ("dict" if value.text == "{}" or ":" in value.text else _KINDS[value.text[0]])
        empty = value.text in ("[]", "{}") or value.text.endswith("()")
        factory = kind if empty else f"lambda: {value.text}"
        message = f"the default of {field.name} is mutable, and all instances would share it"
        yield Diagnostic(KIND, message, value.place, f"write field(default_factory={factory})")
