"""The protocol: which request of an editor leads to what, and when findings are published."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ...model.diagnostics import Diagnostic
from ...project.paths import read_regular
from ...read.encoding import decode
from .actions import FIX_ALL, GENERATE, actions
from .analysis import Findings
from .hover import over_declaration, over_findings
from .messages import Lines, messages
from .workspace import Workspace, is_source

_PAUSE = 0.1
"""Seconds after a change before the project is looked at. Whoever types makes several changes."""

_PATIENCE = 10.0
"""Seconds that a request waits for what the last change leads to."""


_T = TypeVar("_T")


class Generated(NamedTuple):
    """What came of writing the generated files."""

    message: str
    is_error: bool


Generate = Callable[[str], Generated]
"""Writes the generated files of the project that a file belongs to."""


class _Found(NamedTuple):
    """What was found in a file, and the text that it was found in."""

    data: bytes
    diagnostics: tuple[Diagnostic, ...]


def serve(version: str, generate: Generate) -> None:
    """Answer an editor over the standard streams until it says that it has finished."""
    server = LanguageServer("qten-gen", version, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    _Session(server, generate)
    # pygls closes the stream that it writes to, and the command flushes its own at the end.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    server.start_io(sys.stdin.buffer, answers)


class _Session:
    """The conversation with one editor."""

    def __init__(self, server: LanguageServer, generate: Generate) -> None:
        self._server = server
        self._generate = generate
        self._workspace = Workspace()
        self._uris: dict[str, str] = {}
        """The URIs of open files as the editor writes them, by path."""
        self._versions: dict[str, int] = {}
        self._found: dict[str, _Found] = {}
        self._published: dict[str, set[str]] = {}
        """The files with findings that the editor shows, by project."""
        self._dirty: set[str] = set()
        """The projects to look at."""
        self._worker: asyncio.Task[None] | None = None
        self._generates_on_save = False
        kinds = [types.CodeActionKind.QuickFix, FIX_ALL, types.CodeActionKind.Source]
        reactions: dict[str, Callable[[Any], None]] = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.TEXT_DOCUMENT_DID_OPEN: self._opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            types.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._changed_on_disk,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._changed_folders,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._changed_settings,
        }
        for name, react in reactions.items():
            server.feature(name)(_reaction(react))
        server.feature(types.TEXT_DOCUMENT_DID_SAVE, types.SaveOptions(include_text=False))(_answer(self._saved))
        server.feature(types.TEXT_DOCUMENT_HOVER)(_answer(self._hover))
        server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(kinds))(_answer(self._actions))
        server.command(GENERATE)(_answer(self._write))

    def _initialize(self, params: types.InitializeParams) -> None:
        self._configure(params.initialization_options)

    def _initialized(self, params: types.InitializedParams) -> None:
        """Look at the folders of the editor, and ask to be told of files that change outside of it."""
        workspace = self._server.workspace
        paths = [to_fs_path(uri) for uri in workspace.folders] or [workspace.root_path]
        self._workspace.folders = {path for path in paths if path}
        capabilities = self._server.client_capabilities.workspace
        watching = capabilities and capabilities.did_change_watched_files
        if watching and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob) for glob in ("**/*.py", "**/pyproject.toml")]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration("qten-gen-files", method, options)
            self._server.client_register_capability(types.RegistrationParams([registration]))
        self._look_at(self._workspace.projects())

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        self._take(params.text_document.uri, params.text_document.version, params.text_document.text)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        self._take(document.uri, document.version, self._server.workspace.get_text_document(document.uri).source)

    def _take(self, uri: str, version: int, text: str) -> None:
        """Take the text of a file from the editor, and look at its project. Only sources in files are of interest."""
        path = _path(uri)
        if path is not None and is_source(path):
            self._uris[path], self._versions[path] = uri, version
            self._workspace.open(path, text)
            self._look_at(self._workspace.projects([path]))

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if path is not None and path in self._uris:
            del self._uris[path], self._versions[path]
            self._workspace.close(path)
            self._look_at(self._workspace.projects([path]))

    async def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        path = _path(params.text_document.uri)
        if path is None:
            return
        self._look_at(self._workspace.projects([path]))
        if self._generates_on_save and is_source(path):
            generated = await asyncio.to_thread(self._generate, path)
            if generated.is_error:
                self._log(generated.message)
            self._look_at(self._workspace.projects([path]))

    def _changed_on_disk(self, params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := _path(change.uri)) is not None]
        if any(path.endswith(".toml") for path in paths):
            self._look_at(self._workspace.projects())
        elif any(is_source(path) for path in paths):
            self._look_at(self._workspace.projects(path for path in paths if is_source(path)))

    def _changed_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            self._workspace.folders.discard(to_fs_path(folder.uri) or "")
        added = {path for folder in params.event.added if (path := to_fs_path(folder.uri))}
        self._workspace.folders |= added
        if added:
            self._look_at(self._workspace.projects(added))

    def _changed_settings(self, params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        self._configure(settings.get("qten-gen", settings) if isinstance(settings, Mapping) else None)

    def _configure(self, options: object) -> None:
        """Take the options that an editor sends at the start, or when its settings change."""
        if isinstance(options, Mapping) and isinstance(options.get("generateOnSave"), bool):
            self._generates_on_save = options["generateOnSave"]

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        """What is known of a place in a text: the findings over it, and the declaration around it."""
        path = _path(params.text_document.uri)
        await self._settled()
        data = self._workspace.texts.get(path or "")
        if path is None or data is None:
            return None
        lines = self._lines(data)
        place = lines.place(params.position)
        analysis = self._workspace.analysis(self._workspace.project(path))
        file = analysis.declarations(path)
        found = self._found.get(path)
        shown = [
            over_findings(found.diagnostics, place[0]) if found is not None else None,
            over_declaration(file, data, lines.lines, place) if file is not None else None,
        ]
        text = "\n\n---\n\n".join(filter(None, shown))
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The quick fixes for a range of a text."""
        uri = params.text_document.uri
        path = _path(uri)
        await self._settled()
        data = self._workspace.texts.get(path or "")
        if path is None or data is None:
            return []
        found = self._found.get(path)
        diagnostics = found.diagnostics if found is not None and found.data == data else ()
        offered = actions(diagnostics, data, uri, self._versions[path], self._lines(data), params.range)
        return [item for item in offered if _is_wanted(item, params.context.only)]

    async def _write(self, uri: str) -> None:
        """Write the generated files of the project of a file, and say what came of it."""
        path = _path(uri)
        if path is None:
            return
        generated = await asyncio.to_thread(self._generate, path)
        kind = types.MessageType.Error if generated.is_error else types.MessageType.Info
        self._server.window_show_message(types.ShowMessageParams(kind, f"qten-gen: {generated.message}"))
        self._look_at(self._workspace.projects([path]))

    def _look_at(self, projects: Iterable[str]) -> None:
        """Look at projects soon."""
        self._dirty |= {*projects}
        if self._dirty and (self._worker is None or self._worker.done()):
            self._worker = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        """Look at projects as long as any of them has changed."""
        while self._dirty:
            await asyncio.sleep(_PAUSE)
            projects, self._dirty = sorted(self._dirty), set()
            for project in projects:
                texts, versions = dict(self._workspace.texts), dict(self._versions)
                try:
                    found = await asyncio.to_thread(self._workspace.findings, project, texts)
                    self._publish(project, found, texts, versions)
                except Exception:
                    self._log(traceback.format_exc())

    async def _settled(self) -> None:
        """Wait until what the editor has sent is looked at."""
        worker = self._worker
        if worker is not None and not worker.done():
            await asyncio.wait([worker], timeout=_PATIENCE)

    def _publish(self, project: str, found: Findings, texts: Mapping[str, bytes], versions: Mapping[str, int]) -> None:
        """Show what was found, and clear what is mended."""
        before = self._published.get(project, set())
        now = {*found.diagnostics} if found.is_complete else before | {*found.diagnostics}
        for path in sorted(before - now | {*found.diagnostics} | (self._uris.keys() & before)):
            diagnostics = found.diagnostics.get(path, ())
            if not diagnostics and path in now:
                continue
            data = texts[path] if path in texts else _on_disk(path)
            self._found[path] = _Found(data, diagnostics)
            uri = self._uris.get(path) or from_fs_path(path)
            if uri is not None:
                shown = messages(diagnostics, self._lines(data))
                self._server.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, shown, version=versions.get(path))
                )
        self._published[project] = now
        for crash in found.crashes:
            self._log(f"a bug in qten-gen: {crash.stage} {crash.path}\n{crash.traceback}")

    def _lines(self, data: bytes) -> Lines:
        text = decode(data, "")
        shown = text if isinstance(text, str) else data.decode("utf-8", "replace")
        return Lines(shown, self._server.workspace.position_codec)

    def _log(self, text: str) -> None:
        self._server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))


def _reaction(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """A method as a function. pygls sets attributes on what it calls, and a bound method takes none."""

    def react(parameters: Any) -> None:
        method(parameters)

    return react


def _answer(method: Callable[[Any], Awaitable[_T]]) -> Callable[[Any], Awaitable[_T]]:
    """The same for a method that is awaited."""

    async def answer(parameters: Any) -> _T:
        return await method(parameters)

    return answer


def _path(uri: str) -> str | None:
    """The path of a file; None for a text without one, such as an untitled one."""
    return to_fs_path(uri) if uri.startswith("file:") else None


def _on_disk(path: str) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


def _is_wanted(action: types.CodeAction, only: Iterable[types.CodeActionKind | str] | None) -> bool:
    """Whether an action is of a kind that the editor asks for. A kind includes those below it."""
    if only is None:
        return True
    kind = str(getattr(action.kind, "value", action.kind))
    wanted = [str(getattr(item, "value", item)) for item in only]
    return any(kind == item or kind.startswith(f"{item}.") for item in wanted)
