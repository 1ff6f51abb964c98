"""The parser of all commands at once, from which shtab makes the completion of shells. Nothing else imports it, or shtab."""

from __future__ import annotations

import argparse

import shtab

from . import COMMANDS
from .parser import Parser, add_arguments, add_command, path


def parser() -> argparse.ArgumentParser:
    """The parser of `qten-gen`, with what completes each argument.

    $ shtab --shell=bash qten_gen.cli.completion.parser
    """
    whole = Parser(prog="qten-gen", add_help=False)
    add_arguments(whole, "generate")
    # Without the paths, in whose place the commands stand.
    whole._remove_action(next(action for action in whole._actions if not action.option_strings))
    commands = whole.add_subparsers(parser_class=Parser)
    parsers = [whole, *(add_command(commands, command) for command in COMMANDS)]
    for action in (each for own in parsers for each in own._actions):
        if action.type is path:
            action.complete = shtab.FILE  # type: ignore[attr-defined] # what shtab reads
            action.help = action.help if action.option_strings else ""  # shtab leaves out what help leaves out
    return whole
