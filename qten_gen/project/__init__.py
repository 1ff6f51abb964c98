"""A user's project on the disk: settings, source files and the modules that they are, what is fresh, and the one writer."""
