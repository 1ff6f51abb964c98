"""TensorClasses beside other libraries: TensorDicts, arrays, dataclasses."""
