"""Every tool of PyTorch that reaches into modules, on declared modules."""
