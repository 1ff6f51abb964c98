"""What the lock says of edits to a decoder."""

from __future__ import annotations

import pytest

from qten_gen.tools.lock.lock import as_text, parse
from qten_gen.tools.lock.lock_differences import differences, shown
from qten_gen.tools.lock.lock_of_target import current
from qten_gen.tools.lock.updating import unversioned
from tests.conftest import Project
from tests.contracts.edits import DECODER, EDITS


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_classed(name: str, project: Project) -> None:
    edit = EDITS[name]
    project.write(before=DECODER, after=DECODER.replace(edit.old, edit.new))
    old, code = current("before:Decoder").lock, current("after:Decoder")
    assert [f"{item.change:12}{item.detail}" for item in shown(differences(old, code.lock))] == edit.found
    assert (unversioned(old, code.lock, code.classes) is not None) == edit.needs_version


def test_a_lock_is_read_as_it_was_written(project: Project) -> None:
    project.write(before=DECODER)
    lock = current("before:Decoder(depth=3)").lock
    assert parse(as_text(lock._replace(earlier=(lock,)))) == lock._replace(earlier=(lock,))


def test_a_raised_version_of_a_class_around_the_change_is_enough(project: Project) -> None:
    edit = EDITS["a child is renamed"]
    renamed = DECODER.replace(edit.old, edit.new)
    project.write(
        before=DECODER,
        inner=renamed.replace("class Block(Module):", "class Block(Module):\n    version = 2"),
        outer=renamed.replace("class Decoder(Module):", "class Decoder(Module):\n    version = 2"),
    )
    old = current("before:Decoder").lock
    for module in ("inner", "outer"):
        code = current(f"{module}:Decoder")
        assert unversioned(old, code.lock, code.classes) is None


def test_a_raised_version_beside_the_change_is_not_enough(project: Project) -> None:
    edit = EDITS["a parameter is removed"]
    edited = DECODER.replace(edit.old, edit.new)
    project.write(before=DECODER, after=edited.replace("class Block(Module):", "class Block(Module):\n    version = 2"))
    code = current("after:Decoder")
    found = unversioned(current("before:Decoder").lock, code.lock, code.classes)
    assert found is not None and "set version = 2 in Decoder, with" in found
