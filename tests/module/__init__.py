"""Modules: construction, state, tools, virtual tensors, dispatch."""
