"""Which files matter."""

import pytest

from qten_gen.project.import_graph import graph_from_texts
from qten_gen.project.scan import Origin, scan


def found(**files: str) -> list[str]:
    """The relevant ones of files given as `pkg__model="text"`."""
    sources = {f"{name.replace('__', '/')}.py": text.encode() for name, text in files.items()}
    return sorted(graph_from_texts(sources).relevant)


DECLARES = "from qten_gen import TensorClass\nclass Batch(TensorClass): ...\n"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a": DECLARES, "b": "class Plain(dict): ...\n"}, "a"),
        # A subclass in a file that does not mention us, over one that passes the name on.
        ({"a": DECLARES, "b": "from a import Batch\nclass Sub(Batch): ...\n"}, "a b"),
        ({"a": DECLARES, "b": "from a import *\n", "c": "import b\nclass Sub(b.Batch): ...\n"}, "a b c"),
        ({"a": DECLARES, "train": "from a import Batch\nprint(Batch)\n"}, "a"),
        # A file without aliases and constants.
        ({"a": f"from plain import x\n{DECLARES}", "plain": "def f(): ...\n"}, "a"),
        ({"a": f"from plain import x\n{DECLARES}", "plain": "values = [1]\nx = f(1)\n"}, "a"),
        # What a base or a star import comes from.
        (
            {"a": f"import mixins as m\n{DECLARES}class C(m.Mixin, Batch): ...\n", "mixins": "def f(): ...\n"},
            "a mixins",
        ),
        ({"a": f"from x import *\n{DECLARES}", "x": "from y import *\n", "y": "from torch import Tensor\n"}, "a x y"),
        # A name that is passed on.
        ({"a": f"from x import T\n{DECLARES}", "x": "from torch import Tensor as T\n"}, "a x"),
        ({"a": f"from x import T\n{DECLARES}", "x": "import torch as T\n"}, "a x"),
        ({"a": f"from x import T\n{DECLARES}", "x": "from z import T\n"}, "a x"),
        ({"a": f"from x import U\n{DECLARES}", "x": "from z import T\n"}, "a"),
        ({"a": DECLARES, "h": "import a\n@a.Net.register(a.Batch)\ndef _(net, batch): ...\n"}, "a h"),
    ],
)
def test_the_files_that_can_affect_a_declaration_matter(files: dict[str, str], expected: str) -> None:
    assert found(**files) == [f"{name}.py" for name in expected.split()]


@pytest.mark.parametrize(
    "alias",
    [
        "Tokens = Int[Tensor, 'b s']",
        "MAX = 3",
        "class Sizes:\n    HIDDEN: int = 64",
    ],
)
def test_a_file_that_defines_aliases_or_constants_matters_to_what_imports_it(alias: str) -> None:
    files = {"a": f"from kinds import *\n{DECLARES}", "kinds": "from deep import *\n", "deep": f"{alias}\n"}
    assert found(**files) == ["a.py", "deep.py", "kinds.py"]


@pytest.mark.parametrize("origin", [Origin("", "pkg", True), Origin("", "script")])
def test_relative_imports_start_from_a_package_itself_and_from_the_neighbours_of_a_script(origin: Origin) -> None:
    above = "pkg." if origin.is_package else ""
    assert set(scan(b"from .c import d", origin).imports) == {f"{above}c", f"{above}c.d"}


def test_bytes_that_are_not_text_do_no_harm() -> None:
    assert scan(b"\xff\xfe\x00import a", Origin("", "m")).mentions is False


def test_a_file_that_has_outputs_matters_whatever_it_says() -> None:
    assert graph_from_texts({"a.py": b"x = ("}, ["a.py"]).relevant == {"a.py"}


def test_a_file_is_imported_if_another_one_imports_it() -> None:
    sources = {"a.py": b"import b, a", "b.py": b"x = 1", "c.py": b"import torch"}
    assert graph_from_texts(sources).imported == {"b.py"}


@pytest.mark.parametrize(("name", "found"), [("logging", ()), ("loading", ("shop/tools/loading.py",))])
def test_a_module_of_the_standard_library_is_not_a_file_of_that_name_in_another_folder(
    name: str, found: tuple[str, ...]
) -> None:
    files = {"shop/__init__.py": b"", f"shop/tools/{name}.py": b"", "shop/model.py": f"import {name}".encode()}

    assert graph_from_texts(files).imports["shop/model.py"] == found


def test_a_file_named_after_a_module_of_the_standard_library_is_found_beside_it() -> None:
    assert graph_from_texts({"logging.py": b"", "train.py": b"import logging"}).imports["train.py"] == ("logging.py",)
