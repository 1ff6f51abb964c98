"""The commands with their options and help texts: one argparse tree, loaded when a command line has more than paths."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from .. import __version__
from ..common.suggestions import nearest
from . import COMMANDS
from .options import Color, Options, UsageError

_PATHS = """\
files or folders; by default, those that `src` lists in
                       [tool.qten-gen] of pyproject.toml, or the whole project
"""
_OUTPUT_FORMATS = ("full", "concise", "json", "github")
_EXPECTED = "expected one target, for example pkg.model:Net"


class Shown(Exception):
    """A command line that asks for a text, such as `--help`, which is the argument."""


def parse(arguments: Sequence[str]) -> Options:
    """The options of a command line, with a command or without one.

    Raises:
        UsageError: It has a mistake.
        Shown: It asks for the help or the version.
    """
    command, *rest = arguments if arguments[0] in COMMANDS else ["generate", *arguments]
    own, options = _parser(command), Options()
    _, unknown = own.parse_known_args(rest, options)
    if unknown and unknown[0].startswith("-"):
        own.error(f"unknown option {unknown[0]}{_near_option(unknown[0], re.findall('--[a-z-]+', own.format_help()))}")
    if unknown:
        own.error(f"unexpected argument {unknown[0]}")
    if options.watch and options.output_format == "json":
        own.error("--watch cannot be combined with --output-format json, which is a single document")
    return options


class Parser(argparse.ArgumentParser):
    """A parser that raises what it would print."""

    def error(self, message: str) -> NoReturn:
        problem = message.removeprefix("argument ").replace("(choose from ", "(one of ")
        problem = problem.replace("the following arguments are required: TARGET", _EXPECTED)
        usage = (self.usage or "").splitlines()[0]
        raise UsageError(problem, f"usage: {usage}; for more, {self.prog} --help\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help text of the same width everywhere."""

    def __init__(self, prog: str) -> None:
        # Without a width, argparse imports shutil to ask the terminal, and with it every compression module.
        super().__init__(prog, max_help_position=25, width=80)


class _Show(argparse.Action):
    """An option that asks for a text: the help, or the constant that it has."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise Shown(self.const or parser.format_help())


def _parser(name: str) -> Parser:
    """The parser of a command."""
    command, prog = _COMMANDS[name], "qten-gen" if name == "generate" else f"qten-gen {name}"
    own = Parser(
        prog=prog,
        usage=f"{prog} {command.usage}".rstrip(),
        description=f"{command.brief[0].upper()}{command.brief[1:]}.\n{command.more}",
        epilog=command.ends and f"{command.ends}, 2 wrong usage,\n101 a bug in qten-gen, 130 interrupted\n",
        formatter_class=_Formatter,
        add_help=False,
        allow_abbrev=False,
    )
    _add_arguments(own, name)
    return own


def _add_arguments(parser: Parser, name: str) -> None:
    """Add the arguments and options of a command to a parser. Of those in a group, a command line has one at most."""
    for each in (*_COMMANDS[name].arguments, _HELP):
        group = parser if isinstance(each, _Argument) else parser.add_mutually_exclusive_group()
        for argument in (each,) if isinstance(each, _Argument) else each:
            group.add_argument(*argument.names, **argument.given)


def path(text: str) -> str:
    """The type of arguments that are paths."""
    if not text:
        raise UsageError("an empty path was given")
    return text


def _color(text: str) -> Color:
    if text not in (known := [item.value for item in Color]):
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (one of {', '.join(map(repr, known))})")
    return Color(text)


class _Argument(NamedTuple):
    """The names of an argument or option, and what else argparse takes for it."""

    names: tuple[str, ...]
    given: dict[str, Any]


def _word(name: str, **given: Any) -> _Argument:
    """An argument without a name on the command line. The description of the command says what it is."""
    return _Argument((name,), {"help": argparse.SUPPRESS, **given})


def _flag(name: str, help: str, **given: Any) -> _Argument:
    """An option without a value. Some have a short name, too."""
    short = {"quiet": ("-q",), "verbose": ("-v",), "version": ("-V",), "help": ("-h",)}
    return _Argument((*short.get(name, ()), f"--{name}"), {"action": "store_true", "help": help, **given})


def _value(name: str, metavar: str, help: str, **given: Any) -> _Argument:
    """An option with a value."""
    return _Argument((f"--{name}",), {"metavar": metavar, "help": help, **given})


_PATH_WORDS = _word("paths", nargs="*", type=path)
_FORMAT = _value("output-format", "FORMAT", f"{', '.join(_OUTPUT_FORMATS)} (full)", choices=_OUTPUT_FORMATS)
_BASELINE = (
    _value("baseline", "FILE", "report no warnings that FILE lists", type=path),
    _value("write-baseline", "FILE", "write the warnings of today into FILE", type=path),
)
_COLOR = _value("color", "WHEN", "auto, always or never (auto)", type=_color, default="auto")
_HELP = _flag("help", "print this text and exit", action=_Show, nargs=0)


class _Command(NamedTuple):
    """A command: its arguments, some in groups, its usage, its help in a line, and more about it."""

    arguments: tuple[_Argument | tuple[_Argument, ...], ...]
    usage: str
    brief: str
    more: str = ""
    ends: str = ""
    """The exit statuses that the others do not have."""


_CLASS = """
  TARGET               pkg.model:Decoder, or src/pkg/model.py:Decoder"""
_COMMANDS = {
    "init": _Command(
        (),
        "",
        "set up a project: settings, hooks, tool configuration",
        """\
