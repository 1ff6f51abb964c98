"""The number of the output format, in a place that a run over an unchanged tree can read."""

FORMAT = 12
"""It changes when the generated text for an unchanged declaration does.

Every fingerprint, every header of a generated file and the key of the manifest contain it, so that a new number makes all
outputs stale.
"""
