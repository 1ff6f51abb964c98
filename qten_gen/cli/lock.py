"""The command `qten-gen lock`. Models are built in `tools/lock`, which is imported for locks that may have changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TextIO

from ..project.config import Config, Settings
from ..project.paths import display_path
from . import DONE, FOUND, MISUSE
from .misuse import UsageError
from .options import LockOptions

_FOLDER = "locks"
"""Where the locks are, beside pyproject.toml."""

_OF_CONFIG = ".from_config"
"""The end of the entry for a file with the settings of a model: `shop.model:Decoder.from_config`."""


def lock(options: LockOptions, out: TextIO, err: TextIO) -> int:
    """Write the locks, or with `--check` compare them, and return the exit status.

    Raises:
        ConfigError: The settings of the project cannot be used.
        UsageError: No model is named, or one twice.
    """
    config = Settings().of(".")
    targets = _targets(options.targets, config.locks)
    root = config.root or "."
    if options.load is not None:
        return _load(options.load, targets, root, out)
    status = _keep(options, targets, config, out, err)
    problems = [*_misspelt(config, root, targets), *_misfits(config, root)]
    err.writelines(f"error: {problem}\n" for problem in problems)
    return max(status, FOUND if problems else DONE)


def _keep(options: LockOptions, targets: Sequence[str], config: Config, out: TextIO, err: TextIO) -> int:
    """Write or compare the locks."""
    from ..tools.lock.keeping import Keeper

    root = config.root or "."
    keeper = Keeper(root, _roots(config), check=options.check, accept=options.accept, fix=options.fix)
    status = DONE
    for target in targets:
        kept = keeper.keep(target, lock_path(root, target))
        if kept.files is None or not options.quiet:
            out.writelines(f"{line}\n" for line in kept.lines)
        out.flush()  # so that a log has both streams in order
        err.writelines(f"{line}\n" for line in kept.errors)
        status = max(status, MISUSE if kept.is_misuse else FOUND if kept.errors or kept.is_stale else DONE)
    return status


def _load(file: str, targets: Sequence[str], root: str, out: TextIO) -> int:
    """Hold a checkpoint against the lock of one model."""
    if len(targets) > 1:
        raise UsageError(f"name the model that {file} is loaded into: {' or '.join(map(_name, targets))}")
    from ..tools.lock.headers import HeaderError, header, held
    from ..tools.lock.lock_text import LockError, read

    path = lock_path(root, targets[0])
    try:
        with open(path, encoding="utf-8") as locked:
            lock = read(locked.read())
        stored = header(file)
    except OSError as error:
        help = "; write it with qten-gen lock" if error.filename == path else ""
        raise UsageError(f"cannot read {error.filename}: {error.strerror}{help}") from None
    except (LockError, HeaderError) as error:
        raise UsageError(str(error) if isinstance(error, HeaderError) else f"{path}: {error}") from None
    found = held(stored, lock)
    says = "does not fit" if found.fails else "loads, and differs from" if found.differences else "fits"
    out.write(f"{file} {says} {path}\n")
    out.writelines(f"{line}\n" for line in found.lines())
    return FOUND if found.fails else DONE


def _misspelt(config: Config, root: str, targets: Sequence[str]) -> Iterator[str]:
    """Mistakes in the lists of names that the settings name, for the locks of these targets."""
    paths = {_name(target): lock_path(root, target) for target in targets}
    known = {_name(target) for target in config.locks}
    for place, target in config.names:
        if target.endswith(_OF_CONFIG):
            continue
        if _name(target) not in known:
            raise UsageError(f"the settings give {place} the names of {target}, which is not among the locks")
        path = paths.get(_name(target))
        if path is None or not os.path.exists(path):
            continue
        from ..tools.lock.lists_and_settings import DocumentError, misspelt
        from ..tools.lock.lock_text import LockError, read

        try:
            with open(path, encoding="utf-8") as file:
                yield from misspelt(place, root, read(file.read()))
        except LockError:
            continue  # which has been reported
        except DocumentError as error:
            yield str(error)


def _misfits(config: Config, root: str) -> Iterator[str]:
    """Mistakes in the settings files that the settings of the project name."""
    for place, target in config.names:
        if not target.endswith(_OF_CONFIG):
            continue
        from ..tools.lock.lists_and_settings import DocumentError, misfits
        from .show import schema_of

        try:
            yield from misfits(place, root, schema_of(target.removesuffix(_OF_CONFIG)))
        except DocumentError as error:
            yield str(error)


def lock_path(root: str, target: str) -> str:
    """The file of a lock: `locks/shop.model.Decoder.lock`."""
    name = _name(target).removesuffix(".py").replace(".py:", ".").replace(":", ".").replace("/", ".").strip(".")
    return display_path(os.path.join(root, _FOLDER, f"{name}.lock"))


def _name(target: str) -> str:
    """A target without its arguments."""
    return target.partition("(")[0].strip()


def _targets(given: Sequence[str], locks: Sequence[str]) -> list[str]:
    """The targets of a command line, with the arguments that the settings give them; without any, those of the settings."""
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


def _roots(config: Config) -> tuple[str, ...]:
    return tuple(root for root in config.import_roots if os.path.isdir(root))
