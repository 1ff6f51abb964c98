"""Deferred initialisation: the operations of a constructor are recorded, and replayed for the tensors that are wanted."""
