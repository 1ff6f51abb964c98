"""jedi, which completes in IPython, in notebooks and in python-lsp-server: it reads annotations, and runs no checker.

It takes `TYPE_CHECKING = False` at its word, so what is public stands in a stub.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jedi
import pytest

from .project import FILES, after, place_of, write

REPOSITORY = Path(__file__).parents[2]

pytestmark = [pytest.mark.xdist_group("jedi"), pytest.mark.long(12)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    root = tmp_path_factory.mktemp("project")
    write(root)
    with pytest.MonkeyPatch.context() as patch:
        # Processes that fill one cache at a time read each other's half-written files.
        patch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield jedi.Project(root, added_sys_path=[str(REPOSITORY), str(REPOSITORY / "stubs")])


def script(project: Any, file: str, text: str | None = None) -> Any:
    return jedi.Script(FILES[file] if text is None else text, path=project.path / file, project=project)


def typed(project: Any, file: str, text: str) -> list[str]:
    """What is offered when a line is typed at the end of a file."""
    whole = f"{FILES[file]}    {text}"
    _, line, column = place_of(file, whole)
    return [found.name_with_symbols for found in script(project, file, whole).complete(line + 1, column)]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("batch.", {"tokens", "point", "mask", "source", "lengths", "shortened"}),
        ("attention.", {"dim", "heads", "qkv", "scale", "norm", "forward"}),
        ("Batch(", {"tokens=", "point=", "mask=", "source="}),
        ("Attention(", {"dim=", "heads="}),
        ("batch[0].", {"tokens", "to", "batch_size", "replace", "stack", "vmap"}),
        ("batch.to('cpu').", {"tokens", "to"}),
        ("batch.replace(mask=None).", {"tokens", "to"}),
        ("batch.tokens.", {"shape", "dtype"}),
        ("Batch.", {"stack", "from_dict"}),
        ("attention.qkv.", {"shape", "grad"}),
    ],
)
def test_members_are_offered_and_nothing_private_before_what_is_public(
    project: Any, code: str, names: set[str]
) -> None:
    offered = typed(project, "program.py", code)
    assert names <= {*offered}
    if code.endswith("."):
        first_private = next((at for at, label in enumerate(offered) if label.startswith("_")), len(offered))
        assert [label for label in offered[first_private:] if not label.startswith("_")] == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("batch = Batch(", "Batch(tokens: Tensor, point:"),
        ("Attention(8, ", "Attention(dim: int, heads: int=8"),
        ("short = batch.shortened(", "shortened(length: int) -> Tensor"),
    ],
)
def test_signatures_are_those_of_the_declaration(project: Any, text: str, start: str) -> None:
    _, line, column = after("program.py", text)
    shown = [found.to_string() for found in script(project, "program.py").get_signatures(line + 1, column)]
    assert any(one.startswith(start) for one in shown), shown


@pytest.mark.parametrize(
    ("text", "defined", "inferred"),
    [
        ("batch.tokens", "    tokens: Tensor", "torch._tensor.Tensor"),
        ("point.weight", "    weight: Tensor", "torch._tensor.Tensor"),
        ("attention.qkv", "    qkv: nn.Parameter", "torch.nn.parameter.Parameter"),
        ("batch.lengths", "    def lengths(self)", "torch._tensor.Tensor"),
        ("batch.shortened", "    def shortened(self", "shop.model.Batch.shortened"),
    ],
)
def test_a_definition_is_the_line_that_the_user_wrote(project: Any, text: str, defined: str, inferred: str) -> None:
    _, line, column = after("program.py", text)
    here = script(project, "program.py")
    found = here.goto(line + 1, column - 1, follow_imports=True)
    assert [one.module_path.name for one in found] == ["model.py"]
    assert FILES["shop/model.py"].splitlines()[found[0].line - 1].startswith(defined)
    assert [one.full_name for one in here.infer(line + 1, column - 1)] == [inferred]


def test_a_field_is_renamed_in_all_files(project: Any) -> None:
    _, line, column = after("shop/model.py", "\n    toke")
    changed = script(project, "shop/model.py").rename(line + 1, column, new_name="words").get_changed_files()
    texts = {path.relative_to(project.path).as_posix(): found.get_new_code() for path, found in changed.items()}
    assert texts.keys() == {"shop/model.py", "program.py"}
    assert all("batch.words" in text and "batch.tokens" not in text for text in texts.values())
    assert "    words: Tensor\n" in texts["shop/model.py"]
