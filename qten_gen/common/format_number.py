"""The number of the output format."""

FORMAT = 31
"""Raise it when the text generated for an unchanged declaration changes.

Every fingerprint, every header of a generated file and the key of the manifest contain it. So a new number makes all outputs
stale.
"""
