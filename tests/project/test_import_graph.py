"""Which files matter."""

import pytest

from qten_gen.project.import_graph import graph_from_texts
from qten_gen.project.scan import Origin, scan


def found(**files: str) -> list[str]:
    """The relevant ones of files given as `pkg__model="text"`."""
    sources = {f"{name.replace('__', '/')}.py": text.encode() for name, text in files.items()}
    return sorted(graph_from_texts(sources).relevant)


DECLARES = "from qten_gen import TensorClass\nclass Batch(TensorClass): ...\n"


def test_a_file_without_declarations_does_not_matter() -> None:
    assert found(a=DECLARES, b="class Plain(dict): ...\n") == ["a.py"]


def test_a_subclass_in_a_file_that_does_not_mention_us_matters() -> None:
    assert found(a=DECLARES, b="from a import Batch\nclass Sub(Batch): ...\n") == ["a.py", "b.py"]


def test_a_subclass_over_a_file_that_passes_the_name_on_matters() -> None:
    files = {"a": DECLARES, "b": "from a import *\n", "c": "import b\nclass Sub(b.Batch): ...\n"}
    assert found(**files) == ["a.py", "b.py", "c.py"]


def test_a_file_that_only_uses_a_declaration_does_not_matter() -> None:
    assert found(a=DECLARES, train="from a import Batch\nprint(Batch)\n") == ["a.py"]


@pytest.mark.parametrize(
    "alias",
    [
        "Tokens = Int[Tensor, 'b s']",
        "Tokens = Tensor",
        "Tokens: TypeAlias = a.Batch | None",
        "T = TypeVar('T', bound=X)",
        "type A = B",
        "if TYPE_CHECKING:\n    A = B[int]",
        "MAX = 3",
        "class Sizes:\n    HIDDEN: int = 64",
    ],
)
def test_a_file_that_defines_aliases_or_constants_matters_to_what_imports_it(alias: str) -> None:
    files = {"a": f"from kinds import *\n{DECLARES}", "kinds": "from deep import *\n", "deep": f"{alias}\n"}
    assert found(**files) == ["a.py", "deep.py", "kinds.py"]


@pytest.mark.parametrize("text", ["def f(): ...\n", "values = [1]\n", "x = f(1)\n"])
def test_a_file_without_aliases_and_constants_does_not_matter(text: str) -> None:
    assert found(a=f"from plain import x\n{DECLARES}", plain=text) == ["a.py"]


def test_a_file_that_a_base_is_imported_from_matters() -> None:
    files = {"a": f"import mixins as m\n{DECLARES}class C(m.Mixin, Batch): ...\n", "mixins": "def f(): ...\n"}
    assert found(**files) == ["a.py", "mixins.py"]


def test_a_file_that_a_star_import_names_matters_to_a_file_that_does() -> None:
    files = {"a": f"from x import *\n{DECLARES}", "x": "from y import *\n", "y": "from torch import Tensor\n"}
    assert found(**files) == ["a.py", "x.py", "y.py"]


@pytest.mark.parametrize("passing", ["from torch import Tensor as T", "import torch as T", "from z import T"])
def test_a_file_that_passes_a_name_on_matters_to_what_imports_it(passing: str) -> None:
    assert found(a=f"from x import T\n{DECLARES}", x=f"{passing}\n") == ["a.py", "x.py"]
    assert found(a=f"from x import U\n{DECLARES}", x=f"{passing}\n") == ["a.py"]


def test_a_handler_in_another_file_matters() -> None:
    assert found(a=DECLARES, h="import a\n@a.Net.register(a.Batch)\ndef _(net, batch): ...\n") == ["a.py", "h.py"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a", {"a"}),
        ("import a.b as c, d", {"a", "a.b", "d"}),
        ("x = 1; import a", {"a"}),
        ("if TYPE_CHECKING: import a", {"a"}),
        ("import a, \\\n    b", {"a", "b"}),
        ("from a.b import c", {"a.b", "a.b.c"}),
        ("from a import (\n    b,  # (first)\n    c as d,\n)", {"a", "a.b", "a.c"}),
        ("from a \\\n    import b", {"a", "a.b"}),
        ("from a import *", {"a"}),
        ("    from a import b  # inside a function", {"a", "a.b"}),
        ("from . import c", {"pkg.sub", "pkg.sub.c"}),
        ("from .c import d", {"pkg.sub.c", "pkg.sub.c.d"}),
        ("from ..c import d", {"pkg.c", "pkg.c.d"}),
        ("from .. import c", {"pkg", "pkg.c"}),
        ("from größe import maß", {"größe", "größe.maß"}),
    ],
)
def test_imports_are_found_however_they_are_written(text: str, names: set[str]) -> None:
    assert names <= set(scan(text.encode(), Origin("", "pkg.sub.mod")).imports)


@pytest.mark.parametrize("text", ["# import a", "x = 1", "raise ValueError from error"])
def test_what_is_not_an_import_is_not_taken_for_one(text: str) -> None:
    assert scan(text.encode(), Origin("", "pkg.sub.mod")).imports == ()


def test_relative_imports_of_a_package_start_from_itself() -> None:
    assert set(scan(b"from .c import d", Origin("", "pkg", True)).imports) == {"pkg.c", "pkg.c.d"}


def test_relative_imports_of_a_script_mean_its_neighbours() -> None:
    assert set(scan(b"from .c import d", Origin("", "script")).imports) == {"c", "c.d"}


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
