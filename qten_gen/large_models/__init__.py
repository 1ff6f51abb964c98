"""Starting models that are larger than memory: fake tensors, deferred initialisation, values for modules on meta."""
