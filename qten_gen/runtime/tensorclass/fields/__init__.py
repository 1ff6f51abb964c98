"""One file for each kind of field: what generated code calls to check, convert, join and split its values."""
