"""tensordict's own tests, run with classes of this project; `make peers CHECKOUT=...` runs them."""
