"""A small vision transformer as it was written (`before`), and as `qten-gen adopt --level declare` leaves it (`after`)."""
