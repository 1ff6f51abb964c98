"""A small class for each shape of constructor that the census counts."""
