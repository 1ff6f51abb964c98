"""Initialisation of modules on the meta device, in closed form: order-free, sharded and from partial checkpoints."""
