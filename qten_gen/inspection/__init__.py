"""`qten-gen inspect`: what a model holds and does, without its memory. The one room of the generator that imports the user's code."""
