"""The public methods of TensorClass, one subject a file, over the primitives of generated classes."""
