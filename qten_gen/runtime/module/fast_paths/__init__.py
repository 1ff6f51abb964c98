"""Constructing, loading, moving and calling a module in fewer steps than nn.Module, where nothing is unusual."""
