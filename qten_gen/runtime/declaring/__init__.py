"""From a class statement to a class: what the body declares, the generated class for it, and both joined."""
