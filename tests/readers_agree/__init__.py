"""Both readers on every way of writing a declaration: of text, as the command reads it, and of the class statement that runs."""
