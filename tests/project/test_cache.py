"""The cache: what it saves, and that nothing but time depends on it."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from qten_gen.common.header import FORMAT, digest
from qten_gen.generate import outputs
from qten_gen.generate import plan as planning
from qten_gen.generate.outputs import Views
from qten_gen.model.diagnostics import Span
from qten_gen.project import cache, import_graph, sources, stale
from qten_gen.project.scan import Origin, Scan, scan
from tests.command import BATCH, Command

LONG_AGO = 1_500_000_000


@pytest.fixture
def unchanged(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A generated project whose files are old, and a generator that must not be needed."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/plain.py", "x = 1\n")
    qten_gen("src")
    for path in Path("src").iterdir():
        os.utime(path, (LONG_AGO, LONG_AGO))
    qten_gen("src")
    monkeypatch.setattr("qten_gen.generate.plan.plan", unexpected)
    return qten_gen


def unexpected(*arguments: object) -> None:
    """Stands for the generator where it has nothing to do."""
    raise AssertionError("the generator was called")


def test_an_unchanged_tree_needs_no_generator(unchanged: Command) -> None:
    assert unchanged("src").summary == "2 files up to date"
    assert unchanged("--check", "src").status == 0


def test_an_unchanged_tree_is_not_read(unchanged: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sources, stale):
        monkeypatch.setattr(module, "digest", unexpected_digest(digest))
    assert unchanged("src").summary == "2 files up to date"


def unexpected_digest(digest: object) -> object:
    """A digest that may be taken of short texts, and not of files."""

    def guarded(data: bytes) -> str:
        assert b"TensorClass" not in data and b"x = 1" not in data
        assert callable(digest)
        return str(digest(data))

    return guarded


def test_the_second_run_needs_no_generator_already(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    qten_gen.write("src/base.py", BATCH)
    qten_gen.write("src/plain.py", "class Mixin(dict): ...\n")
    qten_gen.write("src/sub.py", "import plain, base\n\nclass Sub(base.Batch, plain.Mixin):\n    y: str\n")
    qten_gen("src")
    monkeypatch.setattr("qten_gen.generate.plan.plan", unexpected)
    assert qten_gen("src").summary == "4 files up to date"


def test_touched_files_need_no_generator(unchanged: Command) -> None:
    for name in ("model.py", "plain.py", "model_qten.py"):
        os.utime(f"src/{name}")
    assert unchanged("src").summary == "2 files up to date"


def test_a_new_file_without_declarations_needs_no_generator(unchanged: Command) -> None:
    unchanged.write("src/more.py", "import model\n")
    assert unchanged("src").summary == "2 files up to date"


def test_an_unchanged_tree_leaves_the_cache_alone(unchanged: Command) -> None:
    before = os.stat(".qten_cache/sources").st_mtime_ns
    unchanged("src")
    assert os.stat(".qten_cache/sources").st_mtime_ns == before


@pytest.fixture
def generated(qten_gen: Command) -> Command:
    """A generated project."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    return qten_gen


DAMAGED = ("", "{", "[]", "null\n", "\nM\n", "\nM\nI", "\nM\nI\n", "\nM\n[]\n", "\nM\n[[],[[]]]\n", "[]\nM\nI\n")


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_cache_is_ignored(generated: Command, text: str) -> None:
    _, mark, index, _ = Path(".qten_cache/sources").read_bytes().split(b"\n", 3)
    Path(".qten_cache/sources").write_bytes(text.encode().replace(b"M", mark).replace(b"I", index))
    assert generated("src").summary == "2 files up to date"
    generated.write("src/model.py", BATCH.replace("x:", "y:"))
    assert generated("src").summary == "1 file up to date, 1 written"


def test_an_index_in_which_one_byte_differs_is_ignored(generated: Command) -> None:
    written = Path(".qten_cache/sources").read_bytes()
    assert cache.load(".") != cache.Cache()
    seen, mark, index, _ = written.split(b"\n", 3)
    for position in range(len(seen) + 1, len(seen) + len(mark) + len(index), 7):
        other = b"1" if written[position : position + 1] != b"1" else b"2"
        Path(".qten_cache/sources").write_bytes(written[:position] + other + written[position + 1 :])
        assert cache.load(".") == cache.Cache()


