"""TensorClasses on disk: memory maps, safetensors and state dicts."""