Append the section [tool.qten-gen], lines for git, and a pre-commit hook where
there are none, and print what is left to paste. Write types of torch's layers
into typings. A second call changes nothing.
""",
    ),
    "check": _Command(
        (_PATH_WORDS, _FORMAT, _BASELINE, _COLOR, _flag("quiet", "print the summary only")),
        "[options] [PATH ...]",
        "find mistakes in plain nn.Modules, without any change",
        f"""\
Tensors and modules that are not registered, constructors that do not call their
base's, attributes that nothing defines. The sources are read as text.

  PATH                 {_PATHS}""",
        "exit status: 0 nothing found, 1 something found",
    ),
    "explain": _Command(
        (_word("code", nargs="?"),),
        "[CODE]",
        "explain a diagnostic such as QG101, or list them all",
        """
  CODE                 a code such as QG101, or a name such as unresolved-base;
                       without it, list all diagnostics
""",
    ),
    "inspect": _Command(
        (
            _word("target", metavar="TARGET"),
            _value("config", "NAME=VALUE", "arguments of the constructor", nargs="+", action="extend", default=[]),
            _value("dtype", "DTYPE", "cast the model, as model.to(dtype) does"),
            _flag("unfold", "show equal layers one by one"),
            _flag("json", "print a JSON document"),
            _COLOR,
        ),
        "[options] TARGET",
        "show the parameters and memory of a model",
        f"""\
The model is built on fake tensors, so it can be larger than the memory of this
machine. Your code is imported.
{_CLASS}: a class,
                       a function that constructs a module, or a module
""",
        """\
examples:
  qten-gen inspect pkg.model:Decoder --config depth=48 dim=8192
  qten-gen inspect "transformers:LlamaForCausalLM(config=LlamaConfig())"

exit status: 0 success, 1 the model cannot be imported or built""",
    ),
    "lock": _Command(
        (
            _word("targets", nargs="*"),
            _flag("check", "write nothing; list what has changed, and exit with 1 if anything has"),
            _flag("accept", "write changes although no class has a higher version"),
            _value("load", "FILE", "hold a checkpoint of safetensors against the lock; nothing is imported"),
            _flag("quiet", "print nothing about locks that are up to date"),
        ),
        "[options] [TARGET ...]",
        "write down what checkpoints of a model hold, and compare",
        """\
A line for each tensor, in locks/shop.model.Decoder.lock. With a lock that is
there, say what has changed and what an old checkpoint does; a change that old
checkpoints notice is refused until the version of a class is raised. Your code
is imported.

  TARGET               shop.model:Decoder, "shop.model:Decoder(width=64)" or a
                       TensorClass; by default, those that `locks` lists in
                       [tool.qten-gen] of pyproject.toml
