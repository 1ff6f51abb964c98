"""A key or a value in `[tool.qten-gen]` has no meaning.

A setting with a typing mistake would be ignored silently, so every unknown key is refused, with the nearest known one.
"""

from ..model.diagnostics import UNKNOWN_SETTING

KIND = UNKNOWN_SETTING

GOOD = """
[tool.qten-gen]
exclude = ["legacy/*"]
"""

BAD = """
[tool.qten-gen]
exlude = ["legacy/*"]
"""
