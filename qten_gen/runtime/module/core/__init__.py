"""What the rest of the room stands on: the base class of modules, handlers, and properties of registered names."""
