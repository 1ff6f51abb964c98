"""Modules with a constructor of their own: labelled tensors, logical devices, virtual tensors of any module."""
