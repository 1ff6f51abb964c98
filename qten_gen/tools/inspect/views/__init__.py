"""The views of an inspection: text for terminals, JSON."""
