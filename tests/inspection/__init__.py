"""`qten-gen inspect`."""
