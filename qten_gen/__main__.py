"""`python -m qten_gen`: the same as the `qten-gen` command."""

import sys

from .cli.process import main

if __name__ == "__main__":
    sys.exit(main())
