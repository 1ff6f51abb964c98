"""A comment suppresses a diagnostic that is not reported there.

The mistake has been mended, or the comment is in another line. If it stayed, it would hide the next mistake of that kind. A
comment suppresses what is reported in its line. In a statement of several lines, it also counts in the first and in the last one.
"""

from ..model.diagnostics import UNUSED_SUPPRESSION

KIND = UNUSED_SUPPRESSION

EXAMPLE = """
 from qten_gen import TensorClass
 from torch import Tensor


 class Batch(TensorClass):
     tokens: Tensor
-    weight: Tensor  # qten-gen: ignore[QG210] one number for each item
-                                       ^^^^^
+    weight: float  # qten-gen: ignore[QG210] one number for each item
"""
