"""The name of a file that declares something is not a valid module name.

Python can run a file such as `my-model.py`, but no import statement can name it. The generated module and stub would be
`my-model_qten.py` and `my-model_qten.pyi`, which could not be imported either.
"""

from ..model.diagnostics import INVALID_MODULE_NAME

KIND = INVALID_MODULE_NAME

EXAMPLE = """
-# src/shop/my-model.py
+# src/shop/my_model.py
"""
