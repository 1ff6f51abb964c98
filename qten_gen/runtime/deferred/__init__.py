"""Deferred initialisation: the operations of a constructor are recorded on fake tensors, and replayed for those that are wanted."""
