"""The command `qten-gen lock`. Models are built in `tools/lock`, which is imported when a lock is compared."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TextIO

from ..project.config import Config, config_of
from ..project.paths import display_path
from . import DONE, FOUND, MISUSE
from .options import Options, UsageError

_FOLDER = "locks"
"""Where the locks are, beside pyproject.toml."""


def lock(options: Options, out: TextIO, err: TextIO) -> int:
    """Write the locks, or with `--check` compare them, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: No model is named, or one twice.
    """
    config = config_of(".")
    targets = _targets(options.targets, config.locks)
    root = config.root
    if options.load is not None:
        return _load(options.load, targets, root, out)
    from ..tools.lock.updating import update

    roots = tuple(each for each in config.import_roots if os.path.isdir(each))
    status = DONE
    for target in targets:
        outcome = update(target, _path(root, target), roots, check=options.check, accept=options.accept)
        if not (outcome.is_current and options.quiet):
            out.writelines(f"{line}\n" for line in outcome.lines)
        out.flush()  # so that a log has both streams in order
        err.writelines(f"{line}\n" for line in outcome.errors)
        status = max(status, MISUSE if outcome.is_misuse else FOUND if outcome.errors else DONE)
    for problem in _unmatched(config, root, targets):
        err.write(f"error: {problem}\n")
        status = max(status, FOUND)
    return status


def _load(file: str, targets: Sequence[str], root: str, out: TextIO) -> int:
    """Hold a checkpoint against the lock of one model."""
    if len(targets) > 1:
        raise UsageError(f"name the model that {file} is loaded into: {' or '.join(map(_name, targets))}")
    from ..tools.lock.headers import HeaderError, header, held
    from ..tools.lock.lock import LockError, read

    path = _path(root, targets[0])
    try:
        locked = read(path)
        found = held(header(file), locked)
    except OSError as error:
        help = "; write it with qten-gen lock" if error.filename == path else ""
        raise UsageError(f"cannot read {error.filename}: {error.strerror}{help}") from None
    except (LockError, HeaderError) as error:
        raise UsageError(str(error) if isinstance(error, HeaderError) else f"{path}: {error}") from None
    says = "does not fit" if found.fails else "loads, and differs from" if found.differences else "fits"
    out.write(f"{file} {says} {path}\n")
    out.writelines(f"{line}\n" for line in found.lines())
    return FOUND if found.fails else DONE


def _unmatched(config: Config, root: str, targets: Sequence[str]) -> Iterator[str]:
    """Mistakes in the lists of names that the settings name, for the locks of these targets."""
    known = {_name(target) for target in config.locks}
    for place, target in config.names:
        if _name(target) not in known:
            raise UsageError(f"the settings give {place} the names of {target}, which is not among the locks")
        path = _path(root, target)
        if _name(target) not in map(_name, targets) or not os.path.exists(path):
            continue
        from ..tools.lock.lock import LockError, read
        from ..tools.lock.name_lists import ListError, unmatched

        try:
            yield from unmatched(place, root, read(path))
        except LockError:
            continue  # which has been reported
        except ListError as error:
            yield str(error)


def _path(root: str, target: str) -> str:
    """The file of a lock: `locks/shop.model.Decoder.lock`."""
    name = _name(target).removesuffix(".py").replace(".py:", ".").replace(":", ".").replace("/", ".").strip(".")
    return display_path(os.path.join(root, _FOLDER, f"{name}.lock"))


def _name(target: str) -> str:
    """A target without its arguments."""
    return target.partition("(")[0].strip()


def _targets(given: Sequence[str], locks: Sequence[str]) -> list[str]:
    """The targets of a command line with their arguments in the settings, or all targets that the settings list."""
    if not (given or locks):
        raise UsageError("name a model such as shop.model:Decoder, or list models as `locks` in [tool.qten-gen]")
    settings = {_name(target): target for target in locks}
    targets = [settings.get(target, target) for target in given] or list(locks)
    names = [_name(target) for target in targets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"{twice} is named twice, and has one lock; for another configuration, lock a function that makes it"
        )
    return targets
