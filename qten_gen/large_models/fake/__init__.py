"""Fake tensors: tensors that have a shape, a dtype and a device, and no data. README.md says what stands where."""
