"""`qten-gen adopt`: existing classes of torch and tensordict → classes of qten_gen. See the README of this room."""
