"""The short ways of constructing, loading, moving and calling do what nn.Module does."""
