"""The level *declare*: a constructor that only registers → declared fields."""
