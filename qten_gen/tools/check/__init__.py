"""Rules for classes as they stand: `qten-gen check` finds mistakes in plain modules, and asks for no change first."""
