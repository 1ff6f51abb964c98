"""`qten-gen inspect`: what a model holds and does, without its memory. This room imports the user's code; no other does."""
