"""What generated code and declarations run on. It imports nothing of the generator."""
