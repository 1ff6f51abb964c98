"""`qten-gen adopt --verify`: builds a class as it was and as it is, and compares what both hold and compute.

It imports the user's code.
"""
