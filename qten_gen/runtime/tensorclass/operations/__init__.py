"""The operations of TensorClass, one table: its methods, the torch functions that take objects, their types and documentation.

`entries` says what an entry is, `table` puts the groups together. The other files are the groups: entries, and the few functions
that turn an entry into a method.
"""
