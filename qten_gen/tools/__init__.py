"""Development tools. No program that uses qten-gen loads them."""
