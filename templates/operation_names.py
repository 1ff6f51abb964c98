"""The names of the operations, which TensorClass has before it loads them, and which no field can have.

python -m templates.operation_names, into qten_gen/common/operation_names.py
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from qten_gen.runtime.tensorclass.operations.table import OPERATIONS, methods


def text() -> str:
    """The text of the module."""
    on_class = {operation.name for operation in OPERATIONS if operation.on_class}
    lists = (
        ("METHODS", methods().keys() - on_class, "The methods of objects."),
        ("CLASS_METHODS", on_class, "The methods of the class: `Batch.stack`."),
    )
    head = (
        '"""The names of the operations. Made of the table in `runtime/tensorclass/operations` by `make generate`."""\n'
    )
    return head + "".join(f'\n{name} = """\n{_filled(names)}\n""".split()\n"""{doc}"""\n' for name, names, doc in lists)


def _filled(names: Iterable[str]) -> str:
    return fill(" ".join(sorted(names)), 120, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


if __name__ == "__main__":
    print(text(), end="")
