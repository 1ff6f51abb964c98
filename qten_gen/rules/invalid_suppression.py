"""A comment that is meant to suppress a diagnostic does not say which, or names one that cannot be suppressed.

A comment has codes or names in brackets: `# qten-gen: ignore[QG210, possibly-missing-attribute] reason`. It suppresses warnings,
and those errors that are about what a class does, such as a method with a misspelled name. Any other error means that the class
cannot be generated, or that the generated class would differ from its declaration. A comment cannot change that, and the class
statement raises the error too.
"""

from ..model.diagnostics import INVALID_SUPPRESSION

KIND = INVALID_SUPPRESSION

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
-    tokens: Tensor  # qten-gen: ignore[QG999] one number for each item
-                                       ^^^^^
+    tokens: Tensor
+    weight: float  # qten-gen: ignore[QG210] one number for each item
"""
