"""Syntax trees that are kept for a run that reads the same text more than once."""

from __future__ import annotations

from qten_gen.read.syntax import keeping_trees, tree_of


def test_a_text_is_parsed_once_within_the_block() -> None:
    with keeping_trees():
        assert tree_of("x = 1\n") is tree_of("x = 1\n")


def test_nothing_is_kept_outside_of_the_block() -> None:
    with keeping_trees():
        kept = tree_of("x = 1\n")
    assert tree_of("x = 1\n") is not kept
    assert tree_of("x = 1\n") is not tree_of("x = 1\n")
