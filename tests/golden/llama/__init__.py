"""A decoder whose sizes come from a configuration object."""
