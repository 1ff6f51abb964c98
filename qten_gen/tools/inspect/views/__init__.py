"""What is shown of an inspection: text for terminals, and JSON."""
