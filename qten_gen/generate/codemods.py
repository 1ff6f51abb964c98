"""Rewrites a source with libcst, which keeps what does not change as it was written."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

_OPERANDS = 4000
"""How many operators a text may have that libcst's parser descends into: it overflows the stack, which ends the process."""


class CannotRewrite(Exception):
    """Why a source stays as it is."""


def rewritten(text: str, change: Callable[[cst.Module], cst.Module]) -> str:
    """The text with a change made to its tree.

    Raises:
        CannotRewrite: libcst cannot parse the text, or it would not write the rest of it back as it was.

    >>> rewritten("x = 1  # one\\r\\n", lambda module: module.with_changes(body=[*module.body, *module.body]))
    'x = 1  # one\\r\\nx = 1  # one\\r\\n'
    """
    if text.count(" and ") + text.count(" or ") > _OPERANDS:
        raise CannotRewrite("it is too large for libcst, which rewrites it")
    content = text.removesuffix("\r")  # which libcst would drop
    rest = text[len(content) :]
    try:
        module = cst.parse_module(content)
        if module.code != content:
            raise CannotRewrite(
                "libcst, which rewrites it, would change other lines too: one may begin with a form feed"
            )
        return change(module).code + rest
    except cst.ParserSyntaxError as error:
        raise CannotRewrite(f"libcst, which rewrites it, cannot parse line {error.raw_line}") from error
    except RecursionError as error:
        raise CannotRewrite("it is nested too deeply for libcst, which rewrites it") from error
