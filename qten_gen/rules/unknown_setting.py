"""A key or a value in `[tool.qten-gen]` is unknown.

If qten-gen ignored a misspelt setting, it would silently do something else: with `exlude`, for example, it would generate files
for the folders that you wanted to exclude.
"""

from ..model.diagnostics import UNKNOWN_SETTING

KIND = UNKNOWN_SETTING

EXAMPLE = """
 [tool.qten-gen]
-exlude = ["legacy/*"]
+exclude = ["legacy/*"]
"""
