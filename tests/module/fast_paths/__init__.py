"""The fast paths of registering, calling, loading and moving give what nn.Module gives, errors included."""
