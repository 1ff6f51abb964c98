"""The foundation of generated code and declarations. It imports nothing of the generator."""
