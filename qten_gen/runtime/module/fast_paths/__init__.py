"""What nn.Module does when it is constructed, called, loaded and moved, in fewer steps where nothing is unusual."""
