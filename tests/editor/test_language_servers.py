"""The servers of four type checkers, as editors use them: what they answer in a project with generated files."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .language_server import Server, installed, running
from .project import FILES, after, place_of, write

REPOSITORY = Path(__file__).parents[2]
PATHS = [str(REPOSITORY), str(REPOSITORY / "stubs")]

FIELDS = {"tokens", "point", "mask", "source"}
OWN = {*FIELDS, "lengths", "shortened"}
NET = {"dim", "heads", "qkv", "scale", "norm", "forward"}
BASE_ARGUMENTS = {"batch_size", "device", "names", "lock"}


SERVERS = {
    "pyright": [sys.executable, "-c", "from pyright.langserver import run; run('--stdio')"],
    "basedpyright": ["basedpyright-langserver", "--stdio"],
    "pyrefly": ["pyrefly", "lsp"],
    "ty": ["ty", "server"],
}
"""The servers of type checkers. `make editors` installs all of them."""


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A language server that has all files of the project open."""
    root = tmp_path_factory.mktemp("project")
    write(root)
    (root / "pyrightconfig.json").write_text(json.dumps({"extraPaths": PATHS}), encoding="utf-8")
    python = {"python": sys.prefix, "extra-paths": PATHS}
    lines = [f"{name} = {json.dumps(value)}" for name, value in python.items()]
    (root / "ty.toml").write_text("\n".join(["[environment]", *lines]), encoding="utf-8")
    pyrefly = {"search-path": [str(root), *PATHS], "python-interpreter-path": sys.executable}
    lines = [f"{name} = {json.dumps(value)}" for name, value in pyrefly.items()]
    (root / "pyrefly.toml").write_text("\n".join(lines), encoding="utf-8")
    name, *rest = SERVERS[request.param]
    command = installed(name)
    if command is None:
        pytest.skip(f"{name} is not installed: make editors")
    with running(request.param, [command, *rest], root, {"python": {"pythonPath": sys.executable}}) as found:
        for file in FILES:
            found.show(file)
        yield found


def typed(server: Server, file: str, text: str, closing: str = "") -> list[str]:
    """What is offered when a line is typed at the end of a file, in the order of the editor.

    `closing` is what an editor adds by itself behind the cursor.
    """
    whole = f"{FILES[file]}    {text}"
    server.show(file, f"{whole}{closing}")
    found = server.at("completion", place_of(file, whole))
    items = found["items"] if isinstance(found, dict) else found or []
    server.show(file, FILES[file])
    return [item["label"] for item in sorted(items, key=lambda item: item.get("sortText", item["label"]))]


def hover(server: Server, file: str, text: str) -> str:
    """What is shown over the last character of a text."""
    line, column = after(file, text)[1:]
    found = server.at("hover", (file, line, column - 1))
    return plain(str(found["contents"]["value"]))


def plain(signature: str) -> str:
    """A signature as all servers write it: in one line, without the type of `self` and the values of defaults."""
    text = re.sub(r"\s+", " ", signature)
    text = re.sub(r"\( ?self ?: \w+, ?", "(", text)
    return re.sub(r" ?= ?(?:\.\.\.|\w+|\"\w+\"|'\w+')", " = ...", text.replace(" :", ":"))


def signatures(server: Server, file: str, text: str) -> list[str]:
    """The signatures that are shown behind a text."""
    found = server.at("signatureHelp", after(file, text))
    return [plain(one["label"]) for one in found["signatures"]]


def definitions(server: Server, file: str, text: str, method: str = "definition") -> set[tuple[str, str]]:
    """Where the last name of a text is defined: the file, and the line as text."""
    line, column = after(file, text)[1:]
    found = server.at(method, (file, line, column - 1)) or []
    found = found if isinstance(found, list) else [found]
    return {
        _line(server, one.get("uri") or one["targetUri"], one.get("range") or one["targetSelectionRange"])
        for one in found
    }


def _line(server: Server, uri: str, found: Any) -> tuple[str, str]:
    file = server.file(uri)
    if file == uri:
        return uri, ""
    return file, (server.root / file).read_text(encoding="utf-8").splitlines()[found["start"]["line"]].strip()


@pytest.mark.parametrize(("name", "members"), [("batch", OWN), ("attention", NET)])
def test_every_field_is_offered_and_nothing_private_before_what_is_public(
    server: Server, name: str, members: set[str]
) -> None:
    offered = typed(server, "program.py", f"{name}.")
    assert members <= {*offered}
    first_private = next((at for at, label in enumerate(offered) if label.startswith("_")), len(offered))
    assert [label for label in offered[first_private:] if not label.startswith("_")] == []
    if server.name == "pyright":  # ty offers members by the alphabet
        assert members <= {*offered[: len(OWN) if name == "batch" else 20]}


