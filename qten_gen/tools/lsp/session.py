"""The conversation with an editor: which message leads to what, and when findings are published."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ...model.diagnostics import Diagnostic
from ...project.paths import read_regular
from ...read.syntax import decode
from .analysis import CannotRename, Findings, Workspace, encoded, is_source
from .findings import Lines, Range, actions, message, over_findings
from .hover import over_class, over_field
from .mentions import Mention
from .protocol import (
    CANCELLED,
    GENERATE,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_FAILED,
    Connection,
    Json,
    Message,
    Params,
    path_of,
    uri_of,
    within,
)

_ERROR, _INFO = 1, 3
"""Kinds of what is shown or logged, as the protocol numbers them."""


class Generated(NamedTuple):
    """The result of writing the generated files."""

    message: str
    is_error: bool


Generate = Callable[[str], Generated]
"""Writes the generated files of the project that a file belongs to. The command hands it in: no room below `cli/` imports it."""


class Session:
    """The conversation with one editor. It looks at what has changed as soon as no message waits."""

    def __init__(self, connection: Connection, start: Params, encoding: str, generate: Generate) -> None:
        """Begin with the parameters of the request `initialize`; `encoding` is how the editor counts characters."""
        self._connection = connection
        self._encoding = encoding
        self._generate = generate
        self._workspace = Workspace()
        root = [{"uri": start["rootUri"]}] if start.get("rootUri") else []
        self._workspace.folders = {*_paths(start.get("workspaceFolders") or root)}
        self._can_watch = within(start, "capabilities", "workspace", "didChangeWatchedFiles", "dynamicRegistration")
        self._uris: dict[str, str] = {}
        """The URIs of open files as the editor writes them, by path."""
        self._versions: dict[str, int] = {}
        self._found: dict[str, tuple[bytes, tuple[Diagnostic, ...]]] = {}
        """The text of each file with the findings in it."""
        self._published: dict[str, set[str]] = {}
        """The files with findings that the editor shows, by project."""
        self._dirty: set[str] = set()
        """The projects to look at."""
        self._generates_on_save = False
        self._configure(start.get("initializationOptions"))
        self._reactions: dict[str, Callable[[Params], None]] = {
            "initialized": self._initialized,
            "textDocument/didOpen": self._take,
            "textDocument/didChange": self._take,
            "textDocument/didClose": self._closed,
            "textDocument/didSave": self._saved,
            "workspace/didChangeWatchedFiles": self._changed_on_disk,
            "workspace/didChangeWorkspaceFolders": self._changed_folders,
            "workspace/didChangeConfiguration": self._changed_settings,
        }
        self._answers: dict[str, Callable[[Params], object]] = {
            "textDocument/hover": self._hover,
            "textDocument/codeAction": self._actions,
            "textDocument/prepareRename": self._prepare_rename,
            "textDocument/rename": self._rename,
            "workspace/executeCommand": self._execute,
            "shutdown": lambda _: None,
        }

    def run(self) -> None:
        """Take one message after the other until the editor takes leave."""
        while True:
            message = self._connection.receive(wait=not self._dirty)
            if message is None:
                self._look()
            elif message.method == "exit":
                return
            elif message.identity is None:
                self._react(message)
            else:
                self._answer(message)

    def _react(self, message: Message) -> None:
        """Take a notification. One that is not known may be ignored."""
        reaction = self._reactions.get(message.method)
        if reaction is not None:
            try:
                reaction(message.params)
            except Exception:
                self._log(traceback.format_exc())

    def _answer(self, message: Message) -> None:
        """Answer a request, about what the editor has sent before it."""
        answer = self._answers.get(message.method)
        if answer is None:
            self._connection.refuse(message, METHOD_NOT_FOUND, message.method)
            return
        self._look()
        if message.identity in self._connection.cancelled:
            self._connection.refuse(message, CANCELLED, "cancelled")
            return
        try:
            result = answer(message.params)
        except CannotRename as error:
            self._connection.refuse(message, REQUEST_FAILED, str(error))
        except Exception as error:
            self._log(traceback.format_exc())
            self._connection.refuse(message, INTERNAL_ERROR, repr(error))
        else:
            self._connection.answer(message, result)

    def _initialized(self, _: Params) -> None:
        """Look at the folders of the editor, and ask to be told of files that change outside of it."""
        if self._can_watch:
            watchers = [{"globPattern": pattern} for pattern in ("**/*.py", "**/pyproject.toml")]
            method = "workspace/didChangeWatchedFiles"
            registration = {"id": "qten-gen-files", "method": method, "registerOptions": {"watchers": watchers}}
            self._connection.request("client/registerCapability", {"registrations": [registration]})
        self._dirty |= self._workspace.projects()

    def _take(self, params: Params) -> None:
        """Take the whole text of a file that was opened or changed. Only sources in files are of interest."""
        document = params["textDocument"]
        uri, version = document["uri"], document["version"]
        text = params["contentChanges"][-1]["text"] if "contentChanges" in params else document["text"]
        path = path_of(uri)
        if path is not None and is_source(path):
            self._uris[path], self._versions[path] = uri, version
            self._workspace.texts[path] = encoded(text)
            self._dirty.add(self._workspace.project(path))

    def _closed(self, params: Params) -> None:
        path = path_of(params["textDocument"]["uri"])
        if path is not None and path in self._uris:
            del self._uris[path], self._versions[path], self._workspace.texts[path]
            self._dirty.add(self._workspace.project(path))

    def _saved(self, params: Params) -> None:
        path = path_of(params["textDocument"]["uri"])
        if path is None:
            return
        if self._generates_on_save and is_source(path):
            generated = self._generate(path)
            if generated.is_error:
                self._log(generated.message)
        self._dirty.add(self._workspace.project(path))

    def _changed_on_disk(self, params: Params) -> None:
        paths = [path for change in params["changes"] if (path := path_of(change["uri"])) is not None]
        if any(path.endswith(".toml") for path in paths):
            self._dirty |= self._workspace.projects()
        elif sources := [path for path in paths if is_source(path)]:
            self._dirty |= self._workspace.projects(sources)

    def _changed_folders(self, params: Params) -> None:
        removed, added = ({*_paths(params["event"][name])} for name in ("removed", "added"))
        self._workspace.folders = (self._workspace.folders - removed) | added
        if added:
            self._dirty |= self._workspace.projects(added)

    def _changed_settings(self, params: Params) -> None:
        self._configure(within(params, "settings", "qten-gen") or params.get("settings"))

    def _configure(self, options: object) -> None:
        """Take the options that an editor sends at the start, or when its settings change."""
        if isinstance(options, Mapping) and isinstance(options.get("generateOnSave"), bool):
            self._generates_on_save = options["generateOnSave"]

    def _hover(self, params: Params) -> Json | None:
        """The text about a place: the findings over it, and the field or the class that it names."""
        path, place, found = self._mention(params)
        if path not in self._workspace.texts:
            return None
        _, findings = self._found.get(path, (b"", ()))
        shown = [over_findings(findings, place[0])]
        if found is not None:
            shown.append(over_field(found.declaration, found.name) if found.origin else over_class(found.declaration))
        text = "\n\n---\n\n".join(filter(None, shown))
        return {"contents": {"kind": "markdown", "value": text}} if text else None

    def _mention(self, params: Params) -> tuple[str, tuple[int, int], Mention | None]:
        """The file and the place of a position, and the name that stands there."""
        path = path_of(params["textDocument"]["uri"]) or ""
        place = self._lines(self._data(path)).place(params["position"])
        project = self._workspace.project(path)
        return path, place, self._workspace.analysis(project).mention_at(path, place) if is_source(path) else None

    def _prepare_rename(self, params: Params) -> Range | None:
        """Where the name of a field stands at a position; without one, another server may rename what is there."""
        path, _, found = self._mention(params)
        return None if found is None or not found.origin else self._range(found, self._lines(self._data(path)))

    def _rename(self, params: Params) -> Json | None:
        """The edits that give a field another name."""
        path, _, found = self._mention(params)
        if found is None or not found.origin:
            return None
        changes = []
        analysis, new = self._workspace.analysis(self._workspace.project(path)), params["newName"]
        for file, places in analysis.mentions_of(found, new).items():
            lines = self._lines(self._data(file))
            document = {"uri": self._uri(file), "version": self._versions.get(file)}
            edits = [{"range": self._range(place, lines), "newText": new} for place in places]
            changes.append({"textDocument": document, "edits": edits})
        return {"documentChanges": changes}

    def _range(self, found: Mention, lines: Lines) -> Range:
        return lines.between((found.line, found.column), (found.line, found.column + len(found.name)))

    def _actions(self, params: Params) -> list[Json]:
        """The quick fixes for a range of a text."""
        uri = params["textDocument"]["uri"]
        path = path_of(uri)
        data = self._workspace.texts.get(path or "")
        if path is None or data is None:
            return []
        seen, found = self._found.get(path, (b"", ()))
        found = found if seen == data else ()
        offered = actions(found, uri, self._versions[path], self._lines(data), params["range"])
        only = params["context"].get("only")  # a kind includes those below it
        return [
            item for item in offered if only is None or any(f"{item['kind']}.".startswith(f"{kind}.") for kind in only)
        ]

    def _execute(self, params: Params) -> None:
        """Write the generated files of the projects of some files, or of all projects, and say what came of it."""
        if params["command"] != GENERATE:
            return
        paths = [path for uri in params.get("arguments") or [] if (path := path_of(uri)) is not None]
        for path in paths or sorted(self._workspace.projects()):
            generated = self._generate(path)
            shown = {"type": _ERROR if generated.is_error else _INFO, "message": f"qten-gen: {generated.message}"}
            self._connection.notify("window/showMessage", shown)
            self._dirty.add(self._workspace.project(path))

    def _look(self) -> None:
        """Look at the projects that have changed, and show what is found."""
        projects, self._dirty = sorted(self._dirty), set()
        for project in projects:
            try:
                self._publish(project, self._workspace.findings(project))
            except Exception:
                self._log(traceback.format_exc())

    def _publish(self, project: str, found: Findings) -> None:
        """Show what was found, and clear what is mended."""
        before = self._published.get(project, set())
        now = {*found.diagnostics} if found.is_complete else before | {*found.diagnostics}
        for path in sorted(before - now | {*found.diagnostics} | (self._uris.keys() & before)):
            diagnostics = found.diagnostics.get(path, ())
            if not diagnostics and path in now:
                continue
            data = self._data(path)
            lines = self._lines(data)
            self._found[path] = data, diagnostics
            shown: Json = {
                "uri": self._uri(path),
                "diagnostics": [message(item, lines) for item in diagnostics],
            }
            version = {"version": self._versions[path]} if path in self._versions else {}
            self._connection.notify("textDocument/publishDiagnostics", {**shown, **version})
        self._published[project] = now
        for crash in found.crashes:
            self._log(f"a bug in qten-gen: {crash.stage} {crash.path}\n{crash.traceback}")

    def _data(self, path: str) -> bytes:
        """The text of a file as the editor has it, or as it is on the disk."""
        try:
            return self._workspace.texts[path] if path in self._workspace.texts else read_regular(path)
        except OSError:
            return b""

    def _uri(self, path: str) -> str:
        return self._uris.get(path) or uri_of(path)

    def _lines(self, data: bytes) -> Lines:
        return Lines(_text(data), self._encoding)

    def _log(self, text: str) -> None:
        self._connection.notify("window/logMessage", {"type": _ERROR, "message": text})


def _text(data: bytes) -> str:
    text = decode(data, "")
    return text if isinstance(text, str) else data.decode("utf-8", "replace")


def _paths(folders: Iterable[Mapping[str, str]]) -> Iterable[str]:
    return [os.path.normpath(path) for folder in folders if (path := path_of(folder["uri"])) is not None]
