"""A diffusion model that is trained, sampled and differentiated by torch.func."""
