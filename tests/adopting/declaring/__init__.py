"""The level declare."""
