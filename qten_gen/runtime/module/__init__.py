"""Module: registration, initialisation, moves, dispatch and virtual properties of declared modules."""
