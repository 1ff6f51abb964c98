"""Mistakes about contracts of a model: a folder each, with what plain torch says of it and what qten-gen says."""
