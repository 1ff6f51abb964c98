"""Declarations → views: finished lines, and the names that these lines import. Templates only have to set them out.

`file` gives the views of generated modules and of their stubs, with `tensorclass` and `module` for their classes.
`layout` knows line lengths, `spelling` how types, values and dimensions are written, `names` where each name comes from. Nothing
here reads or writes files.
"""
