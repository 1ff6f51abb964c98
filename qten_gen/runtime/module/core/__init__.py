"""What the rest of the room stands on: the ground class of modules, handlers, and properties of registered names."""
