"""Declared modules in other people's trainers: what no checkpoint holds, ties and dtypes, in every life cycle."""
