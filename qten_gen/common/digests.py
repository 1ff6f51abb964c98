"""The digest by which the generator compares a text with that of an earlier run. It stands in no generated file."""

try:  # as the module `random` does: hashlib loads OpenSSL, which takes longer than reading a file
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(data: bytes) -> str:
    """32 hex digits.

    >>> digest(b"class Batch")[:8]
    'c7b8cb93'
    """
    return blake2b(data, digest_size=16).hexdigest()