""",
        "exit status: 0 success, 1 a change without a higher version or, with --check, a\nlock that is out of date",
    ),
    "adopt": _Command(
        (
            _PATH_WORDS,
            _value(
                "level",
                "LEVEL",
                "base or annotate; see below (annotate)",
                choices=("base", "annotate"),
                default="annotate",
            ),
            (_flag("write", "change the sources"), _flag("diff", "print the changes as a unified diff")),
            _flag("dataclasses", "also adopt dataclasses with tensor fields"),
            _COLOR,
            (
                _flag("quiet", "print the summary only"),
                _flag("verbose", "also list the classes that are already adopted"),
            ),
        ),
        "[options] [PATH ...]",
        "convert existing classes to Modules and TensorClasses",
        f"""\
Without --write, nothing is changed: the report says how each class would change,
or why it cannot be converted. The sources are read as text.

  PATH                 {_PATHS}""",
        """\
levels: base changes the bases of classes; annotate also annotates in the class
body what __init__ registers

exit status: 0 success, 1 a file that cannot be parsed""",
    ),
    "stubs": _Command(
        (
            _word("modules", nargs="*"),
            _value("folder", "FOLDER", "the folder for the stubs (typings, beside pyproject.toml)", type=path),
            _flag("exact-none", "a bias that bias=False switches off is Parameter | None; otherwise Parameter | Any"),
            _flag("check", "write nothing; list the stubs that are out of date"),
            _flag("quiet", "print errors only"),
        ),
        "[options] [MODULE ...]",
        "write typed stubs for libraries such as torch.nn",
        """\
A call has the types of `forward` in them. The sources of the libraries are read
as text, and no library is changed.

  MODULE               torch.nn, timm, ...: packages with all modules in them;
                       by default, those that `stubs` lists in [tool.qten-gen]
                       of pyproject.toml
""",
        "exit status: 0 success, 1 stubs are out of date",
    ),
    "lsp": _Command(
        (_word("--stdio", action="store_true"),), "", "start the language server, as editors do: docs/typing.md"
    ),
}
_LISTED = "".join(f"  {name:20} {command.brief}\n" for name, command in _COMMANDS.items())
_COMMANDS["generate"] = _Command(
    (
        _PATH_WORDS,
        (
            _flag("check", "write nothing; list the files that are out of date"),
            _flag("diff", "write nothing; print the changes as a unified diff"),
            _flag("watch", "run again whenever a source or the settings change"),
        ),
        _FORMAT,
        _COLOR,
        (_flag("quiet", "print errors only"), _flag("verbose", "also list the files written and removed")),
        _flag("version", "print the version and exit", action=_Show, nargs=0, const=f"qten-gen {__version__}\n"),
    ),
    "[options] [path ...]\n       qten-gen COMMAND ...",
    "write typed Python for the TensorClass and Module declarations below the paths",
    f"""
  path                 {_PATHS}
commands; for the options of one, qten-gen COMMAND --help:
{_LISTED}
To generate for a folder with the name of a command, write ./explain.
""",
    "exit status: 0 success, 1 errors found or files out of date",
)
assert tuple(_COMMANDS) == (*COMMANDS, "generate")


def near_command(arguments: Sequence[str]) -> str:
    """The end of a message about a path that cannot be used, if a command may be meant: `lokc` is `lock`.

    >>> near_command(["lokc"]), near_command(["src"]), near_command(["lock", "a.py"])
    ('; did you mean the command lock?', '', '')
    """
    word = arguments[0] if arguments else ""
    if word in COMMANDS or os.path.lexists(word):
        return ""
    close = nearest(word, COMMANDS, 0.7)
    return f"; did you mean the command {close}?" if close else ""


def _near_option(wrong: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown option: the nearest one, if there is one. The dashes do not count."""
    names = {item.lstrip("-"): item for item in known}
    close = nearest(wrong.partition("=")[0].lstrip("-"), names)
    return f"; did you mean {names[close]}?" if close else ""
