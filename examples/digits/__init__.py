"""A small digit classifier: what it is made of (`model`), what it learns from (`data`), and how (`train`)."""
