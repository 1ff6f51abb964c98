"""Hooks for build backends: they check the generated files of a project before it is built, or write them."""
