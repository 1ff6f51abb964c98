"""Names and texts that are hard to write out again."""

from __future__ import annotations

FIELDS = tuple("tokens mask scores x y rate kind table weights label count notes inner path mode heads rows".split())
"""Names of fields that mean nothing to anyone."""

HOSTILE_FIELDS = (
    # builtins, and what generated code may use of them
    *"property classmethod staticmethod type list dict tuple object str int bool float complex bytes frozenset".split(),
    *"isinstance len zip any range enumerate super getattr KeyError TypeError print".split(),
    # names of typing, torch and of generated code
    *"overload Any Self Callable Sequence Literal Never Tensor torch nn typing builtins".split(),
    *"n value index fn item other argument batch_sizes pieces leaves tensor result key target config_ name".split(),
    *"cls class_ def_ none_ data depth _x _name _unfilled _rt _t _torch _nn _decl _repeat".split(),
    # identifiers that Python normalises, and others outside ASCII
    *"größe \ufb01eld \u00aa \U0001d531ext 文字 I l".split(),
)

CLASSES = tuple("Batch Point Layer Sample Block Item Pair Frame".split())

HOSTILE_CLASSES = (
    *"Sequence Callable Tensor Any Self Module TensorClass Optional Union Literal overload".split(),
    *"new q t n nn torch typing fn device index item self_ argument dtype module".split(),
    *"_Base Base Size rt _Point repeat Key Index Slot DeviceLike BatchSize Array Default".split(),
    *"Größe \ufb01rst TYPE_CHECKING None_ Generic TypedDict OrderedDict Never builtins".split(),
    *"Pointer PointDict BatchInput LayerConfig LayerState batch Batch_".split(),
)

REFUSED_FIELDS = tuple("self device names __mangled __dunder__ _fields _declaration set get keys update".split())
"""Names that a rule refuses, at least in some classes."""

REFUSED_CLASSES = tuple("_rt _t _Tensor _Size property type list dict zip len range KeyError __Hidden _Framed_".split())
"""Names that a rule refuses, because generated code has another use for them."""

DOCS = (
    "A plain sentence.",
    'Ends in a quote"',
    'Ends in a backslash and a quote\\"',
    "Ends in a backslash\\",
    '"',
    '"""',
    "Three \"\"\" in the middle, and ''' too.",
    'Ends in three """',
    "Null \0 byte.",
    "Several\nlines\n\n    indented\n",
    "  surrounded by spaces  ",
    "Tabs\tand\rreturns\x0c and feeds",
    "{{ braces }} {% block %} {# comment #}",
    "Unicode: größer, 文字, \u2028 separators \u0085",
    "\\N{BULLET} \\x00 \\u1234 \\",
    "%s %(x)s {0} $x",
    "# type: ignore",
    "",
)
"""Docstrings, as they read."""
