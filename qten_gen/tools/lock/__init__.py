"""`qten-gen lock`: what a model's checkpoints hold, as a committed text file, and what an edit does to old ones."""
