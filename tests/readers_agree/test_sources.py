"""The reader of text and the reader of class objects make equal declarations of everything declared in this repository."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from qten_gen.model import Declaration
from qten_gen.read.module import read
from tests.generated_sources import FOLDER, generated_sources
from tests.linking import link
from tests.outright import compared

ROOT = Path(__file__).parents[2]
TOPS = (FOLDER, ROOT / "examples")


def declaring() -> list[tuple[Path, str]]:
    """The modules of the repository that declare something, each with the folder that it is imported from."""
    generated_sources()
    found = ((top, path.relative_to(top)) for top in TOPS for path in sorted(top.rglob("*_qten.py")))
    return [(top, ".".join(path.with_suffix("").parts).removesuffix("_qten")) for top, path in found]


DECLARING = declaring()


def declarations(folder: Path, module: str) -> tuple[Declaration, ...]:
    """What the text of a package's modules declares, for one of them."""
    package = folder / module.partition(".")[0]
    sources = [
        read(path.read_bytes(), str(path), f"{package.name}.{path.stem}")[0]
        for path in sorted(package.glob("*.py"))
        if not path.stem.endswith("_qten") and path.stem != "__init__"
    ]
    files, _ = link(sources)
    return next(file.declarations for file in files if file.source.module == module)


@pytest.mark.parametrize(("folder", "module"), DECLARING, ids=[module for _, module in DECLARING])
def test_text_and_objects_give_equal_declarations(folder: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    loaded = import_module(module)
    found = declarations(folder, module)
    assert found
    for declaration in found:
        assert getattr(loaded, declaration.name)._declaration == declaration


def test_nearly_all_class_statements_are_read_outright_and_as_the_generator_reads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are not have a base of torch, a type of tensordict, a name that their body binds, or such."""
    differences: list[str] = []
    declared: set[str] = set()
    with monkeypatch.context() as patch, compared(differences) as found:
        for folder, module in DECLARING:
            patch.syspath_prepend(str(folder))
            for name in [name for name in sys.modules if name.partition(".")[0] == module.partition(".")[0]]:
                patch.delitem(sys.modules, name)
            loaded = import_module(module)
            declared |= {f"{module}.{each.name}" for each in declarations(folder, module) if hasattr(loaded, each.name)}
    assert differences == []
    assert len(declared) > 70 and len(DECLARING) > 9
    assert declared - set(found) == {
        "awkward.tensorclasses.Any",
        "awkward.tensorclasses.Self",
        "kinds.configured.Composed",
        "kinds.modules.Composed",
        "kinds.modules.Kept",
        "kinds.tensorclasses.Marked",
    }
