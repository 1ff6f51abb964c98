"""The foundation of the rest of the room: the base class of modules, handlers, and properties of registered names."""
