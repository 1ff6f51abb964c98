"""Random declaration files, and the laws that each of them has to keep.

`grammar` writes the files of a project, `tensorclasses` and `modules` the classes in them, `vocabulary` has names and texts that
are hard to write out. `laws` says what has to hold of each project, `checkers` what mypy and pyright have to accept. A long run:
`make fuzz SECONDS=600`, or one project: `python -m tests.fuzz --seed 1234`.
"""
