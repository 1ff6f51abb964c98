"""Typed stubs for the modules of installed libraries. See README.md."""
