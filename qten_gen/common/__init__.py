"""Small functions and constants that every part of the package can import, including the runtime.

These files import no other part of the package and are fast to import. A run over an unchanged tree needs only `header` and
`naming`.
"""
