"""Declarations → views: finished lines, and the names that these lines import. Templates only have to set them out.

`file` gives the views of a generated module and of its stub. In them, `tensorclass` and `module` give those of the classes in
Python, `tensorclass_stub` and `module_stub` those in the stub. `layout` knows line lengths, `spelling` how types, values and
dimensions are written, `imports` where each name comes from. Nothing here reads or writes files.
"""