@pytest.mark.parametrize(
    ("call", "arguments"),
    [("Batch(", FIELDS | BASE_ARGUMENTS), ("Attention(", {"dim", "heads", "device", "dtype"})],
)
def test_keyword_arguments_of_constructors_are_offered_first(server: Server, call: str, arguments: set[str]) -> None:
    offered = typed(server, "program.py", call)
    assert {label.rstrip("=") for label in offered[: len(arguments)]} == arguments


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("batch.tokens", ["Tensor", "What was read."], "tokens: Tensor"),
        ("point.weight", ["Tensor"], "weight: Tensor = field(default_factory=lambda: torch.ones(()))"),
        (
            "attention.qkv",
            ["Parameter"],
            'qkv: nn.Parameter = param("3*dim", "dim", initializer=nn.init.xavier_uniform_)',
        ),
        ("attention.heads", ["int"], "heads: int = 8"),
        ("batch.lengths", ["Tensor", "Number of tokens in each row."], "def lengths(self) -> Tensor:"),
        ("batch.shortened", ["length: int", "The first tokens"], "def shortened(self, length: int) -> Tensor:"),
        ("= Batch", ["tokens: Tensor", "mask: Tensor | None = ...", "Token ids with"], "class Batch(TensorClass):"),
        ("= Attention", ["dim: int", "heads: int = ..."], "class Attention(Module):"),
    ],
)
def test_a_name_shows_its_type_and_documentation_and_leads_to_the_line_that_the_user_wrote(
    server: Server, text: str, words: list[str], line: str
) -> None:
    shown = hover(server, "program.py", text)
    assert [word for word in words if word not in shown] == []
    assert ("shop/model.py", line) in definitions(server, "program.py", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "batch = Batch(torch.zeros(2, 7), ",
            ["tokens: Tensor, point: Point, mask: Tensor | None = ..., source: str = ..."],
        ),
        ("Attention(8, ", ["(dim: int, heads: int = ..., *, device: "]),
        ("out = attention(", ["(x: Tensor, causal: bool = ...) -> Tensor"]),
        ("short = batch.shortened(", ["(length: int) -> Tensor"]),
    ],
)
def test_signatures_are_those_of_the_declaration(server: Server, text: str, expected: list[str]) -> None:
    shown = signatures(server, "program.py", text)
    assert [part for part in expected if not any(part in one for one in shown)] == []


_FORWARD = "forward(self, x: Tensor, causal: bool = True) -> Tensor: ..."
_LINES = ("tokens = batch.tokens", "other = Batch(tokens=tokens, point=batch.point)")
USES_OF_TOKENS = {
    *(("program.py", line) for line in _LINES),
    ("shop/model.py", "tokens: Tensor"),
    ("shop/model.py", "return torch.full(self.batch_size, self.tokens.shape[-1])"),
    ("shop/model.py", "return self.tokens[:, :length]"),
    ("shop/model.py", "return batch.tokens.float().mean()"),
}


@pytest.mark.parametrize("start", [("shop/model.py", "\n    toke"), ("program.py", "batch.toke")])
def test_a_field_is_found_and_renamed_wherever_it_is_used(server: Server, start: tuple[str, str]) -> None:
    # `qten-gen lsp` renames keywords of constructors too.
    expected = USES_OF_TOKENS - ({("program.py", _LINES[1])} if server.name == "pyrefly" else set())
    found = server.at("references", after(*start), context={"includeDeclaration": True})
    assert {_line(server, one["uri"], one["range"]) for one in found} == expected
    renamed = server.at("rename", after(*start), newName="words")
    documents = renamed.get("documentChanges") or [
        {"textDocument": {"uri": uri}, "edits": edits} for uri, edits in renamed["changes"].items()
    ]
    edits = [(one["textDocument"]["uri"], edit) for one in documents for edit in one["edits"]]
    assert {edit["newText"] for _, edit in edits} == {"words"}
    assert {_line(server, uri, edit["range"]) for uri, edit in edits} == expected


def test_a_call_of_a_module_offers_its_keywords_and_leads_to_the_declaration(server: Server) -> None:
    offered = typed(server, "program.py", "attention(tokens, ")
    assert "causal=" in offered[:3]
    found = {
        each
        for how in ("definition", "typeDefinition")
        for each in definitions(server, "program.py", "out = attention", how)
    }
    assert {("shop/model.py", "class Attention(Module):"), ("shop/model.py", f"def {_FORWARD}")} & found
