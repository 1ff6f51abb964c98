"""Turns source files into declarations: resolves names across files, finds bases, and adds inherited fields.

The result does not depend on the order of the files. Import cycles, imports under TYPE_CHECKING and reexports are ordinary cases,
because no code is executed.
"""
