"""Construction, calls, loading and moves of nn.Module, in fewer steps where nothing is unusual."""
