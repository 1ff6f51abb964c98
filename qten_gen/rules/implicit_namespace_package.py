"""A file belongs to a package, but its folder has no `__init__.py`.

Without that file, qten-gen reads each file of the folder as a top-level module, as Python does when it runs one of them. The
stub of `model.py` then imports `model`. A program that imports `shop.model` gets types that refer to a module `model`, which
does not exist there. Create the `__init__.py`, or set `source-roots`. A folder `src` beside `pyproject.toml` is a source root
already.

The rule reports a file if another file of the run imports it by the longer name, or if it uses relative imports itself.
"""

from ..model.diagnostics import IMPLICIT_NAMESPACE_PACKAGE

KIND = IMPLICIT_NAMESPACE_PACKAGE

EXAMPLE = """
-# python/train.py, and no python/shop/__init__.py
-from shop.model_qten import Batch
+# pyproject.toml: python/shop/model.py is imported as shop.model
+[tool.qten-gen]
+source-roots = ["python"]
"""
