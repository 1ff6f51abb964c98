"""Reads from metadata what is installed in an environment: which libraries may make TensorClasses, and where they are."""

import ast
import os
import re
from collections.abc import Iterator

from .paths import read_regular

_OWN = "qten-gen"
_USUAL_HEAD = 16384
"""How many bytes the fields of most files with metadata take at most."""


def search_path(environment: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders with metadata, and the other folders that modules are imported from.

    They are those of a virtual environment or, with None, of the running interpreter. Path files add to both.
    """
    sites: dict[str, None] = {}
    roots: dict[str, None] = {}
    for folder, path_files in _searched(environment):
        if path_files is None and os.path.isdir(folder):
            roots[folder] = None
        elif path_files is not None:
            sites[folder] = None
    return tuple(sites), tuple(roots)


def looked_at(environment: str | None) -> tuple[str, ...]:
    """All that `search_path` depends on: folders, which may not exist, and path files."""
    found = [] if environment is None else [os.path.join(environment, name) for name in ("Lib", "lib", "lib64")]
    for folder, path_files in _searched(environment):
        found += [folder, *(os.path.join(folder, name) for name in path_files or ())]
    return tuple(dict.fromkeys(found))


def _searched(environment: str | None) -> Iterator[tuple[str, list[str] | None]]:
    """The folders that modules may be imported from, each once. Those with metadata come with their path files."""
    starts = [*os.environ.get("PYTHONPATH", "").split(os.pathsep)] if environment is None else []
    waiting = [*filter(None, starts), *(_own_sites() if environment is None else _sites_of(environment))]
    seen: set[str] = set()
    for folder in waiting:
        folder = os.path.abspath(folder)
        if folder in seen:
            continue
        seen.add(folder)
        names = listed(folder)
        is_site = any(name.endswith(".dist-info") for name in names) or (
            os.path.basename(folder).endswith("-packages") and os.path.isdir(folder)
        )
        path_files = [name for name in names if name.endswith(".pth")] if is_site else None
        for name in path_files or ():
            waiting.extend(_lines_of(folder, name))  # the loop goes on with them
        yield folder, path_files


def _own_sites() -> list[str]:
    """The `site-packages` of the running interpreter, with those of the user and of the system if they are in use."""
    import site

    folders = site.getsitepackages()
    return [site.getusersitepackages(), *folders] if site.ENABLE_USER_SITE else folders


def _sites_of(environment: str) -> list[str]:
    """The `site-packages` of a virtual environment."""
    found = [os.path.join(environment, "Lib", "site-packages")]
    for library in ("lib", "lib64"):
        folder = os.path.join(environment, library)
        found += [os.path.join(folder, name, "site-packages") for name in listed(folder) if name.startswith("python")]
    return list(dict.fromkeys(os.path.realpath(folder) for folder in found))


def _lines_of(site: str, name: str) -> list[str]:
    """The folders that a path file adds."""
    lines = _text(os.path.join(site, name)).splitlines()
    # A line that imports is code: which folders it adds, only running it would tell.
    return [
        os.path.join(site, line.strip()) for line in lines if line.strip() and not re.match(r"\s*(#|import\s)", line)
    ]


def declaring(site: str) -> Iterator[tuple[str, str]]:
    """The top-level modules of the libraries in a folder that may make TensorClasses, each with the folder it is imported from.

    They depend on qten-gen, directly or through others.
    """
    entries = (name for name in listed(site) if name.endswith(".dist-info"))
    metadata = {entry: _head(os.path.join(site, entry, "METADATA")) for entry in entries}
    others = (data for entry, data in metadata.items() if not entry.lower().startswith("qten_gen-"))
    if not any(b"qten" in data for data in map(bytes.lower, others)):
        return  # most environments; the rest takes longer
    requirements: dict[str, set[str]] = {}
    folders: dict[str, str] = {}
    for entry, data in metadata.items():
        head = _decoded(data).partition("\n\n")[0]
        named = re.search(r"(?m)^Name:\s*(\S+)", head)
        if named is not None:
            own = _normal(named[1])
            folders[own] = entry
            requirements[own] = {_normal(item) for item in re.findall(r"(?m)^Requires-Dist:\s*([\w.-]+)", head)}
    depending = {_OWN}
    while more := {name for name, needed in requirements.items() if needed & depending} - depending:
        depending |= more
    for name in sorted((depending - {_OWN}) & folders.keys()):
        yield from _tops(site, folders[name])


def _tops(site: str, entry: str) -> Iterator[tuple[str, str]]:
    """The top-level modules that a distribution installs, editable ones included."""
    for line in _text(os.path.join(site, entry, "RECORD")).splitlines():
        path = line.partition(",")[0].strip('"')
        top, _, rest = path.partition("/")
        if not rest and top.endswith(".pth"):
            for root in map(os.path.abspath, _lines_of(site, top)):
                yield from ((name.partition(".")[0], root) for name in listed(root))
        elif not rest and "editable" in top and top.endswith(".py"):
            yield from _mapped(_text(os.path.join(site, top)))
        stem = top.removesuffix("-stubs") if rest else top.removesuffix(".pyi").removesuffix(".py")
        if stem.isidentifier():
            yield stem, site


def _mapped(finder: str) -> Iterator[tuple[str, str]]:
    """The top-level modules in the finder of an editable installation, as setuptools and `editables` write it."""
    match = re.search(r"(?m)^MAPPING\b[^=\n]*=\s*(\{.*\})", finder)
    mapping: object = {}
    if match is not None:
        try:
            mapping = ast.literal_eval(match[1])
        except (ValueError, SyntaxError):
            mapping = {}
    pairs = list(mapping.items()) if isinstance(mapping, dict) else []
    pairs += re.findall(r"map_module\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"]", finder)
    for module, path in pairs:
        if isinstance(module, str) and isinstance(path, str):
            folder = os.path.dirname(path) if os.path.basename(path).startswith("__init__.py") else path
            for _ in module.split("."):
                folder = os.path.dirname(folder)
            yield module.partition(".")[0], folder


def listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _text(path: str) -> str:
    return _decoded(_data(path))


def _data(path: str, size: int = -1) -> bytes:
    """The bytes of a file, or the first ones; empty if it cannot be read."""
    try:
        return read_regular(path, size)
    except OSError:
        return b""


def _head(path: str) -> bytes:
    """The fields of a file with metadata, without the description below, which is most of it."""
    data = _data(path, _USUAL_HEAD)
    for blank in (b"\n\n", b"\r\n\r\n"):
        end = data.find(blank)
        if end >= 0:
            return data[:end]
    return _data(path)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _normal(name: str) -> str:
    """The name of a distribution as metadata compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
