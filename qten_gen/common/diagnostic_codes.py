"""The codes of all diagnostics, for settings that name them.

Loading the rules takes longer than a run that changes nothing. `make generate` writes this file.
"""

ERRORS = frozenset(
    """
    QG001 QG002 QG003 QG004 QG005 QG007 QG008 QG101 QG102 QG104 QG105 QG108 QG109 QG111 QG201 QG202 QG203 QG204
    QG205 QG206 QG207 QG208 QG211 QG212 QG213 QG217 QG221 QG301 QG302 QG303 QG305 QG306 QG307 QG310 QG314 QG315
    QG320 QG326 QG341 QG343 QG344
    """.split()
)

WARNINGS = frozenset(
    """
    QG006 QG009 QG010 QG210 QG216 QG218 QG323 QG324 QG403 QG404 QG501 QG502 QG505
    """.split()
)
