"""What every part of the package may import, the runtime and a run that changes nothing included.

Small functions and constants over strings. They know no other part of the package, and importing one of these files costs next to
nothing.
"""
