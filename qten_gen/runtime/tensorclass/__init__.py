"""TensorClass: the public methods, over the primitives of the generated classes."""
