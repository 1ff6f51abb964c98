"""TensorClasses in the tools of PyTorch: pytrees, `vmap`, `torch.func`, autograd, data loaders."""
