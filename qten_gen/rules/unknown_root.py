"""A file is part of a package, and its folder has no `__init__.py`.

Where a folder has none, each of its files is taken for a module of its own, as it is when one of them is run: the stub beside
`model.py` then imports `model`, and a program elsewhere that says `shop.model` finds the wrong types. So tell where modules are
imported from. A folder `src` beside `pyproject.toml` is known without that. Reported where another file of the run imports by the
longer name, or where the file itself imports relatively.
"""

from ..model.diagnostics import UNKNOWN_ROOT

KIND = UNKNOWN_ROOT

GOOD = """
# pyproject.toml: python/shop/model.py is imported as shop.model
[tool.qten-gen]
source-roots = ["python"]
"""

BAD = """
# python/train.py, and no python/shop/__init__.py
from shop.model_qten import Batch
"""
