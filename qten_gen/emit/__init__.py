"""Declarations → views: finished strings and booleans that the templates only have to set out.

`tensorclass` and `module` give the views of the generated Python, `tensorclass_stub` and `module_stub` those of the stubs;
`layout` knows line lengths, `spelling` how types, values and dimensions are written. Nothing here reads or writes files.
"""
