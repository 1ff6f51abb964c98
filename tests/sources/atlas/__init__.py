"""A project whose classes, methods and functions name each other in every way, over three files."""