def test_a_parsed_source_in_which_a_byte_differs_is_read_anew(generated: Command) -> None:
    generated.write("src/child.py", "from model import Batch\n\n\nclass Child(Batch): ...\n")
    generated("src")
    written = Path(".qten_cache/sources").read_bytes()
    for position in range(len(written) - len(written.split(b"\n", 3)[3]), len(written), 97):
        Path(".qten_cache/sources").write_bytes(written[:position] + b"7" + written[position + 1 :])
        generated.write("src/child.py", f"from model import Batch\n\n\nclass Child(Batch):\n    n{position}: str\n")
        assert generated("src").status == 0
        assert f"n{position}: str" in generated.read("src/child_qten.py")


@pytest.mark.parametrize(("name", "value"), [("__version__", "other"), ("FORMAT", FORMAT + 1)])
def test_a_cache_of_another_generator_or_output_format_is_ignored(
    name: str, value: object, generated: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache.load(".").fresh
    monkeypatch.setattr(cache, name, value)
    cache.generator.cache_clear()
    assert cache.load(".") == cache.Cache()
    assert not generated("src").status
    cache.generator.cache_clear()


def test_the_generator_is_known_by_its_modules_and_templates_and_not_by_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("package/emit/module.py", "package/runtime/kernel.py", "templates/module.py.j2"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    monkeypatch.setattr(cache, "_PACKAGE", str(tmp_path / "package"))
    generator = cache.generator.__wrapped__
    before = generator()
    (tmp_path / "package/runtime/kernel.py").write_text("x = 1\n")
    assert generator() == before
    (tmp_path / "package/emit/module.py").write_text("x = 1\n")
    edited = generator()
    (tmp_path / "templates/module.py.j2").write_text("x\n")
    assert len({before, edited, generator()}) == 3


def test_a_run_looks_through_each_source_once(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = []

    def counted(data: bytes, origin: Origin) -> Scan:
        scanned.append(origin.module)
        return scan(data, origin)

    for module in (sources, import_graph):
        monkeypatch.setattr(module, "scan", counted)
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/plain.py", "import model\n")
    assert qten_gen("src").summary == "2 files written"
    assert sorted(scanned) == ["model", "plain"]


def test_a_warning_is_read_back_as_it_was(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH + "    weight: float\n")
    qten_gen("src")
    (warning,) = cache.load("src").fresh["model.py"].warnings
    assert (warning.code, warning.path) == ("QG210", "")
    assert warning.span == Span(6, 13, 6, 18, "    weight: float")


def test_a_change_within_the_same_tick_of_the_clock_is_seen(qten_gen: Command) -> None:
    source = qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    time = os.stat(source).st_mtime_ns
    qten_gen.write("src/model.py", BATCH.replace("x:", "z:"))
    os.utime(source, ns=(time, time))
    assert qten_gen("src").summary == "1 file up to date, 1 written"


def test_the_cache_keeps_itself_out_of_backups_and_repositories(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    assert qten_gen.read("src/.qten_cache/.gitignore") == "*\n"
    assert qten_gen.read("src/.qten_cache/CACHEDIR.TAG").startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_a_run_works_where_the_cache_cannot_be_written(qten_gen: Command) -> None:
    qten_gen.write("src/.qten_cache", "in the way\n")
    qten_gen.write("src/model.py", BATCH)
    assert qten_gen("src").summary == "2 files written"
    assert qten_gen("src").summary == "2 files up to date"


def test_a_file_that_nobody_imported_is_judged_again_when_somebody_does(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "")
    qten_gen.write("src/shop/__init__.py", "")
    qten_gen.write("src/shop/net.py", "from qten_gen import Module\nclass Net(Module): ...\n")
    handler = "from shop.net import Net\n@Net.register(str)\ndef handle(net: Net, text: str) -> int: ...\n"
    qten_gen.write("src/shop/more.py", handler)

    def said() -> str:
        found = qten_gen("src")
        return found.out + found.err

    assert "QG403" in said()
    assert "QG403" in said()
    qten_gen.write("src/main.py", "import shop.more\n")
    assert "QG403" not in said()
    os.remove("src/main.py")
    assert "QG403" in said()


def test_names_of_temporary_files_of_the_cache_cannot_be_guessed(
    unchanged: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, str]] = []
    original = open

    def noted(path: str, mode: str = "r", **keywords: object) -> object:
        if ".qten_cache" in str(path) and mode != "rb":
            opened.append((os.path.basename(path), mode))
        return original(path, mode, **keywords)  # type: ignore[call-overload] # the arguments of open

    monkeypatch.setattr("builtins.open", noted)
    cache.save(".", cache.Cache(lines=(b"", b"1")), None)
    cache.save(".", cache.Cache(lines=(b"", b"1")), None)
    (first, mode), (second, _) = opened
    assert first != second and mode == "xb"


BASE = """
from torch import Tensor
from qten_gen import TensorClass

Mask = Tensor | None

class Base(TensorClass):
    tokens: Tensor
    mask: Mask = None

class Other(TensorClass):
    own: Tensor
"""
HOLDER = """
from qten_gen import TensorClass
from .base import Base

class Holder(TensorClass):
    held: Base | None = None
"""
CHILD = "from .base import Base\n\n\nclass Child(Base):\n    pass\n"


@pytest.fixture
def package(qten_gen: Command) -> Command:
    """A package with a base, a child and a class that has a field of the base, generated."""
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("shop/__init__.py", "")
    qten_gen.write("shop/base.py", BASE)
    qten_gen.write("shop/child.py", CHILD)
    qten_gen.write("shop/holder.py", HOLDER)
    assert qten_gen("shop").summary == "6 files written"
    return qten_gen


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that runs render, by name."""
    found: set[str] = set()

    def noted(path: str, views: Views, existing: Mapping[str, bytes]) -> dict[str, str]:
        found.add(path.rpartition("/")[2])
        return outputs.render_outputs(path, views, existing)

    monkeypatch.setattr(planning, "render_outputs", noted)
    return found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("class Other", "class Another(TensorClass):\n    own: Tensor\n\nclass Other", {"base.py"}),
        ("    own: Tensor", "    own: Tensor\n    more: Tensor | None = None", {"base.py"}),
        ("from torch import Tensor", "from torch import Tensor, nn", set()),
        ("class Other", "Ids = Tensor\n\nclass Other", set()),
        ("    tokens: Tensor", "    tokens: Tensor\n    ids: Tensor", {"base.py", "child.py"}),
        ("Mask = Tensor | None", "Mask = str | None", {"base.py", "child.py"}),
        (
            "class Base(TensorClass)",
            "class Root(TensorClass):\n    r: Tensor\n\n\nclass Base(Root)",
            {"base.py", "child.py"},
        ),
    ],
)
def test_only_outputs_that_are_made_of_something_else_are_rendered(
    package: Command, rendered: set[str], old: str, new: str, expected: set[str]
) -> None:
    package.write("shop/base.py", BASE.replace(old, new))
    package("shop")
    assert rendered == expected
    assert package("--check", "shop").summary == "6 files up to date"


def test_a_name_that_begins_to_exist_renders_who_asked_for_it(package: Command, rendered: set[str]) -> None:
    package.write("shop/child.py", "from . import base\n\nclass Child(base.Base, base.Mixin):\n    pass\n")
    assert package("shop").status == 1
    rendered.clear()
    package.write("shop/base.py", f"{BASE}\nclass Mixin:\n    pass\n")
    assert package("shop").status == 0
    assert package("--check", "shop").summary == "6 files up to date"


def test_an_error_in_another_class_of_the_base_holds_the_child_back_until_it_is_mended(package: Command) -> None:
    package.write("shop/base.py", BASE.replace("own: Tensor", "own: Tensor = 3"))
    for paths in (["shop"], ["shop"], ["shop/child.py"]):
        result = package(*paths)
        assert (result.status, "held back: shop/child.py" in result.out) == (1, True)
    package.write("shop/base.py", BASE)
    assert package("shop").summary == "6 files up to date"


def test_a_run_over_the_child_alone_knows_the_base_from_the_last_run(package: Command, rendered: set[str]) -> None:
    package("shop/child.py")
    assert rendered == set()
    package.write("shop/base.py", BASE.replace("own: Tensor", "own: Tensor = 3"))
    assert "held back: shop/child.py" in package("shop/child.py").out
