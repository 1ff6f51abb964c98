"""The manifest: what it saves, and that nothing but time depends on it."""

import json
import os
from pathlib import Path

import pytest

import qten_gen as qten_gen_package
from qten_gen.common.digests import digest
from qten_gen.common.format_number import FORMAT
from qten_gen.model.diagnostics import Span
from qten_gen.project import generator_state, import_graph, manifest, stale
from qten_gen.project.scan import Origin, Scan, scan
from tests.command import BATCH, BROKEN, Command

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
    monkeypatch.setattr(stale, "digest", unexpected_digest(digest))
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


def test_one_file_of_the_tree_needs_no_generator(unchanged: Command) -> None:
    assert unchanged("src/model.py").summary == "2 files up to date"


def test_an_unchanged_tree_leaves_the_manifest_alone(unchanged: Command) -> None:
    before = os.stat(".qten_cache/manifest.json").st_mtime_ns
    unchanged("src")
    assert os.stat(".qten_cache/manifest.json").st_mtime_ns == before


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", "G", "G\n", "G\n{}", 'G\n{"sources": [], "fresh": {}}'],
)
def test_a_damaged_manifest_is_ignored(qten_gen: Command, text: str) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    qten_gen.write(".qten_cache/manifest.json", text.replace("G", manifest.generator()))
    assert qten_gen("src").summary == "2 files up to date"


def test_a_manifest_with_wrong_entries_is_ignored(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    key, head, line = qten_gen.read(".qten_cache/manifest.json").split("\n")
    entry = json.loads(line)
    damages: list[object] = [None, 3, [], ["a", "b", "c"], [{}, {}, {}], [["a"], {}, []], ["a", {}, [[1]]]]
    damages += [["a", [99], {}, []], ["a", ["b"], {}, []], ["a", [99], []], ["a", 1, []]]
    for damage in damages:
        for part in (1, 2, 3):
            body = f"{head}\n{json.dumps([*entry[:part], damage, *entry[part + 1 :]])}"
            qten_gen.write(".qten_cache/manifest.json", f"{key}\n{body}")
            assert damage == entry[part] or manifest.load(".") == manifest.EMPTY
            assert qten_gen("src").summary == "2 files up to date"


def test_a_manifest_in_which_one_byte_differs_is_ignored(qten_gen: Command) -> None:
    qten_gen.write("pyproject.toml", "[tool.qten-gen]\n")
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    written = qten_gen.read(".qten_cache/manifest.json")
    assert manifest.load(".") != manifest.EMPTY
    for position in range(0, len(written), 7):
        other = "1" if written[position] != "1" else "2"
        qten_gen.write(".qten_cache/manifest.json", written[:position] + other + written[position + 1 :])
        assert manifest.load(".") == manifest.EMPTY


@pytest.mark.parametrize(("name", "value"), [("__version__", "other"), ("FORMAT", FORMAT + 1)])
def test_a_manifest_of_another_generator_or_output_format_is_ignored(
    name: str, value: object, qten_gen: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    assert manifest.load("src").fresh
    monkeypatch.setattr(generator_state, name, value)
    assert manifest.load("src") == manifest.EMPTY
    assert not qten_gen("src").status


def test_the_generator_is_known_by_its_modules_and_templates_and_not_by_the_runtime(tmp_path: Path) -> None:
    assert Path(qten_gen_package.__file__).parent == Path(generator_state.PACKAGE)
    for name in ("package/emit/module.py", "package/runtime/kernel.py", "templates/module.py.j2"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    package = str(tmp_path / "package")
    before = manifest.generator(package)
    (tmp_path / "package/runtime/kernel.py").write_text("x = 1\n")
    assert manifest.generator(package) == before
    (tmp_path / "package/emit/module.py").write_text("x = 1\n")
    edited = manifest.generator(package)
    (tmp_path / "templates/module.py.j2").write_text("x\n")
    assert len({before, edited, manifest.generator(package)}) == 3


def test_a_run_looks_through_each_source_once(qten_gen: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = []

    def counted(data: bytes, origin: Origin) -> Scan:
        scanned.append(origin.module)
        return scan(data, origin)

    for module in (stale, import_graph):
        monkeypatch.setattr(module, "scan", counted)
    qten_gen.write("src/model.py", BATCH)
    qten_gen.write("src/plain.py", "import model\n")
    assert qten_gen("src").summary == "2 files written"
    assert sorted(scanned) == ["model", "plain"]


def test_a_warning_is_read_back_as_it_was(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH + "    weight: float\n")
    qten_gen("src")
    (warning,) = manifest.load("src").fresh["model.py"].warnings
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


def test_a_mended_file_is_fresh_again(qten_gen: Command) -> None:
    qten_gen.write("src/model.py", BATCH)
    qten_gen("src")
    qten_gen.write("src/model.py", BROKEN)
    assert qten_gen("src").status == 1
    qten_gen.write("src/model.py", BATCH)
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
    manifest.write(".", "one", "text")
    manifest.write(".", "one", "text")
    (first, mode), (second, _) = opened
    assert first != second and mode == "x"
